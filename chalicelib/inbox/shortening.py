"""Texts in lists, as long as a page below 60 KB has room for."""

from html import escape


def shorten(text: str, most: int) -> str:
    """One line of at most `most` bytes, as the browser gets them: an escaped ampersand is five."""
    line = " ".join(text.split())
    if html_size(line) <= most:
        return line
    return f"{_beginning(line, most).rstrip()}…"


def html_size(text: str) -> int:
    return len(escape(text).encode())


def _beginning(line: str, most: int) -> str:
    for position, character in enumerate(line):
        most -= html_size(character)
        if most < 0:
            return line[:position]
    return line
