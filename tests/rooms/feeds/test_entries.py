"""Feeds as they really are: each gives the right entries."""

import json
import time
from datetime import UTC, datetime

import pytest

from chalicelib.feeds.reading import entries, excerpt
from tests.rooms.feeds.parsing import item, parse

RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>Blog</title>
<link>https://blog.example.org/</link>
<item><title>Second &amp;amp; last</title><link>/second</link><guid isPermaLink="false">id-2</guid>
<pubDate>Mon, 16 Nov 2026 10:00:00 +0200</pubDate>
<description><![CDATA[<p>Hello <b>world</b></p><script>alert(1)</script>]]></description>
<media:thumbnail url="/second.jpg"/></item>
<item><title>First</title><link>https://blog.example.org/first</link>
<pubDate>Sun, 15 Nov 2026 08:00:00 GMT</pubDate></item>
</channel></rss>"""


ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://blog.example.org/deep/">
<title>Blog</title><link rel="hub" href="https://hub.example.net/"/><link rel="self" href="https://blog.example.org/a"/>
<entry><id>tag:example.org,2026:1</id><title type="html">&lt;em&gt;Big&lt;/em&gt; news</title>
<link rel="alternate" href="one"/><updated>2026-11-16T08:00:00Z</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Some <i>text</i></p></div></content>
</entry></feed>"""


RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Old</title></channel>
<item rdf:about="https://blog.example.org/r"><title>R</title><link>https://blog.example.org/r</link>
<dc:date>2026-11-14T00:00:00Z</dc:date></item></rdf:RDF>"""


RSS091 = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">
<rss version="0.91"><channel><title>Older</title>
<item><title>Caf\xe9</title><link>https://blog.example.org/o</link></item></channel></rss>"""


JSON_FEED = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "Blog",
    "hubs": [{"type": "WebSub", "url": "https://hub.example.net/"}],
    "items": [
        {
            "id": 7,
            "url": "/seven",
            "title": "Seven",
            "content_html": "<p>Body</p>",
            "image": "i.png",
            "date_published": "2026-11-16T10:00:00+02:00",
        },
        {"id": "8", "content_text": "Tom & <Jerry>", "date_published": "soon"},
        "nonsense",
    ],
}


def test_rss():
    feed = parse(RSS)
    second, first = feed.entries
    assert feed.title == "Blog"
    assert (second.id, second.title, second.link) == ("id-2", "Second & last", "https://blog.example.org/second")
    assert second.published == datetime(2026, 11, 16, 8, tzinfo=UTC)
    assert second.image == "https://blog.example.org/second.jpg"
    assert excerpt.plain_text(second.html) == "Hello world"
    assert (first.id, first.html) == (first.link, "")


def test_atom_with_markup_in_the_title_relative_links_and_a_hub():
    feed = parse(ATOM)
    (entry,) = feed.entries
    assert (entry.title, entry.link) == ("Big news", "https://blog.example.org/deep/one")
    assert (entry.published, entry.updated) == (None, datetime(2026, 11, 16, 8, tzinfo=UTC))
    assert excerpt.plain_text(entry.html) == "Some text"
    assert (feed.hub, feed.topic) == ("https://hub.example.net/", "https://blog.example.org/a")


def test_rdf():
    (entry,) = parse(RDF).entries
    assert (entry.id, entry.title, entry.dated) == (
        "https://blog.example.org/r",
        "R",
        datetime(2026, 11, 14, tzinfo=UTC),
    )


def test_rss_of_1999_with_its_document_type():
    (entry,) = parse(RSS091.encode("latin-1")).entries
    assert (entry.title, entry.dated) == ("Café", None)


def test_json_feed():
    feed = parse(json.dumps(JSON_FEED), "application/feed+json")
    seven, eight = feed.entries
    assert (seven.id, seven.link, seven.image) == (
        "7",
        "https://blog.example.org/seven",
        "https://blog.example.org/i.png",
    )
    assert seven.published == datetime(2026, 11, 16, 8, tzinfo=UTC)
    assert (excerpt.plain_text(eight.html), eight.dated) == ("Tom & <Jerry>", None)
    assert feed.hub == "https://hub.example.net/"


def test_an_entry_without_id_link_date_or_title_is_identified_by_its_text():
    hello = parse(item("<description>Hello</description>")).entries[0]
    other = parse(item("<description>Hello again</description>")).entries[0]
    assert hello.id.startswith("sha256:")
    assert hello.id == parse(item("<description>Hello</description>")).entries[0].id != other.id
    assert (hello.link, hello.title, hello.dated) == ("", "", None)


@pytest.mark.parametrize(
    "link",
    ["javascript:alert(1)", "data:text/html,x", "ftp://x.org/", "https://u:p@x.org/", "http://[", "mailto:a@b.c"],
)
def test_links_that_are_not_of_the_web_are_dropped(link):
    entry = parse(item(f"<title>t</title><guid isPermaLink='false'>1</guid><link>{link}</link>")).entries[0]
    assert entry.link == ""


@pytest.mark.parametrize(
    "text",
    [
        item("<title>t</title><guid>4711</guid>"),
        item("<title>t</title><guid isPermaLink='true'>/1</guid>"),
        item("<title>t</title><link>/posts/1</link>"),
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='deep/'><entry><id>1</id><link href='a'/></entry></feed>",
        '{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "/posts/1"}]}',
    ],
)
def test_an_entry_stays_the_same_wherever_the_feed_is_read_from(text):
    """A mirror, a passing redirect, a new domain: none of them makes an old post new."""
    here, there = (entries.parse(text.encode(), "", f"https://{host}/feed").entries[0] for host in ("a.org", "b.org"))
    assert here.fingerprint == there.fingerprint
    assert here.link.replace("a.org", "b.org") == there.link


@pytest.mark.parametrize(
    ("guid", "link"), [("4711", ""), ("https://x.org/1", "https://x.org/1"), ("/1", "https://blog.example.org/1")]
)
def test_a_guid_that_is_not_a_url_is_not_a_link(guid, link):
    assert parse(item(f"<title>t</title><guid>{guid}</guid>")).entries[0].link == link


@pytest.mark.parametrize(
    "date",
    ["0001-01-01T00:00:00Z", "tomorrow", "99999-01-01", "Mon, 32 Foo 2026", "0", "1" * 5000, "2026-02-30T25:61:00Z"],
)
def test_an_invalid_date_is_no_date(date):
    dated = parse(item(f"<title>t</title><pubDate>{date}</pubDate>")).entries[0].dated
    assert dated is None or dated.year in (2026, 9999)


@pytest.mark.parametrize(
    "inside",
    [
        "<author>" + "a" * 300_000 + "</author>",
        "<author>a@" + "a." * 150_000 + "</author>",
        "<tags>" + ",".join(map(str, range(100_000))) + "</tags>",
        "".join(f"<category>{n}</category>" for n in range(25_000)),
    ],
    ids=range(4),
)
@pytest.mark.parametrize("broken", ["", "<&"])
def test_endless_names_and_tags_cost_no_more_than_other_text(inside, broken):
    """Nothing reads them, and feedparser alone would take a minute or an hour for each of these."""
    started = time.process_time()
    assert [entry.title for entry in parse(item(f"<title>t</title>{inside}") + broken).entries] == ["t"]
    assert time.process_time() - started < 5
