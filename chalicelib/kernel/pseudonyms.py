"""Keyed hashes: the same text always gives the same mark, and without SECRET_KEY nobody can try texts out."""

import hashlib
import hmac

from chalicelib.kernel import settings


def derive(purpose: str, text: str) -> str:
    """64 hex digits. Marks of different purposes cannot be compared with each other."""
    key = hmac.digest(settings.secret("SECRET_KEY"), purpose.encode(), hashlib.sha256)
    return hmac.digest(key, text.encode(), hashlib.sha256).hex()
