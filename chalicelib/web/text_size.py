"""How much of a text fits into a page below 60 KB, counted as the browser receives it: an escaped ampersand is five
bytes, and most of the world's characters take two to four."""

from html import escape


def html_size(text: str) -> int:
    return len(escape(text).encode())


def beginning(text: str, most: int) -> str:
    """As much of it as fits into `most` bytes, as it is."""
    for position, character in enumerate(text):
        most -= html_size(character)
        if most < 0:
            return text[:position]
    return text


def shorten(text: str, most: int) -> str:
    """One line of at most `most` bytes."""
    line = " ".join(text.split())
    if html_size(line) <= most:
        return line
    return f"{beginning(line, most).rstrip()}…"
