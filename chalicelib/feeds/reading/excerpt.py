"""Turns an entry's HTML into what is mailed of it: plain text, cut at a word."""

import html
import re
from urllib.parse import urljoin, urlsplit

from chalicelib.feeds.reading import characters

_LONGEST_SOURCE = 20_000
_LONGEST_URL = 2_000
# These elements are displayed apart from their neighbours, so their text needs a space between them.
_BLOCK = re.compile(
    r"(?=</?(?:address|article|blockquote|br|dd|div|dl|dt|figcaption|figure|h[1-6]|hr|li|ol|p|pre|section|table|td|th|tr"
    r"|ul)\b)",
    re.IGNORECASE,
)
_ESCAPED = str.maketrans({character: f"%{ord(character):02X}" for character in ' "<>\\^`{|}'})
_SPACE = re.compile(r"[\s\x00-\x1f\x7f\u2028\u2029]+")
# What these contain is not what the author says: code, form fields, or a replacement for what cannot be displayed.
_NOT_TEXT = {
    *("script", "style", "template", "title", "textarea", "xmp"),
    *("iframe", "noscript", "noembed", "noframes"),
}


def plain_text(source: str) -> str:
    """The text of HTML on one line, without scripts and styles. Not escaped: whoever displays it does that."""
    import nh3

    spaced = _BLOCK.sub(" ", characters.repair_references(source[:_LONGEST_SOURCE]))
    return one_line(html.unescape(nh3.clean(spaced, tags=set(), clean_content_tags=_NOT_TEXT)))


def one_line(text: str) -> str:
    """Without line breaks, control characters and noncharacters, so that it can be a subject."""
    return _SPACE.sub(" ", characters.without_noncharacters(characters.without_c1(text))).strip()


def truncate(text: str, longest: int) -> str:
    """At most so many characters, cut after a word; a single word that is too long is cut inside."""
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    if not text[longest - 1].isspace():
        head = head.rpartition(" ")[0] or head
    return head.rstrip(" ,;:.–—-") + "…"


def web_url(address: str, base: str = "") -> str:
    """The absolute http(s) URL, or nothing: no other scheme ever reaches a mail."""
    if not address or len(address) > _LONGEST_URL:
        return ""
    try:
        absolute = urljoin(base, one_line(address))
        parts = urlsplit(absolute)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
    except ValueError:
        return ""
    return absolute.translate(_ESCAPED) if sound else ""
