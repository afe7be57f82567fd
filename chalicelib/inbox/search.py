"""Finding entries by words: in title, creator and note, in any case. No input or output."""

import unicodedata

from chalicelib.kernel.errors import Invalid

LONGEST_SEARCH = 200
MOST_WORDS = 10
# Every recipient has them in a row that should stay below a kilobyte, with all that is written twice for an index.
_TITLE_BYTES, _CREATOR_BYTES = 480, 120


def fold(text: str) -> str:
    """For comparing in any case, width and way of writing accents. The dot that folding leaves above the small form
    of İ goes too, so that istanbul is found by who types it."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFKC", folded).replace("i\u0307", "i")


def fold_item(title: str, creator: str) -> str:
    """What an item is found by, kept short: a title may have 300 characters, and one of them four bytes."""
    return f"{_cut(fold(title), _TITLE_BYTES)}\n{_cut(fold(creator), _CREATOR_BYTES)}".strip()


def parse_words(text: str) -> tuple[str, ...]:
    """Each is to be found, wherever it is."""
    if len(text) > LONGEST_SEARCH:
        raise Invalid(f"q must be at most {LONGEST_SEARCH} characters")
    words = tuple(dict.fromkeys(fold(text).split()))
    if len(words) > MOST_WORDS:
        raise Invalid(f"q must have at most {MOST_WORDS} words")
    return words


def _cut(text: str, most: int) -> str:
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
