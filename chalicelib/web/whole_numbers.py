"""Whole numbers as forms and addresses send them."""

_MOST_DIGITS = 9


def parse(text: str | None) -> int | None:
    """None if it is anything else. Digits of other scripts are no digits here."""
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if text and is_number else None
