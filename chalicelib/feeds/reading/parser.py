"""feedparser, kept to what we need of it: it fails in one way only, and says which entries it read to their end."""

import io
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import Any

from chalicelib.feeds.reading.document import NotAFeed
from chalicelib.kernel import log

# The elements an entry is made of. A mistake in any other element must not cost us the feed.
_READ = {
    *("channel", "feed", "item", "entry", "source", "title", "link", "guid", "id", "enclosure"),
    *("description", "summary", "abstract", "content", "content_encoded", "fullitem", "body", "xhtml_body"),
    *("published", "pubdate", "issued", "dcterms_issued", "dc_date", "updated", "modified", "dcterms_modified"),
    *("media_title", "media_description"),
}
# Not text, as an element with the same name as our mark would be.
_YES = object()


def parse(clean: bytes) -> Mapping[str, Any]:
    """feedparser's result, without entries that were never closed: such an entry may have lost its second half."""
    # A stream, because feedparser would open bytes that look like a path or URL. Sanitising and resolving HTML take
    # half of its time and are not thorough enough for a mail, so we do both ourselves for the entries that are sent.
    # It does not get the document's URL: it would derive ids from it, and every entry of a mirror would be new.
    try:
        parsed: dict[str, Any] = _feedparser().parse(
            io.BytesIO(clean),
            response_headers={"content-type": "application/xml; charset=utf-8"},
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except Exception as failure:  # its handlers raise whatever Python does
        log.exception("feed.parser_failed", failure)
        raise NotAFeed("the feed's XML could not be parsed") from failure
    return parsed | {"entries": [entry for entry in parsed["entries"] if _is_whole(entry, bool(parsed["bozo"]))]}


def _is_whole(entry: Mapping[str, Any], lenient: bool) -> bool:
    """In a document with mistakes, an entry that begins inside another may be the end of both."""
    return dict.get(entry, "closed") is _YES and not (lenient and dict.get(entry, "torn") is _YES)  # type: ignore[call-overload]


@lru_cache(maxsize=1)
def _feedparser() -> Any:
    import feedparser
    from feedparser.mixin import _FeedParserMixin

    # Nothing here reads tags and authors, and the time they take grows with the square of their length, so that one
    # long name would keep it busy for hours.
    _FeedParserMixin._add_tag = lambda self, *tag: self._get_context().setdefault("tags", [])
    _FeedParserMixin._sync_author_detail = lambda self, *key: None
    for name in dir(_FeedParserMixin):
        side, _, element = name.lstrip("_").partition("_")
        if side in ("start", "end") and element not in _READ:
            setattr(_FeedParserMixin, name, _as_unknown_if_it_fails(getattr(_FeedParserMixin, name)))
    _FeedParserMixin._start_textinput = _with_a_place(_FeedParserMixin._start_textinput)
    _FeedParserMixin._end_item = _FeedParserMixin._end_entry = _note_closed(_FeedParserMixin._end_item)
    _FeedParserMixin.unknown_starttag = _note_torn(_FeedParserMixin.unknown_starttag)
    return feedparser


def _as_unknown_if_it_fails(handler: Callable[..., Any]) -> Callable[..., Any]:
    """An `AttributeError` makes feedparser treat the element as one it does not know."""

    @wraps(handler)
    def handle(self: Any, *attributes: Any) -> Any:
        try:
            return handler(self, *attributes)
        except Exception as failure:
            raise AttributeError from failure

    return handle


def _with_a_place(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Inside an entry feedparser looks for the text input where it has not put it."""

    @wraps(handler)
    def handle(self: Any, attributes: Any) -> None:
        self.feeddata.setdefault("textinput", {})
        handler(self, attributes)

    return handle


def _note_closed(handler: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(handler)
    def handle(self: Any) -> None:
        if self.inentry and self.entries:
            self.entries[-1]["closed"] = _YES
        handler(self)

    return handle


def _note_torn(handler: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(handler)
    def handle(self: Any, tag: str, attributes: Any) -> Any:
        if tag in ("item", "entry") and self.inentry and self.entries:
            self.entries[-1]["torn"] = _YES
        return handler(self, tag, attributes)

    return handle
