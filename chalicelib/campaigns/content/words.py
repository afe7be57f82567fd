"""Finding campaigns by words: in any case, with or without accents. No input or output."""

import re
import unicodedata

from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.wording import for_readers

LONGEST_SEARCH = 100
_TOO_LONG = for_readers("This search is too long")
_LONGEST_KEPT = 100_000
_WORD = re.compile(r"\w+")
# Letters that Unicode does not take apart, as people type them who do not have them.
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"})
# Written without spaces from here on: a word may begin anywhere.
_FIRST_WITHOUT_SPACES = "\u2e80"
_THAI = ("\u0e00", "\u0eff")


def fold(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter)).translate(_PLAIN)


def read_search(text: str) -> tuple[str, ...]:
    """The words of a search, each once; none if there is nothing in it to look for."""
    if len(text) > LONGEST_SEARCH:
        raise Invalid(_TOO_LONG)
    return tuple(dict.fromkeys(_WORD.findall(fold(text))))


def collect(*texts: str) -> str:
    """Each word of the texts once, one a line."""
    found = dict.fromkeys(word for text in texts for word in _WORD.findall(fold(text)))
    return "\n".join(("", *found))[:_LONGEST_KEPT]


def matches(search: tuple[str, ...], collected: str) -> bool:
    """Whether every word of the search is one of these words, or the beginning of one."""
    return all((word if _has_no_spaces(word) else f"\n{word}") in collected for word in search)


def _has_no_spaces(word: str) -> bool:
    return any(letter >= _FIRST_WITHOUT_SPACES or _THAI[0] <= letter <= _THAI[1] for letter in word)
