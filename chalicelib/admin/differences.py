"""What has changed between two texts, line by line and word by word, as much of it as a page has room for.

Comparing is quadratic, so what is equal at both ends is set aside first, and only so many of the lines between, and
of their words, are compared; the rest is counted."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from chalicelib.web.text_size import beginning, html_size

SAME, REMOVED, ADDED, GAP = "same", "removed", "added", "gap"

_MOST_COMPARED = 300
_MOST_WORDS = 250
_MOST_BY_WORDS = 25
_MOST_LINES = 80
_MOST_BYTES = 12_000
_LONGEST_LINE = 800
_LONGEST_SAME = 120
_CONTEXT = 2
_WORDS = re.compile(r"\s*\S+|\s+\Z")

# A part of a line: what became of it, and its text.
Part = tuple[str, str]
Opcode = tuple[str, int, int, int, int]


class Line(Struct, frozen=True):
    """`kind` is what became of the line as a whole: one of which only words have changed is `SAME`. A `GAP` stands
    for lines that are equal."""

    kind: str
    parts: tuple[Part, ...] = ()

    @property
    def size(self) -> int:
        return 60 + sum(20 + html_size(text) for _, text in self.parts)


class Difference(Struct, frozen=True):
    """`left_out` counts changed lines that are not shown."""

    lines: tuple[Line, ...]
    left_out: int = 0


def compare(before: str, after: str) -> Difference:
    old, new = before.splitlines(), after.splitlines()
    start = _count_equal(old, new)
    end = _count_equal(old[start:][::-1], new[start:][::-1])
    middle = old[start : len(old) - end], new[start : len(new) - end]
    if not any(middle):
        return Difference(())
    compared = middle[0][:_MOST_COMPARED], middle[1][:_MOST_COMPARED]
    uncompared = sum(len(lines) - len(part) for lines, part in zip(middle, compared, strict=True))
    around = old[max(0, start - _CONTEXT) : start], old[len(old) - end :][:_CONTEXT] if not uncompared else []
    lines = [
        *([Line(GAP)] if start > _CONTEXT else []),
        *map(_same, around[0]),
        *_lines(*compared),
        *map(_same, around[1]),
    ]
    return _fit(lines, uncompared)


def _count_equal(old: Sequence[str], new: Sequence[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    codes, by_words = SequenceMatcher(None, old, new).get_opcodes(), iter(range(_MOST_BY_WORDS))
    for at, (tag, a, b, c, d) in enumerate(codes):
        if tag == "equal":
            yield from _context(old[a:b], first=at == 0, last=at == len(codes) - 1)
            continue
        pairs = min(b - a, d - c)
        for one, other in zip(old[a : a + pairs], new[c : c + pairs], strict=True):
            yield from _words(one, other) if next(by_words, None) is not None else _both(one, other)
        yield from (Line(REMOVED, _whole(REMOVED, line)) for line in old[a + pairs : b])
        yield from (Line(ADDED, _whole(ADDED, line)) for line in new[c + pairs : d])


def _context(lines: Sequence[str], first: bool, last: bool) -> Iterator[Line]:
    """A few of the equal lines on either side of what has changed."""
    after, before = (0 if first else _CONTEXT), (0 if last else _CONTEXT)
    if len(lines) <= after + before + 1:
        yield from map(_same, lines)
        return
    yield from map(_same, lines[:after])
    yield Line(GAP)
    yield from map(_same, lines[len(lines) - before :])


def _words(old: str, new: str) -> Iterator[Line]:
    """One line if at least half of the shorter one is in both, otherwise both of them."""
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    if max(len(a), len(b)) <= _MOST_WORDS:
        matcher = SequenceMatcher(None, a, b, autojunk=False)
        found = sum(block.size for block in matcher.get_matching_blocks())
        if found and 2 * found >= min(len(a), len(b)):
            yield Line(SAME, tuple(_parts(a, b, matcher.get_opcodes())))
            return
    yield from _both(old, new)


def _both(old: str, new: str) -> Iterator[Line]:
    yield Line(REMOVED, _whole(REMOVED, old))
    yield Line(ADDED, _whole(ADDED, new))


def _parts(old: Sequence[str], new: Sequence[str], codes: Sequence[Opcode]) -> Iterator[Part]:
    for tag, a, b, c, d in codes:
        if tag == "equal":
            yield SAME, _shorten("".join(old[a:b]))
            continue
        if b > a:
            yield REMOVED, beginning("".join(old[a:b]), _LONGEST_LINE)
        if d > c:
            yield ADDED, beginning("".join(new[c:d]), _LONGEST_LINE)


def _same(line: str) -> Line:
    return Line(SAME, ((SAME, _shorten(line)),))


def _whole(kind: str, line: str) -> tuple[Part, ...]:
    shown = beginning(line, _LONGEST_LINE)
    return ((kind, shown if shown == line else f"{shown}…"),)


def _shorten(text: str) -> str:
    """Both ends of what has not changed."""
    if len(text) <= 2 * _LONGEST_SAME:
        return text
    return f"{text[:_LONGEST_SAME]} … {text[-_LONGEST_SAME:]}"


def _fit(lines: Sequence[Line], uncompared: int) -> Difference:
    shown: list[Line] = []
    left = _MOST_BYTES
    for line in lines[:_MOST_LINES]:
        left -= line.size
        if left < 0:
            break
        shown.append(line)
    hidden = [line for line in lines[len(shown) :] if any(kind != SAME for kind, _ in line.parts)]
    return Difference(tuple(shown), len(hidden) + uncompared)
