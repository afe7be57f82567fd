"""What makes feedparser raise: the text is repaired, the element ignored, or the check fails and says so."""

import json

import pytest

from chalicelib.feeds.reading import parser
from chalicelib.feeds.reading.document import NotAFeed
from tests.rooms.feeds.parsing import item, parse

PSC = 'xmlns:psc="http://podlove.org/simple-chapters"'
GML = 'xmlns:gml="http://www.opengis.net/gml" xmlns:georss="http://www.georss.org/georss"'
MEDIA = 'xmlns:media="http://search.yahoo.com/mrss/"'
LICENCE = 'xmlns:cl="http://backend.userland.com/creativeCommonsRssModule"'
VERSION = "https://jsonfeed.org/version/1.1"


def title(written: str, before: str = "", mistake: str = "") -> str:
    return parse(before + item(f"<title>{written}</title>{mistake}")).entries[0].title


@pytest.mark.parametrize("mistake", ["", "&bad;"], ids=["well-formed", "with mistakes"])
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Party &#55356;&#57225; time", "Party 🎉 time"),
        ("Party &#xD83C;&#xDF89; time", "Party 🎉 time"),
        ("Party &#x1F389; &amp; &#8217;", "Party 🎉 & ’"),
        ("half &#55356; alone", "half � alone"),
        ("&#57225;&#55356; swapped", "�� swapped"),
        ("too far &#1114112; &#xFFFFFFFF; &#99999999999999999999;", "too far � � �"),
        ("controls &#0;&#x1;&#27;&#xFFFF; gone", "controls gone"),
        ("<![CDATA[in a section &#55356;&#57225;]]>", "in a section 🎉"),
        ("escaped twice &amp;#55356;&amp;#57225;", "escaped twice 🎉"),
        ("Windows &#150; dash, \x93quoted\x94", "Windows – dash, “quoted”"),
        ("C1 \x81\x8d&#129;&#x90; is gone", "C1 is gone"),
    ],
)
def test_characters_that_do_not_exist_are_repaired(mistake, written, read):
    assert title(written, mistake=mistake) == read


@pytest.mark.parametrize(
    "inside",
    [
        f'<psc:chapters {PSC}><psc:chapter title="x"/></psc:chapters>',
        "</height>",
        "<height/>",
        "<width>wide</width></width>",
        f'<georss:where {GML}><gml:Point srsName="EPSG:none"><gml:pos>1 2</gml:pos></gml:Point></georss:where>',
        f"<gml:posList {GML}>1 2 3</gml:posList></georss:box>",
        f"<georss:box {GML}>1 2 3 4</georss:box><georss:line>1</georss:line>",
        f"</media:player><media:player {MEDIA}/></media:player></media:rating>",
        f"<cl:license {LICENCE}/></cl:license>",
        "<textInput><title>Search</title><name>q</name><geo>1</geo></textInput>",
        '<image url="x"><width/><height></image>',
        "<source/></source><author/></author><category/></category>",
        '<x xml:base="http://[half"/>',
    ],
)
def test_a_mistake_in_an_element_nobody_reads_does_not_cost_the_feed(inside):
    read = "<title>Read</title><link>https://blog.example.org/1</link><guid>1</guid>"
    (entry,) = parse(item(read + inside)).entries
    assert (entry.id, entry.title, entry.link) == ("1", "Read", "https://blog.example.org/1")


@pytest.mark.parametrize("value", ["C:\\data", "C:\\Users\\me", "a\\1b", "\\g<9>"])
def test_backslashes_in_the_entities_of_a_document(value):
    doctype = f'<!DOCTYPE rss [\n<!ENTITY path "{value}">\n]>\n'.replace("<9>", "9")
    assert title("at &path;", doctype) == "at " + value.replace("<9>", "9")


def test_code_in_a_section_is_text():
    markup = "<description><![CDATA[#if <!h<!h<!h< <![ x ]]></description>"
    assert len(parse(item("<title>x</title>" + markup)).entries) == 1


def test_any_other_exception_of_the_parser_is_one_clear_reason(monkeypatch, capsys):
    def fail(*args, **kwargs):
        raise RecursionError("a stranger's words")

    monkeypatch.setattr(parser._feedparser(), "parse", fail)
    with pytest.raises(NotAFeed) as raised:
        parse(item("<title>x</title>"))
    assert raised.value.reason == "the feed's XML could not be parsed"
    printed = capsys.readouterr().out
    assert "feed.parser_failed" in printed
    assert "stranger" not in printed


ANY = [None, True, 0, -1, 1.5, 1e400, 10**4000, "", "x", "\ud83d", "a\x85b\x81\n", [], [1], {}, {"a": 1}, "9" * 9000]
ITEM = (
    "id url external_url title summary content_html content_text date_published date_modified image banner_image "
    "authors tags attachments language"
)
FEED = "title home_page_url feed_url description hubs authors icon expired items"


def json_feed(**changes) -> str:
    entry = {"id": "1", "url": "https://blog.example.org/1", "title": "One", "content_html": "<p>x</p>"}
    of_entry = {name: value for name, value in changes.items() if name in ITEM.split()}
    of_feed = {name.removeprefix("feed__"): value for name, value in changes.items() if name not in of_entry}
    return json.dumps({"version": VERSION, "title": "t", "items": [entry | of_entry]} | of_feed)


@pytest.mark.parametrize("name", [*ITEM.split(), *(f"feed__{name}" for name in FEED.split())])
def test_a_json_feed_may_have_anything_anywhere(name):
    for value in ANY:
        try:
            feed = parse(json_feed(**{name: value}))
        except NotAFeed:
            assert name == "feed__items"
            continue
        texts = [
            feed.title,
            feed.hub,
            *(text for entry in feed.entries for text in (entry.id, entry.title, entry.link)),
        ]
        assert not any(ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for text in texts for letter in text)
        assert all(text.encode() or True for text in (*texts, *(entry.html for entry in feed.entries)))


def test_half_an_emoji_in_a_json_feed():
    feed = parse('{"version": "' + VERSION + '", "items": [{"id": "1", "title": "a \\ud83d b"}]}')
    assert feed.entries[0].title == "a � b"
