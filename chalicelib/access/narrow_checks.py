"""What a token must look like before PyJWT reads it: one spelling for each token, and nothing left to interpretation.

PyJWT serves many projects and so accepts more than Cloudflare Access ever sends. Nothing here is believed: who signed
the token, and what it claims, is for `verify` to find out.
"""

import base64
import binascii
import json
import re
from typing import Any

from chalicelib.kernel.errors import Refused

# API Gateway stops at 10 KB of headers, other fronts may not.
_MAX_LENGTH = 16_384
_FORM = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


def invalid() -> Refused:
    """The same reason for every flaw: knowing which one it was helps only a forger."""
    return Refused("Invalid token")


def key_id(token: str) -> str:
    """The `kid` in the header of a token that passes every check."""
    # Joined headers ("a, b"), a leading "Bearer " and letters of other scripts all fail the form.
    if len(token) > _MAX_LENGTH or not _FORM.fullmatch(token):
        raise invalid()
    try:
        header, claims, _signature = (canonical_base64url(part) for part in token.split("."))
        _json_object(claims)
        return _check_header(_json_object(header))
    except (ValueError, RecursionError):
        raise invalid() from None


def canonical_base64url(text: str) -> bytes:
    """Base64url without padding. A second spelling of the same bytes would let a signature be changed unnoticed."""
    try:
        value = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise ValueError("not base64url") from None
    if base64.urlsafe_b64encode(value).rstrip(b"=") != text.encode():
        raise ValueError("not canonical base64url")
    return value


def _check_header(header: dict[str, Any]) -> str:
    # We choose the algorithm: the token may only agree. `crit` demands extensions, and we know none.
    if header.get("alg") != "RS256" or header.get("typ", "JWT") != "JWT" or "crit" in header:
        raise ValueError("not a header of Access")
    kid = header.get("kid")
    if not isinstance(kid, str):
        raise ValueError("no kid")
    return kid


def _json_object(text: bytes) -> dict[str, Any]:
    # Decoded here because `json.loads` would also take UTF-16 and UTF-32.
    value = json.loads(text.decode(), object_pairs_hook=_unique_names, parse_constant=_no_constant)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A name given twice means one thing to one reader and another to the next."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name appears twice")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
