"""Documents before they are entries: encodings, mistakes, and what is refused with one clear reason."""

import time

import pytest

from chalicelib.feeds.reading.document import NotAFeed
from tests.rooms.feeds.parsing import item, parse


def reason(text: str | bytes, content_type: str = "application/xml") -> str:
    with pytest.raises(NotAFeed) as raised:
        parse(text, content_type)
    return raised.value.reason


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
        ("<rss><channel><title>cut in the mid", "ends in the middle"),
        ("<rss><channel>&bad;<item><title>never closed</channel></rss>", "valid XML"),
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
