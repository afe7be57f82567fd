"""Identifiers (UUIDv7: they sort by time and count nothing) and secrets."""

import re
import secrets
import time
import uuid

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")


def new() -> str:
    milliseconds = time.time_ns() // 1_000_000
    bits = (milliseconds << 80) | (0x7 << 76) | (secrets.randbits(12) << 64) | (0b10 << 62) | secrets.randbits(62)
    return str(uuid.UUID(int=bits))


def is_id(text: str) -> bool:
    return _UUID.match(text) is not None


def secret() -> str:
    """192 bits, safe in a URL, 32 characters."""
    return secrets.token_urlsafe(24)
