"""Keyed hashes: the same text always has the same pseudonym, and nobody can guess texts without SECRET_KEY."""

import hashlib
import hmac

from chalicelib.kernel import settings


def derive(purpose: str, text: str) -> str:
    """64 hex digits. Pseudonyms of different purposes cannot be compared with each other."""
    key = hmac.digest(settings.secret("SECRET_KEY"), purpose.encode(), hashlib.sha256)
    return hmac.digest(key, text.encode(), hashlib.sha256).hex()
