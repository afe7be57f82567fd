"""Keeps pages below 60 KB: in a list of a hundred, each text gets a share of that."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from chalicelib.web.text_size import beginning, html_size

Item = TypeVar("Item")

_MORE = "…"
_WORD_SIZE = 20


def truncate(text: str, most: int) -> str:
    """The text, or as much of its beginning as `most` bytes allow."""
    return text if html_size(text) <= most else beginning(text, most) + _MORE


def truncate_middle(text: str, most: int) -> str:
    """The text, or its beginning and end: both sides of an email address or URL matter."""
    if html_size(text) <= most:
        return text
    return beginning(text, most // 2) + _MORE + beginning(text[::-1], most // 2)[::-1]


def take_fitting(texts: Iterable[str], most: int) -> tuple[list[str], int]:
    """The first texts that fit into `most` bytes, untruncated, and how many were left out."""
    every = list(texts)
    fitting = take_within(every, [html_size(text) for text in every], most)
    return fitting, len(every) - len(fitting)


def take_within(items: Sequence[Item], sizes: Sequence[int], most: int) -> list[Item]:
    """The first items whose sizes add up to `most` bytes or less."""
    taken = []
    for item, size in zip(items, sizes, strict=True):
        most -= size
        if most < 0:
            break
        taken.append(item)
    return taken


def sources_and_tags(sources: Iterable[str], tags: Iterable[str], most: int) -> tuple[list[tuple[str, str]], int]:
    """The first few of a subscriber's sources and tags, each with its HTML element, and how many were left out."""
    every = [("i", source) for source in sorted(sources)] + [("b", tag) for tag in sorted(tags)]
    first = [(element, truncate(word, _WORD_SIZE)) for element, word in every[:most]]
    return first, len(every) - len(first)
