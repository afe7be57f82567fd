"""Marks texts in the code that readers see."""


def for_readers(text: str) -> str:
    """An English text that a page shows in the reader's language; programs get it as it is. `make translations` finds
    it by this function."""
    return text
