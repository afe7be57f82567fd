"""Whatever a feed's server sends, it gives entries or one clear reason, and nothing in it is active in a mail."""

import time
import unicodedata
from html import escape

from hypothesis import given
from hypothesis import strategies as st

from chalicelib.feeds import digest
from chalicelib.feeds.reading import entries
from chalicelib.feeds.reading.document import NotAFeed
from chalicelib.feeds.reading.model import Entry
from tests.hostile.answers import active
from tests.hostile.anything import bounded, words

TYPES = st.sampled_from(
    ["", "text/html", "application/rss+xml; charset=utf-7", "application/json", "text/xml; charset="]
)
STARTS = [
    b"",
    b"<rss>",
    b'<?xml version="1.0" encoding="utf-16"?><rss><channel>',
    b"<feed><entry>",
    b'{"items":[',
    b"\xff\xfe",
]
ITEM = (
    "<item><title>{}</title><link>{}</link><guid>{}</guid><description>{}</description><pubDate>{}</pubDate></item>"
)


def _read(body: bytes, kind: str) -> list[Entry]:
    began = time.monotonic()
    try:
        found = entries.parse(body, kind, "https://blog.example.org/feed")
    except NotAFeed:
        return []
    assert time.monotonic() - began < 10
    return list(found.entries)


@bounded(20)
@given(
    start=st.sampled_from(STARTS),
    body=st.binary(max_size=300) | words.map(lambda text: text.encode(errors="replace")),
    kind=TYPES,
)
def test_garbage_is_not_a_feed(start, body, kind):
    _read(start + body, kind)


@bounded(20)
@given(parts=st.lists(words, min_size=5, max_size=5), literal=st.booleans())
def test_what_strangers_write_into_a_feed_is_not_active_in_the_mail(parts, literal):
    inside = [f"<![CDATA[{part}]]>" if literal else escape(part) for part in parts]
    feed = "<rss version='2.0'><channel><title>x</title>" + ITEM.format(*inside) + "</channel></rss>"
    found = _read(feed.encode(errors="replace"), "")
    if found:
        draft = digest.draft(found)
        assert active(draft.body) == []
        assert not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in draft.subject)
