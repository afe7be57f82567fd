"""The beginning of a campaign's plain text, for lists, feeds and the previews that other sites make of a link."""

import re

_LONGEST, _SHORTEST = 200, 110
_ADDRESS = re.compile(r"\(?\b(?:https?://|www\.)[^\s()]*(?:\([^\s()]*\))*[^\s()]*\)?", re.IGNORECASE)
_PICTURE = re.compile(r"\[[^\[\]\n]{0,500}\]")
_LINE_START = re.compile(r"^[ \t]*(?:(?:>|-|\d{1,3}\.)[ \t]+)+", re.MULTILINE)
_RULE = re.compile(r"^-{4,}$", re.MULTILINE)
_BEFORE_MARK = re.compile(r" +([.,;:!?])")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)]*(?=\s)")
_ENDS_SENTENCE = re.compile(r"[.!?…:。！？][\"'”’»)]*\s*\Z")
_LONG_LINE = 60


def without_addresses(text: str) -> str:
    return _ADDRESS.sub(" ", text)


def shorten(text: str, subject: str, has_title: bool = False) -> str:
    """Without links, pictures, list marks, the title and, if there are sentences, other short lines: headings, and
    facts about items. Up to the end of a sentence or of a word."""
    bare = without_addresses(_RULE.sub("", _LINE_START.sub("", _PICTURE.sub("", text[:20_000]))))
    lines = [line for line in bare.split("\n") if line.strip()]
    if lines and (has_title or lines[0].strip() == subject):
        lines = lines[1:]
    said = [line for line in lines if len(line) >= _LONG_LINE or _ENDS_SENTENCE.search(line)]
    return _cut(_BEFORE_MARK.sub(r"\1", " ".join(" ".join(said or lines).split())))


def _cut(words: str) -> str:
    if len(words) <= _LONGEST:
        return words
    ends = [match.end() for match in _SENTENCE_END.finditer(words, 0, _LONGEST + 1)]
    if ends and ends[-1] >= _SHORTEST:
        return words[: ends[-1]]
    cut = words[:_LONGEST]
    return (cut.rpartition(" ")[0] or cut).rstrip(" ,;:–—-") + "…"
