"""Reads what a provider answered. Whatever is missing or of the wrong type is empty, and every text has an end."""

import re
from datetime import UTC, datetime
from typing import Any

from chalicelib.feeds.reading import characters, excerpt

_LONGEST_SOURCE = 20_000
_LONGEST_WORD = 4_000
_LONGEST_LIST = 200
_LARGEST_NUMBER = 2**53
_EARLIEST = datetime(1970, 1, 2, tzinfo=UTC)
_WORD = re.compile(r"[\x21-\x7e]+\Z")


class Fields:
    """One object of an answer, perhaps an empty one."""

    def __init__(self, value: Any) -> None:
        self._found: dict[str, Any] = value if isinstance(value, dict) else {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def inside(self, *names: str) -> "Fields":
        """The object at the end of this path."""
        found = self
        for name in names:
            found = Fields(found._found.get(name))
        return found

    def each(self, name: str) -> list["Fields"]:
        """The objects of a list, without what is none: providers do send `null` there."""
        value = self._found.get(name)
        return (
            [Fields(one) for one in value[:_LONGEST_LIST] if isinstance(one, dict)] if isinstance(value, list) else []
        )

    def text(self, name: str, longest: int) -> str:
        """One line of plain text, cut at a word."""
        value = self._found.get(name)
        if not isinstance(value, str):
            return ""
        line = excerpt.one_line(characters.without_forbidden(value[:_LONGEST_SOURCE]))
        return excerpt.truncate(line, longest)

    def word(self, name: str) -> str:
        """An id, a token or a name of the API's own, which must not be cut: visible ASCII, or nothing."""
        value = self._found.get(name)
        return value if isinstance(value, str) and len(value) <= _LONGEST_WORD and _WORD.match(value) else ""

    def number(self, name: str) -> int | None:
        """Not negative. Google sends large numbers as text."""
        value = self._found.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 17:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        return value if 0 <= value <= _LARGEST_NUMBER else None

    def is_true(self, name: str) -> bool:
        return self._found.get(name) is True

    def url(self, name: str) -> str:
        value = self._found.get(name)
        return excerpt.web_url(characters.without_forbidden(value)) if isinstance(value, str) else ""

    def moment(self, name: str) -> datetime | None:
        value = self._found.get(name)
        try:
            found = datetime.fromisoformat(value) if isinstance(value, str) else None
            aware = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC) if found else None
        except (ValueError, OverflowError):
            return None
        return aware if aware and aware >= _EARLIEST else None
