"""Signatures of those who may ask for a check: Standard Webhooks for calls, WebSub for pushes. No I/O."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta

from chalicelib.kernel.errors import Unauthenticated

TOLERANCE = timedelta(minutes=5)
_LONGEST_ID = 256
_METHODS = {"sha1", "sha256", "sha384", "sha512"}


def sign(secret: bytes, id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers a caller sends: https://www.standardwebhooks.com"""
    signature = base64.b64encode(_digest(secret, id, str(timestamp), body)).decode()
    return {"webhook-id": id, "webhook-timestamp": str(timestamp), "webhook-signature": f"v1,{signature}"}


def verify(secret: bytes, headers: Mapping[str, str], body: bytes, now: datetime) -> str:
    """The call's id, or `Unauthenticated`. `headers` are in lower case. One of several signatures is enough."""
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (0 < len(id) <= _LONGEST_ID and timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise Unauthenticated("The webhook headers are missing or not valid")
    expected = base64.b64encode(_digest(secret, id, timestamp, body))
    given = [part[3:] for part in headers.get("webhook-signature", "").split(" ")[:10] if part.startswith("v1,")]
    if not any(hmac.compare_digest(expected, signature.encode("utf-8", "replace")) for signature in given):
        raise Unauthenticated("The signature is not valid")
    if abs(now.timestamp() - int(timestamp)) > TOLERANCE.total_seconds():
        raise Unauthenticated("The timestamp is more than five minutes off")
    return id


def is_valid_push(secret: str, header: str, body: bytes) -> bool:
    """Whether `X-Hub-Signature: sha256=…` fits the body, by the method it names."""
    method, _, signature = header.strip().partition("=")
    if method.lower() not in _METHODS:
        return False
    expected = hmac.new(secret.encode(), body, method.lower()).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.strip().lower().encode("utf-8", "replace"))


def _digest(secret: bytes, id: str, timestamp: str, body: bytes) -> bytes:
    return hmac.digest(_key(secret), f"{id}.{timestamp}.".encode("utf-8", "replace") + body, hashlib.sha256)


def _key(secret: bytes) -> bytes:
    """The standard writes a key as `whsec_` and Base64; any other secret is the key itself."""
    if secret.startswith(b"whsec_"):
        try:
            return base64.b64decode(secret[6:], validate=True)
        except binascii.Error:
            return secret
    return secret
