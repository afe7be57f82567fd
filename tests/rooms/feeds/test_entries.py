"""Feeds as they really are: each gives the right entries or one clear reason."""

import json
import time
from datetime import UTC, datetime

import pytest

from chalicelib.feeds.reading import entries, excerpt
from chalicelib.feeds.reading.document import NotAFeed
from chalicelib.feeds.reading.model import Feed

URL = "https://blog.example.org/feed.xml"

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


def parse(text: str | bytes, content_type: str = "application/xml") -> Feed:
    return entries.parse(text.encode() if isinstance(text, str) else text, content_type, URL)


def reason(text: str | bytes, content_type: str = "application/xml") -> str:
    with pytest.raises(NotAFeed) as raised:
        parse(text, content_type)
    return raised.value.reason


def item(inside: str) -> str:
    return f'<rss version="2.0"><channel><title>t</title><item>{inside}</item></channel></rss>'


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


@pytest.mark.parametrize("label", ["utf-8", "iso-8859-1", "us-ascii", "windows-1252", "shift_jis", "nonsense", ""])
def test_utf_8_is_recognised_whatever_the_label(label):
    body = f'<?xml version="1.0" encoding="{label}"?>' + item("<title>Žluťoučký kůň – 馬</title>")
    assert parse(body, f"text/xml; charset={label}").entries[0].title == "Žluťoučký kůň – 馬"


@pytest.mark.parametrize(
    ("encoding", "title"),
    [
        ("shift_jis", "こんにちは"),
        ("koi8-r", "Привет"),
        ("gb18030", "你好"),
        ("iso-2022-jp", "日本"),
        ("iso-8859-2", "žluť"),
    ],
)
def test_other_encodings_by_declaration_or_header(encoding, title):
    declared = f'<?xml version="1.0" encoding="{encoding}"?>' + item(f"<title>{title}</title>")
    assert parse(declared.encode(encoding), "text/xml").entries[0].title == title
    labelled = item(f"<title>{title}</title>").encode(encoding)
    assert parse(labelled, f"text/xml; charset={encoding}").entries[0].title == title


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32"])
def test_unicode_with_and_without_a_mark(encoding):
    assert parse(item("<title>Čau</title>").encode(encoding)).entries[0].title == "Čau"


def test_latin_1_without_any_label():
    assert parse(item("<title>Caf\xe9 \x93quoted\x94</title>").encode("latin-1")).entries[0].title == "Café “quoted”"


def test_utf_7_hides_nothing():
    body = b'<?xml version="1.0" encoding="utf-7"?>' + item("<title>+ADw-script+AD4-</title>").encode()
    assert parse(body).entries[0].title == "+ADw-script+AD4-"


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


def test_feeds_with_mistakes_are_still_read():
    broken = '\n\n <?xml version="1.0"?>' + item("<title>A &nbsp; B & C</title><link>http://x.org/?a=1&b=2</link>")
    (entry,) = parse(broken + "<p>trailing").entries
    assert (entry.title, entry.link) == ("A B & C", "http://x.org/?a=1&b=2")
    assert parse(item("<title>bell\x07 and\x00 nul</title>")).entries[0].title == "bell and nul"


def test_entities_of_files_and_bombs_come_to_nothing():
    outside = '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + item("<title>a&x;b</title>")
    assert "root:" not in parse(outside).entries[0].title
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE rss [<!ENTITY l0 "lol">{levels}]>' + item("<title>&l9;</title>")
    assert len(parse(bomb).entries[0].title) < 400


@pytest.mark.parametrize(
    ("body", "phrase"),
    [
        ("<!DOCTYPE html><html><body><form>Log in</form></body></html>", "web page"),
        ("\n<!-- hi --><HTML><p>x", "web page"),
        ("", "empty"),
        ("  \n\x00", "empty"),
        ("/etc/passwd", "not an RSS"),
        ("http://127.0.0.1/feed", "not an RSS"),
        ("plain words", "not an RSS"),
        ('{"error": "no"}', "not an RSS"),
        ('{"version": "https://jsonfeed.org/version/1", "items": {}}', "not an RSS"),
        ('{"version": ', "JSON"),
        ("[1]", "not an RSS"),
        ("<svg/>", "not an RSS"),
        ("\x89PNG\r\n", "not an RSS"),
        ("<rss><channel><title>cut in the mid", "valid XML"),
    ],
)
def test_the_reason_says_what_came_instead_of_a_feed(body, phrase):
    assert phrase in reason(body)


@pytest.mark.parametrize(
    "body",
    [
        "<rss><channel><item><description>" + "<div>" * 190_000,
        "<rss><channel>" + "<item>" * 190_000,
        '<feed xmlns="http://www.w3.org/2005/Atom">' + "<entry xml:base='a/'>" * 100_000,
        "<rss><channel>&bad;" + "<item xml:base='a/'>" * 100_000,
        "<rss><channel><item " + "".join(f"a{n}='b' " for n in range(200_000)) + "/></channel></rss>",
        "<rss><channel>" + "".join(f"<a{n}:b xmlns:a{n}='u{n}'/>" for n in range(60_000)) + "</channel></rss>",
        "<rss><channel>" + "<item/>" * 700_000 + "</channel></rss>",
        "<rss><channel><item><title>" + "&" * 4_900_000,
        "<!--" * 1_200_000,
        "<" * 4_900_000,
        '{"version":' + "[" * 4_900_000,
        '{"version":"https://jsonfeed.org/version/1","items":[' + "{}," * 900_000 + "{}]}",
    ],
    ids=range(12),
)
def test_what_would_keep_the_parser_busy_is_refused_at_once(body):
    started = time.process_time()
    assert reason(body)
    assert time.process_time() - started < 3


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


def test_the_excerpt_is_cut_at_a_word():
    assert excerpt.truncate("one two three", 13) == "one two three"
    assert excerpt.truncate("one two three", 12) == "one two…"
    assert excerpt.truncate("one two, three", 9) == "one two…"
    assert excerpt.truncate("endless" * 10, 10) == "endlessen…"


def test_text_of_neighbouring_blocks_does_not_run_together():
    assert excerpt.plain_text("<h2>Title</h2><p>a<br>b</p><ul><li>c<li>d</ul>in<b>line</b>") == "Title a b c d inline"


def test_deeply_nested_html_is_no_trouble():
    assert excerpt.plain_text("<div>" * 100_000 + "deep") == ""
    assert excerpt.plain_text("<b>" * 3_000 + "deep") == "deep"


def test_the_first_image_is_no_pixel_and_no_data():
    markup = (
        '<img src="https://t.example.org/p.gif" width="1" height="1"><img src="data:image/png;base64,AA">'
        "<img alt=x src='/real.jpg?a=1&amp;b=2'>"
    )
    assert excerpt.first_image(markup, URL) == "https://blog.example.org/real.jpg?a=1&b=2"
    assert excerpt.first_image("<p>none</p>", URL) == ""
