"""The "never email me" link of confirmation mails. It works for ever, and for people nothing is stored about, because
it consists of the address and a proof that we made it."""

import binascii
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode

from chalicelib.kernel import pseudonyms

# An address has at most 254 bytes.
_LONGEST = 400
_PROOF_DIGITS = 32


def make_token(address_key: str) -> str:
    encoded = urlsafe_b64encode(address_key.encode()).decode().rstrip("=")
    return f"{encoded}.{_proof(address_key)}"


def parse_token(text: str) -> str | None:
    """The key of the address; None for anything we did not make."""
    encoded, _, proof = text.partition(".")
    if not text.isascii() or len(text) > _LONGEST:
        return None
    try:
        address_key = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return address_key if hmac.compare_digest(proof, _proof(address_key)) else None


def _proof(address_key: str) -> str:
    return pseudonyms.derive("opt-out", address_key)[:_PROOF_DIGITS]
