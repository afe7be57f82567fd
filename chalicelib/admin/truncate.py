"""How much of a long text stands on a page. A page has 60 KB, so in a list of a hundred each text has its share,
counted as the browser gets it: an ampersand is five bytes, and most of the world's letters are three or four."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TypeVar

Item = TypeVar("Item")

_MORE = "…"
_LABEL = 20
_MOST_LABELS = 3


def html_size(text: str) -> int:
    return len(escape(text).encode())


def truncate(text: str, room: int) -> str:
    """Its beginning, if it has to be."""
    return text if html_size(text) <= room else _begin(text, room) + _MORE


def truncate_middle(text: str, room: int) -> str:
    """Its beginning and its end: both sides of an address tell whose it is."""
    if html_size(text) <= room:
        return text
    return _begin(text, room // 2) + _MORE + _begin(text[::-1], room // 2)[::-1]


def take_fitting(texts: Iterable[str], room: int) -> tuple[list[str], int]:
    """As many of them as there is room for, whole, and how many are left."""
    every = list(texts)
    shown = take_within(every, [html_size(text) for text in every], room)
    return shown, len(every) - len(shown)


def take_within(items: Sequence[Item], weights: Sequence[int], room: int) -> list[Item]:
    found = []
    for item, size in zip(items, weights, strict=True):
        room -= size
        if room < 0:
            break
        found.append(item)
    return found


def labels(sources: Iterable[str], tags: Iterable[str]) -> tuple[list[tuple[str, str]], int]:
    """A few of somebody's sources and tags, with the element that marks each, and how many are left."""
    every = [("i", source) for source in sorted(sources)] + [("b", tag) for tag in sorted(tags)]
    shown = [(mark, truncate(word, _LABEL)) for mark, word in every[:_MOST_LABELS]]
    return shown, len(every) - len(shown)


def _begin(text: str, room: int) -> str:
    for place, letter in enumerate(text):
        room -= html_size(letter)
        if room < 0:
            return text[:place]
    return text
