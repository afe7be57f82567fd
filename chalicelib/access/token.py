"""Reads a compact JWS into its parts, strictly: one spelling for one token. Believes nothing that it reads."""

import base64
import binascii
import json
import re
from typing import Any

from msgspec import Struct

from chalicelib.kernel.errors import Refused

# API Gateway stops at 10 KB of headers, other fronts may not.
_LONGEST = 16_384
_FORM = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


class Token(Struct, frozen=True):
    header: dict[str, Any]
    claims: dict[str, Any]
    signed: bytes
    signature: bytes


def invalid() -> Refused:
    """One reason for every flaw: which of them it was helps nobody but a forger."""
    return Refused("Invalid token")


def read(text: str) -> Token:
    # Joined headers ("a, b"), a "Bearer " in front and letters of other scripts all fail the form.
    if len(text) > _LONGEST or not _FORM.fullmatch(text):
        raise invalid()
    header, claims, signature = text.split(".")
    try:
        return Token(
            _object(decode(header)), _object(decode(claims)), f"{header}.{claims}".encode(), decode(signature)
        )
    except (ValueError, RecursionError):
        raise invalid() from None


def decode(part: str) -> bytes:
    """Base64url without padding, canonical only: else the last letter of a signature could be changed unnoticed."""
    try:
        value = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except binascii.Error:
        raise ValueError("not base64url") from None
    if base64.urlsafe_b64encode(value).rstrip(b"=") != part.encode():
        raise ValueError("not canonical base64url")
    return value


def _object(text: bytes) -> dict[str, Any]:
    value = json.loads(text.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A name given twice means one thing to one reader and another to the next."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name appears twice")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
