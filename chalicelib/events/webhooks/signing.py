"""Signatures by the Standard Webhooks specification.

A secret is derived from SECRET_KEY and the name of its key, so none is stored. It is shown when it is made, and never
again.
"""

import base64
import hashlib
import hmac
from datetime import datetime

from chalicelib.events.webhooks.model import Webhook
from chalicelib.kernel import clock, pseudonyms

_PREFIX = "whsec_"


def derive_secret(webhook_id: str, key: str) -> str:
    derived = bytes.fromhex(pseudonyms.derive("webhook secret", f"{webhook_id} {key}"))
    return _PREFIX + base64.b64encode(derived).decode()


def sign(secret: str, id: str, timestamp: int, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    signed = hmac.digest(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    return "v1," + base64.b64encode(signed).decode()


def headers(webhook: Webhook, id: str, body: bytes, moment: datetime) -> dict[str, str]:
    """While a rotation overlaps, old secrets sign too, so that receivers can change theirs in their own time."""
    timestamp = clock.epoch(moment)
    secrets = [derive_secret(webhook.id, key) for key in webhook.keys(moment)]
    return {
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(sign(secret, id, timestamp, body) for secret in secrets),
    }
