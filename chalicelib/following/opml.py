"""OPML, in which programs that read feeds hand each other what they follow. No input or output."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from email.utils import format_datetime
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

from chalicelib.feeds.reading import characters
from chalicelib.kernel.errors import Invalid

# Two thousand feeds with long names.
LARGEST = 2_000_000
_DEEPEST = 50
_LONGEST_URL = 2_000
_INVALID = "This is not a valid OPML file"


class Outline(Struct, frozen=True):
    """`url` is the feed's, `page` that of its site, which may be unknown."""

    title: str
    url: str
    page: str = ""


class _Refused(Exception):
    """What a file may not have, in words."""


def parse(document: bytes, most: int) -> list[str]:
    """The URLs of the feeds the file names, each once, in its order; `Invalid` if there are more than `most`."""
    from xml.parsers import expat

    if len(document) > LARGEST:
        raise Invalid(f"An OPML file may have at most {LARGEST // 1_000_000} MB")
    reader = _Reader(most)
    parser = expat.ParserCreate("utf-8" if _is_utf8(document) else None)
    parser.StartElementHandler, parser.EndElementHandler = reader.open, reader.close
    parser.StartDoctypeDeclHandler = reader.refuse_doctype
    try:
        parser.Parse(document.lstrip(b" \t\r\n"), True)
    except _Refused as refusal:
        raise Invalid(str(refusal)) from None
    except (expat.ExpatError, ValueError, LookupError):  # an encoding that Python does not know, or is none
        raise Invalid(_INVALID) from None
    if not reader.urls:
        raise Invalid("This file names no feeds")
    return list(reader.urls)


def write(title: str, outlines: Iterable[Outline], now: datetime) -> Iterator[str]:
    """The file in parts."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n<head>\n'
    yield f"<title>{escape(_clean(title))}</title>\n<dateCreated>{format_datetime(now)}</dateCreated>\n"
    yield "</head>\n<body>\n"
    for outline in outlines:
        name, url = quoteattr(_clean(outline.title)), quoteattr(_clean(outline.url))
        page = f" htmlUrl={quoteattr(_clean(outline.page))}" if outline.page else ""
        yield f'<outline type="rss" text={name} title={name} xmlUrl={url}{page}/>\n'
    yield "</body>\n</opml>\n"


class _Reader:
    """What the parser calls. Programs disagree about the case of names, and about folders."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.urls: dict[str, None] = {}
        self._depth = 0

    def open(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and name.lower() != "opml":
            raise _Refused(_INVALID)
        if self._depth > _DEEPEST:
            raise _Refused("This file is nested too deeply")
        if name.lower() != "outline":
            return
        named = {key.lower(): value for key, value in attributes.items()}
        url = named.get("xmlurl", "").strip()
        if url and len(url) <= _LONGEST_URL:
            self.urls[url] = None
        if len(self.urls) > self._most:
            raise _Refused(f"At most {self._most} feeds can be followed")

    def close(self, name: str) -> None:
        self._depth -= 1

    def refuse_doctype(self, *declared: object) -> None:
        """With its entities, a small file can become a large one, or name other files."""
        raise _Refused("An OPML file must not have a document type")


def _is_utf8(document: bytes) -> bool:
    """Whatever the file says of itself: what came as text was written in UTF-8 on the way."""
    try:
        document.decode()
    except UnicodeDecodeError:
        return False
    return True


def _clean(text: str) -> str:
    return characters.without_forbidden(text)
