"""Turns the bytes a server sent into a document that is safe to parse: decoded correctly, whole and of bounded size.

feedparser accepts anything. So a document that would keep it busy too long is refused here, by counting, and one that
was cut off as well, because feedparser would make entries of it that nobody wrote.
"""

import codecs
import re

from chalicelib.feeds.reading import characters

MOST_ENTRIES = 5_000
_MOST_MARKUP = 200_000
# When XML is broken, feedparser starts again with a slower parser.
_MOST_BROKEN_MARKUP = 60_000
_DEEPEST = 200
_MOST_ATTRIBUTES = 500
_MOST_PREFIXES = 100

_DECLARATION = re.compile(rb"""\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
# Python knows encodings no feed should use: utf-7 hides markup, others are not text at all.
_ENCODINGS = re.compile(
    r"(utf-(8|16|32)(-[bl]e)?|ascii|iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|tis-620"
    r"|shift_jis(_2004|x0213)?|euc_\w+|iso2022_\w+|gb2312|gbk|gb18030|hz|big5(hkscs)?|johab)\Z"
)
_BOMS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
_PROLOGUE = re.compile(r"<\?xml[^>]{0,200}\?>")
_PREFIX = re.compile(r"xmlns:([^\s=<>]{1,60})")
_ENTRY = re.compile(r"<(?:[\w-]{1,20}:)?(?:item|entry)[\s>/]")
_CROWDED_TAG = re.compile(rf"<[A-Za-z](?:[^<>=]*=){{{_MOST_ATTRIBUTES}}}")
_OPENING = re.compile(r"<([A-Za-z_][\w.-]{0,40}(?::[\w.-]{1,40})?)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# What looks like a tag in one of these is text. One that does not end goes on to the end of the document.
_LITERAL = r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?[^>]*(?:>|\Z)"
_HEAD = re.compile(r"[^<]*(?:<[!?][^<]*)*")
_ROOTS = {"rss", "feed", "rdf", "channel"}


class NotAFeed(Exception):
    """`reason` says what came instead, in our own words; `kind` is `cut` for a document without its end."""

    def __init__(self, reason: str, kind: str = "invalid") -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


def decode(body: bytes, content_type: str) -> str:
    """The text of the document, whatever encoding it claims, without the characters XML forbids."""
    decoded = characters.without_forbidden(_decode(body, content_type)).lstrip("\ufeff \t\r\n")
    if not decoded:
        raise NotAFeed("the feed is empty")
    return decoded


def check_xml(decoded: str) -> bytes:
    """UTF-8 for the XML parser, or `NotAFeed` if it is something else, was cut off or exceeds our limits."""
    root = _check_root(decoded)
    _check_bounds(decoded)
    text = characters.repair_references(_PROLOGUE.sub("", decoded, count=1).lstrip())
    clean = _escape_head(text).encode()
    if _is_well_formed(clean):
        return clean
    # What follows the end, such as a script a host adds or half a comment, would make it a document with mistakes.
    clean = _escape_head(_until_end(text, root)).encode()
    if not _is_well_formed(clean) and _count_markup(decoded) > _MOST_BROKEN_MARKUP:
        raise NotAFeed("the feed is not valid XML, and too large to repair")
    return clean


def is_json(decoded: str) -> bool:
    return decoded.startswith("{")


def _decode(body: bytes, content_type: str) -> str:
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return body.decode(encoding, "replace")
    charset = _CHARSET.search(content_type)
    declared = _DECLARATION.match(body)
    labels = [
        _find_encoding(charset[1]) if charset else None,
        _find_encoding(declared[1].decode()) if declared else None,
    ]
    for encoding in _candidates(body, [label for label in labels if label]):
        try:
            # Half a character at the end, where the document was cut off, does not make it another encoding.
            return codecs.getincrementaldecoder(encoding)().decode(body)
        except ValueError:
            continue
    return body.decode("cp1252", "replace")


def _candidates(body: bytes, labels: list[str]) -> list[str]:
    """What decodes as UTF-8 is UTF-8, whatever the label. Pure ASCII may be an encoding that hides in seven bits,
    such as ISO-2022-JP, so there the label goes first."""
    if body[:2] in (b"<\0", b"\0<"):
        return ["utf-16-le" if body[:2] == b"<\0" else "utf-16-be", *labels]
    if body.isascii():
        return [*labels, "utf-8"]
    return ["utf-8", *labels]


def _find_encoding(name: str) -> str | None:
    try:
        encoding = codecs.lookup(name).name
    except LookupError:
        return None
    if not _ENCODINGS.match(encoding):
        return None
    # As browsers do: text labelled Latin-1 is usually Windows-1252.
    return "cp1252" if encoding in ("iso8859-1", "ascii") else encoding


def _check_root(decoded: str) -> str:
    """The name of the root element, as it is written."""
    opening = _OPENING.search(_COMMENT.sub("", decoded[:20_000]))
    name = opening[1] if opening else ""
    root = name.rpartition(":")[2].lower()
    if root == "html":
        raise NotAFeed("the server returned a web page instead of a feed")
    if root not in _ROOTS:
        raise NotAFeed("this is not an RSS, Atom or JSON feed")
    return name


def _until_end(text: str, root: str) -> str:
    """The document up to the tag that closes its root. Without that tag it was cut off, perhaps inside an entry."""
    for found in re.finditer(rf"{_LITERAL}|</{re.escape(root)}\s*>", text, re.DOTALL | re.IGNORECASE):
        if found[0].startswith("</"):
            return text[: found.end()]
    raise NotAFeed("the document ends in the middle", kind="cut")


def _escape_head(text: str) -> str:
    """feedparser uses what precedes the root element as the replacement of a regular expression."""
    head = _HEAD.match(text)
    assert head is not None
    return head[0].replace("\\", "\\\\") + text[head.end() :]


def _check_bounds(decoded: str) -> None:
    if _count_markup(decoded) > _MOST_MARKUP or _CROWDED_TAG.search(decoded):
        raise NotAFeed("the feed has too much markup")
    if len(set(_PREFIX.findall(decoded))) > _MOST_PREFIXES:
        raise NotAFeed("the feed declares too many namespaces")
    if len(_ENTRY.findall(decoded)) > MOST_ENTRIES or decoded.count("xml:base") > MOST_ENTRIES:
        raise NotAFeed(f"the feed has more than {MOST_ENTRIES} entries")


def _count_markup(decoded: str) -> int:
    return decoded.count("<") + decoded.count("&")


def _is_well_formed(clean: bytes) -> bool:
    """One fast pass through expat; it also finds endless nesting, which would exhaust feedparser's stacks."""
    from xml.parsers import expat

    depth = 0

    def opened(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise NotAFeed("the feed is nested too deeply")

    def closed(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = opened, closed
    try:
        parser.Parse(clean, True)
    except expat.ExpatError:
        return False
    return True
