"""What pages say about themselves, in the shapes in which the software behind them writes it."""

import time
from datetime import UTC, datetime

import pytest

from chalicelib.feeds.reading import pages
from chalicelib.feeds.reading.pages import PageInfo

URL = "https://www.example.org/2026/11/frost/?ref=home"

WORDPRESS = """<!DOCTYPE html>
<html lang="en-US" prefix="og: https://ogp.me/ns#">
<head>
<meta charset="UTF-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>Frost on the allotment &#8211; The Slow Garden</title>
<link rel="alternate" type="application/rss+xml" title="The Slow Garden &raquo; Feed" href="/feed/" />
<!-- This site is optimized with a plugin -->
<meta name="description" content="What survives a frost, and what you can&#8217;t save." />
<link rel="canonical" href="https://www.example.org/2026/11/frost/" />
<meta property="og:locale" content="en_US" />
<meta property="og:type" content="article" />
<meta property="og:title" content="Frost on the allotment" />
<meta property="og:description" content="What survives a frost, and what you can&#8217;t save [&hellip;]" />
<meta property="og:url" content="https://www.example.org/2026/11/frost/" />
<meta property="og:site_name" content="The Slow Garden" />
<meta property="article:published_time" content="2026-11-14T06:30:00+00:00" />
<meta property="og:image" content="https://www.example.org/wp-content/uploads/2026/11/frost-1024x683.jpg" />
<meta property="og:image:width" content="1024" />
<meta name="twitter:card" content="summary_large_image" />
<script type="application/ld+json">{"@graph":[{"headline":"<meta property='og:title' content='No'>"}]}</script>
<link rel="shortlink" href="https://www.example.org/?p=4711" />
</head><body><svg><title>Logo</title></svg>"""

SUBSTACK = """<!DOCTYPE html><html lang="en"><head><title data-rh="true">Frost - by Ada - The Slow Garden</title>
<meta data-rh="true" name="theme-color" content="#ffffff"/><meta data-rh="true" property="og:type" content="article"/>
<meta data-rh="true" property="og:title" content="Frost"/><meta data-rh="true" name="twitter:title" content="Frost"/>
<meta data-rh="true" name="description" content="&quot;Cover them!&quot; she said."/>
<meta data-rh="true" property="og:description" content="&quot;Cover them!&quot; she said."/>
<meta data-rh="true" property="og:image" content="https://substackcdn.com/image/fetch/$s_!x!,w_1200,f_jpg/https%3A%2F%2Fbucket%2Fa.png"/>
<link data-rh="true" rel="canonical" href="https://slowgarden.substack.com/p/frost"/></head><body>"""

MEDIUM = """<!doctype html><html lang="en"><head>
<title data-rh="true">Frost. What survives | by Ada | Nov, 2026 | Medium</title>
<meta data-rh="true" charset="utf-8"/><meta data-rh="true" property="og:type" content="article"/>
<meta data-rh="true" property="article:published_time" content="2026-11-14T06:30:00.123Z"/>
<meta data-rh="true" property="og:title" content="Frost"/>
<meta data-rh="true" property="og:site_name" content="Medium"/>
<meta data-rh="true" property="og:url" content="https://medium.com/@ada/frost-1a2b3c4d5e6f"/>
<meta data-rh="true" property="og:image" content="https://miro.medium.com/v2/resize:fit:1200/1*x.jpeg"/>
<link data-rh="true" rel="canonical" href="https://medium.com/@ada/frost-1a2b3c4d5e6f"/></head>"""

GITHUB = """<!DOCTYPE html><html lang="en" data-color-mode="auto"><head>
<link rel="dns-prefetch" href="https://github.githubassets.com">
  <title>GitHub - ada/frost: Predicts &lt;0 °C &amp; more</title>
  <meta name="description" content="Predicts &lt;0 °C &amp; more. Contribute to ada/frost development.">
  <link rel="search" type="application/opensearchdescription+xml" href="/opensearch.xml" title="GitHub">
  <meta property="og:image" content="https://opengraph.githubassets.com/1a/ada/frost" />
  <meta property="og:image:alt" content="Predicts" /><meta property="og:site_name" content="GitHub" />
  <meta property="og:type" content="object" />
  <meta property="og:title" content="GitHub - ada/frost: Predicts &lt;0 °C &amp; more" />
  <meta property="og:url" content="https://github.com/ada/frost" />
  <link rel="canonical" href="https://github.com/ada/frost" data-turbo-transient></head>"""

AMP = """<!doctype html><html ⚡ lang="de"><head><meta charset="utf-8">
<script async src="https://cdn.ampproject.org/v0.js"></script><title>Frost im Anmarsch</title>
<link rel="canonical" href="https://www.example.org/wetter/frost-im-anmarsch-100.html">
<style amp-boilerplate>body{}</style><noscript><title>None of this</title></noscript>
<script type="application/ld+json">{"@type": "NewsArticle", "headline": "Frost"}</script></head>"""


def describe(text: str | bytes, content_type: str = "text/html", url: str = URL) -> PageInfo:
    return pages.describe(text.encode() if isinstance(text, str) else text, content_type, url)


def test_wordpress():
    assert describe(WORDPRESS) == PageInfo(
        title="Frost on the allotment",
        description="What survives a frost, and what you can’t save […]",
        image="https://www.example.org/wp-content/uploads/2026/11/frost-1024x683.jpg",
        site="The Slow Garden",
        canonical="https://www.example.org/2026/11/frost/",
        published_at=datetime(2026, 11, 14, 6, 30, tzinfo=UTC),
    )


def test_substack():
    found = describe(SUBSTACK)
    assert (found.title, found.description) == ("Frost", '"Cover them!" she said.')
    assert found.canonical == "https://slowgarden.substack.com/p/frost"
    assert found.image.startswith("https://substackcdn.com/image/fetch/$s_!x!,w_1200,f_jpg/https%3A%2F%2F")


def test_medium():
    found = describe(MEDIUM)
    assert (found.title, found.site, found.canonical) == (
        "Frost",
        "Medium",
        "https://medium.com/@ada/frost-1a2b3c4d5e6f",
    )
    assert found.published_at == datetime(2026, 11, 14, 6, 30, 0, 123_000, tzinfo=UTC)


def test_github():
    found = describe(GITHUB)
    assert found.title == "GitHub - ada/frost: Predicts <0 °C & more"
    assert (found.site, found.canonical) == ("GitHub", "https://github.com/ada/frost")


def test_a_news_site_in_amp():
    found = describe(AMP)
    assert (found.title, found.description, found.image) == ("Frost im Anmarsch", "", "")
    assert found.canonical == "https://www.example.org/wetter/frost-im-anmarsch-100.html"


def test_a_page_that_says_nothing():
    for text in (
        "",
        "<html>",
        "Just text.",
        "<p>No head at all",
        "<title></title>",
        "<title>  </title><meta>",
        "\0\0",
    ):
        assert describe(text) == PageInfo()


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1252", "iso-8859-1", "iso-8859-15", "utf-16"])
def test_western_encodings_with_and_without_a_label(encoding):
    text = f'<meta charset="{encoding}"><title>Grüße aus dem Café</title>'
    assert describe(text.encode(encoding)).title == "Grüße aus dem Café"
    assert describe(text.replace("charset", "x").encode(encoding)).title == "Grüße aus dem Café"


@pytest.mark.parametrize(
    ("encoding", "label", "title"),
    [
        ("cp932", "Shift_JIS", "霜と①の庭～十一月"),
        ("cp932", "x-sjis", "髙橋の霜"),
        ("euc_jp", "EUC-JP", "霜の庭"),
        ("iso2022_jp", "ISO-2022-JP", "霜の庭"),
        ("gb18030", "gb2312", "霜降時節镕"),
        ("cp949", "euc-kr", "서리 내린 똠방"),
        ("big5hkscs", "Big5", "霜降的花園"),
        ("cp1251", "windows-1251", "Заморозки"),
        ("koi8-r", "koi8-r", "Заморозки"),
        ("cp1254", "iso-8859-9", "Kırağı ve “don”"),
    ],
)
def test_other_encodings_said_by_the_page_or_its_server(encoding, label, title):
    text = f"<html><head><meta http-equiv='Content-Type' content='text/html; charset={label}'><title>{title}</title>"
    assert describe(text.encode(encoding)).title == title
    assert describe(text.encode(encoding), "text/html; charset=utf-8").title == title  # the server is mistaken
    bare = f"<html><head><script charset=utf-8 src=x></script><title>{title}</title>"
    assert describe(bare.encode(encoding), f"text/html;charset={label}").title == title


@pytest.mark.parametrize(
    ("image", "found"),
    [
        ("/pictures/frost.jpg", "https://www.example.org/pictures/frost.jpg"),
        ("frost.jpg", "https://www.example.org/2026/11/frost/frost.jpg"),
        ("//cdn.example.net/frost.jpg?w=1&amp;h=2", "https://cdn.example.net/frost.jpg?w=1&h=2"),
        ("https://cdn.example.net/a b.jpg", "https://cdn.example.net/a%20b.jpg"),
        ("data:image/png;base64,AAAA", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
        ("https://user:pass@example.org/x.jpg", ""),
    ],
)
def test_pictures_are_absolute_addresses_of_the_web(image, found):
    assert describe(f'<meta property="og:image" content="{image}">').image == found


def test_the_first_picture_that_is_one():
    many = """<meta property="og:image" content="data:,"><meta name="twitter:image" content="/two.jpg">
        <link rel="image_src" href="/three.jpg">"""
    assert describe(many).image == "https://www.example.org/two.jpg"
    assert describe('<link rel="image_src" href="/three.jpg">').image == "https://www.example.org/three.jpg"
    base = '<base href="https://cdn.example.net/a/"><meta property="og:image" content="b.jpg">'
    assert describe(base).image == "https://cdn.example.net/a/b.jpg"


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<meta content='From &amp; to' property=og:title>", "From & to"),
        ('<META NAME="OG:TITLE" CONTENT="Loud">', "Loud"),
        ('<meta property="og:title" content="2 > 1, they say">', "2 > 1, they say"),
        ('<meta property="og:title" content="It\'s here"/>', "It's here"),
        ("<meta property='og:title' content='broken 'quotes' here'><title>Whole</title>", "broken"),
        ('<meta property="og:title" content=""><meta property="og:title" content="Second">', "Second"),
        ('<meta property="og:title" content="One"><meta property="og:title" content="Two">', "One"),
        ("<title>I <3 frost</title>", "I <3 frost"),
        ("<title>\n  Several\n  lines\t</title>", "Several lines"),
        ("<title>First</title><title>Second</title>", "First"),
        ("<title lang=en>&#x1F331; growing</title>", "🌱 growing"),
        ("<title>&#55356;&#57137; half</title>", "�� half"),
        ("<!-- <title>Old</title> --><title>New</title>", "New"),
        ("<script>var t = '<title>Script</title>'</script><title>Real</title>", "Real"),
        ("<title>Never closed", "Never closed"),
    ],
)
def test_titles_are_written_in_many_ways(head, title):
    assert describe(f"<html><head>{head}").title == title


@pytest.mark.parametrize(
    "date", ["", "yesterday", "0001-01-01", "2062-01-01", "2026-13-01", "9" * 50, "1970-01-01T00:00Z"]
)
def test_a_date_that_makes_no_sense_is_none(date):
    assert describe(f'<meta property="article:published_time" content="{date}">').published_at is None


def test_a_date_without_a_zone_is_in_utc():
    found = describe('<meta itemprop="datePublished" content="2026-11-01">').published_at
    assert found == datetime(2026, 11, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "piece",
    [
        "<meta ",
        '<meta content="',
        "<meta content='a' ",
        "<title>",
        "<title",
        "<title><",
        "<meta \"<meta '",
        "<meta " + "'\"" * 1_900 + ">",
    ],
)
def test_two_megabytes_of_malice_take_no_time(piece):
    body = (piece * (pages.LARGEST_PAGE // len(piece))).encode()
    started = time.monotonic()
    describe(body)
    assert time.monotonic() - started < 5
