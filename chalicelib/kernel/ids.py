"""Ids (UUIDv7: they sort by time and reveal no counts) and secrets."""

import re
import secrets
import time
import uuid
from datetime import UTC, datetime

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")


def new() -> str:
    milliseconds = time.time_ns() // 1_000_000
    bits = (milliseconds << 80) | (0x7 << 76) | (secrets.randbits(12) << 64) | (0b10 << 62) | secrets.randbits(62)
    return str(uuid.UUID(int=bits))


def is_id(text: str) -> bool:
    return _UUID.match(text) is not None


def moment(id: str) -> datetime:
    """When it was made, to the millisecond."""
    return datetime.fromtimestamp(int(id[:8] + id[9:13], 16) / 1000, UTC)


def since(moment: datetime) -> str:
    """Sorts before every id made in this millisecond or later, and after every earlier one."""
    digits = f"{int(moment.timestamp() * 1000):012x}"
    return f"{digits[:8]}-{digits[8:]}"


def secret() -> str:
    """192 bits, safe in a URL, 32 characters."""
    return secrets.token_urlsafe(24)
