"""Marks show where something will be put into a text while it is being rendered.

Nobody can write one, as an entity or percent-encoded either: a random number, new for each rendering, is part of it.
What is rendered holds no mark any more, so the same campaign always renders to the same bytes.
"""

import re
import secrets
from collections.abc import Callable

# Unicode noncharacters: no word boundary to Markdown, no tag or entity to HTML. Markdown percent-encodes addresses.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_OPENS, _CLOSES = f"(?:{_OPEN}|%EF%B7%90)", f"(?:{_CLOSE}|%EF%B7%91)"
# What nobody can see or type; entities bring it in.
_INVISIBLE = "[\ufdd0-\ufdef\ufffe\uffff\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]"


def without_invisible(text: str) -> str:
    return re.sub(_INVISIBLE, "", text)


class Marks:
    def __init__(self) -> None:
        self._number = secrets.token_hex(8)
        self._pattern = re.compile(f"{_OPENS}{self._number}([a-z0-9]+){_CLOSES}")
        self._stray = re.compile(f"({self._pattern.pattern})|{_INVISIBLE}")

    def mark(self, name: str) -> str:
        return f"{_OPEN}{self._number}{name}{_CLOSE}"

    def split(self, text: str) -> list[str]:
        """Text and names of marks in turn: text, name, text, …, text."""
        return self._pattern.split(text)

    def replace(self, text: str, value: Callable[[str], str]) -> str:
        return self._pattern.sub(lambda match: value(match[1]), text)

    def clear(self, text: str) -> str:
        """Without noncharacters and control characters that are not part of a mark."""
        return self._stray.sub(lambda match: match[1] or "", text)
