"""The beginning of a campaign's plain text, for lists, feeds and the previews that other sites make of a link."""

import re

_LONGEST = 220
_ADDRESS = re.compile(r"\(?\b(?:https?://|www\.)[^\s()]*(?:\([^\s()]*\))*[^\s()]*\)?", re.IGNORECASE)
_PICTURE = re.compile(r"\[[^\[\]\n]{0,500}\]")
_LINE_START = re.compile(r"^[ \t]*(?:(?:>|-|\d{1,3}\.)[ \t]+)+", re.MULTILINE)
_RULE = re.compile(r"^-{4,}$", re.MULTILINE)
_BEFORE_MARK = re.compile(r" +([.,;:!?])")


def without_addresses(text: str) -> str:
    return _ADDRESS.sub(" ", text)


def shorten(text: str, subject: str) -> str:
    """Without links, pictures, list marks and the title, up to the end of a word."""
    bare = without_addresses(_RULE.sub("", _LINE_START.sub("", _PICTURE.sub("", text[:20_000]))))
    words = _BEFORE_MARK.sub(r"\1", " ".join(bare.split()))
    words = words.removeprefix(subject).lstrip(" .:–—-") if subject else words
    if len(words) <= _LONGEST:
        return words
    cut = words[:_LONGEST]
    return (cut.rpartition(" ")[0] or cut).rstrip(" ,;:–—-") + "…"
