"""When two titles are nearly equal. No input or output."""

import re
import unicodedata
from hashlib import blake2b

_SHORTEST = 12
_SIGHTING = "sighting"
_WORD = re.compile(r"\w+")
# What sites put behind a title: “How to prune | The Slow Garden”.
_SITE_NAME = re.compile(r"\s[|–—·»-]\s[^|–—·»]{1,40}\Z")


def key_of(title: str, kind: str) -> str:
    """The same for titles that differ only in case, accents, punctuation, the order of words, or the site's name.
    Empty for short ones (“News”), which say too little, and for names of animals that were seen."""
    if kind.lower() == _SIGHTING:
        return ""
    plain = unicodedata.normalize("NFKD", _SITE_NAME.sub("", title)).casefold()
    words = _WORD.findall("".join(character for character in plain if not unicodedata.combining(character)))
    text = " ".join(sorted(set(words)))
    return blake2b(text.encode(), digest_size=8).hexdigest() if len(text) >= _SHORTEST else ""
