"""What can be listened to in an entry, and for how long."""

import re
from collections.abc import Iterable

_LONGEST = 7 * 86_400
_DURATION = re.compile(r"(?:(\d{1,3}):)?(?:(\d{1,5}):)?(\d{1,7})(?:[.,]\d*)?\Z", re.ASCII)
_ENDINGS = (".mp3", ".m4a", ".m4b", ".ogg", ".oga", ".opus", ".aac", ".flac", ".wav")

Enclosure = tuple[str, str]


def choose_audio(enclosures: Iterable[Enclosure]) -> str:
    """The address of the first that is audio by its type, or by its name where it has none."""
    for address, kind in enclosures:
        if kind.lower().startswith("audio/") or (not kind and _path(address).endswith(_ENDINGS)):
            return address
    return ""


def parse_duration(text: str) -> int | None:
    """Seconds of `1:02:03`, `62:03` or `3723`, as `itunes:duration` has them; nothing for what cannot be true."""
    found = _DURATION.match(text.strip()[:20])
    if not found:
        return None
    hours, minutes, seconds = found.groups()
    if hours and not minutes:  # of two numbers, the first are minutes
        hours, minutes = None, hours
    total = int(hours or 0) * 3_600 + int(minutes or 0) * 60 + int(seconds)
    return total if 0 < total <= _LONGEST else None


def _path(address: str) -> str:
    return address.partition("?")[0].partition("#")[0].lower()
