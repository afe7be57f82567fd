import time

import pytest

from chalicelib.feeds.reading import pages

URL = "https://blog.example.org/posts/1"
RSS = 'rel="alternate" type="application/rss+xml"'


def feeds(text: str | bytes) -> list[str]:
    return pages.find_feeds(text.encode() if isinstance(text, str) else text, "text/html", URL)


@pytest.mark.parametrize(
    "link",
    [
        '<link rel="alternate" type="application/rss+xml" title="Blog" href="/feed">',
        "<link rel='alternate' type='application/atom+xml' href='/feed'/>",
        "<LINK HREF=/feed TYPE=application/feed+json REL=ALTERNATE>",
        '<link rel="alternate home" type="application/rss+xml; charset=utf-8" href=" /feed ">',
        '<link\nrel=alternate\ntype=text/xml\nhref="/feed"\n>',
        '<link rel="feed" href="/feed">',
        '<link data-href="/other" rel="alternate"type="application/rss+xml"href="/feed">',
        '<link rel="alternate" type="application/json" href="/feed">',
    ],
)
def test_a_page_names_its_feed_in_many_ways(link):
    assert feeds(f"<!doctype html><html><head>{link}</head><body>") == ["https://blog.example.org/feed"]


@pytest.mark.parametrize(
    "link",
    [
        '<link rel="stylesheet" type="application/rss+xml" href="/feed">',
        '<link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/1">',
        '<link rel="alternate" type="application/json+oembed" href="/oembed?feed=1">',
        '<link rel="alternate" hreflang="de" href="/de/feed">',
        f'<link {RSS} href="javascript:alert(1)">',
        f"<link {RSS}>",
        f'<!-- <link {RSS} href="/feed"> -->',
        f'<script>document.write("<link {RSS} href=/feed>")</script>',
        f'<linkage {RSS} href="/feed">',
        f'<p title="<link {RSS}"',
    ],
)
def test_what_is_no_feed_is_not_taken_for_one(link):
    assert feeds(f"<html>{link}") == []


def test_those_of_comments_come_last_and_none_comes_twice():
    page = f"""<link {RSS} title="Blog &raquo; Comments" href="/all">
        <link {RSS} href="/comments/feed/"><link {RSS} href="/feed?a=1&amp;b=2"><link {RSS} href="/feed?a=1&b=2">"""
    assert feeds(page) == [f"https://blog.example.org/{path}" for path in ("feed?a=1&b=2", "all", "comments/feed/")]


def test_relative_addresses_follow_the_base_of_the_page():
    assert feeds(f'<base href="https://cdn.example.org/a/"><link {RSS} href="feed">') == [
        "https://cdn.example.org/a/feed"
    ]
    assert feeds(f'<base href="/b/"><base href="/c/"><link {RSS} href="feed">') == ["https://blog.example.org/b/feed"]
    assert feeds(f'<base target="_top"><link {RSS} href="feed">') == ["https://blog.example.org/posts/feed"]


def test_a_page_in_another_encoding_is_read():
    page = f'<link {RSS} title="Kommentare" href="/k"><link {RSS} title="Grüße" href="/f">'
    assert feeds(page.encode("utf-16")) == ["https://blog.example.org/f", "https://blog.example.org/k"]


@pytest.mark.parametrize(
    "start", ["<![", "<![if", "<!--", "<script>", "<!", "<?", "\x00", "", "</", "<link", '<link "']
)
def test_half_of_anything_breaks_nothing(start):
    assert feeds(start) == []
    link = f'<link {RSS} href="/feed">'
    assert feeds(f"{link}{start}") == ["https://blog.example.org/feed"]


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "<link ",
            "<link x=",
            '<link "',
            "<link a='",
            "<!--",
            "<script",
            "<",
            "<base href=",
            "<link " + "a" * 3_900 + ">",
        ),
        *(
            "<link " + " " * 3_900 + ">",
            f"<link {RSS} href=/feed>",
            "<link " + "a=" * 1_900 + ">",
            "&#55356;",
            "<![CDATA[",
        ),
    ],
)
def test_two_megabytes_of_malice_take_no_time(piece):
    page = (piece * (pages.LARGEST_PAGE // len(piece))).encode()
    started = time.monotonic()
    feeds(page)
    assert time.monotonic() - started < 5
