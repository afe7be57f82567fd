"""Texts in lists, as long as a page below 60 KB has room for."""

from html import escape


def shorten(text: str, most: int) -> str:
    """One line of at most `most` bytes, as the browser gets them: an escaped ampersand is five."""
    line = " ".join(text.split())
    if html_size(line) <= most:
        return line
    return f"{beginning(line, most).rstrip()}…"


def html_size(text: str) -> int:
    return len(escape(text).encode())


def beginning(text: str, most: int) -> str:
    """As much of it as fits into `most` bytes, as it is."""
    for position, character in enumerate(text):
        most -= html_size(character)
        if most < 0:
            return text[:position]
    return text
