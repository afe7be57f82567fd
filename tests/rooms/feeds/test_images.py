"""Which picture stands for a post, in the shapes that real blogs publish."""

import time
from html import escape

import pytest

from tests.rooms.feeds.parsing import parse

HERE = "https://blog.example.org/2026/post/"
REAL = "https://cdn.example.org/real.jpg"
PREFIXES = (
    'xmlns:media="http://search.yahoo.com/mrss/" xmlns:content="http://purl.org/rss/1.0/modules/content/" '
    'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"'
)


def image(inside: str) -> str:
    entry = f"<item><guid>1</guid><link>{HERE}</link>{inside}</item>"
    return parse(f'<rss version="2.0" {PREFIXES}><channel><title>t</title>{entry}</channel></rss>').entries[0].image


def text(markup: str) -> str:
    return f"<description>{escape(markup)}</description>"


def test_the_thumbnail_goes_before_the_first_picture_of_the_text():
    assert image(f'<media:thumbnail url="{REAL}"/>{text("<img src=/in-text.png>")}') == REAL
    assert image(f'{text("<img src=/in-text.png>")}<enclosure url="{REAL}" type="image/jpeg" length="1"/>') == REAL


def test_the_first_picture_of_the_content_is_found_beside_a_summary():
    """As WordPress writes it: the excerpt has no picture, the whole post has."""
    content = f"<content:encoded><![CDATA[<p>All of it</p><img src='{REAL}'>]]></content:encoded>"
    assert image(f"<description>The beginning</description>{content}") == REAL
    atom = (
        f'<entry><id>1</id><summary>a</summary><content type="html">{escape(f"<img src={REAL}>")}</content></entry>'
    )
    assert parse(f'<feed xmlns="http://www.w3.org/2005/Atom">{atom}</feed>').entries[0].image == REAL
    item = f'{{"id": "1", "summary": "a", "content_html": "<img src=\\"{REAL}\\">"}}'
    assert parse(f'{{"version": "https://jsonfeed.org/version/1.1", "items": [{item}]}}').entries[0].image == REAL


@pytest.mark.parametrize(
    "inside",
    [
        f'<media:thumbnail url="/75.jpg" width="75"/><media:thumbnail url="{REAL}" width="800"/>',
        f'<media:content width="140" url="/140.jpg"/><media:content width="460" url="{REAL}"/>',
        f'<media:content width="4000" url="/x.png"/><media:content width="700" medium="image" url="{REAL}"/>',
        f'<media:content url="https://gravatar.com/avatar/a" medium="image"/><media:content url="{REAL}"/>',
        f'<media:group><media:content url="/v.mp4" type="video/mp4"/><media:thumbnail url="{REAL}"/></media:group>',
        f'<enclosure url="/a.mp3" type="audio/mpeg" length="1"/><itunes:image href="{REAL}"/>',
        f'<enclosure url="{REAL}" length="0"/>',
        f'<media:thumbnail url="/logo.svg"/><media:content url="{REAL}" medium="image"/>',
        f'<media:thumbnail url="data:image/gif;base64,R0lG"/>{text(f"<img src={REAL}>")}',
    ],
)
def test_what_is_attached_in_the_size_of_a_mail(inside):
    assert image(inside) == REAL


def test_what_is_listened_to_or_watched_is_no_picture():
    assert image('<enclosure url="/a.mp3" type="audio/mpeg" length="1"/>') == ""
    assert image('<enclosure url="/a.mp3" length="1"/><media:content url="/a.mp4" medium="video"/>') == ""
    assert image(f'<enclosure url="/a.mp3" type="audio/mpeg" length="1"/>{text(f"<img src={REAL}>")}') == REAL


@pytest.mark.parametrize(
    "before",
    [
        '<img src="https://t.example.org/p.gif" width="1" height="1">',
        '<img src="https://t.example.org/p.gif" height=0>',
        '<img src="https://t.example.org/p.gif" style="width:1px;height:1px">',
        '<img src="https://t.example.org/p.gif" style="display: none">',
        '<img src="data:image/png;base64,AA">',
        '<img src="https://img.example.org/badge.svg?style=flat">',
        '<img src="https://s.w.org/images/1f642.png" class="wp-smiley" style="height: 1em; max-height: 1em;">',
        '<img src="https://s.w.org/images/1f642.png" style="height: 1em">',
        '<img class="emoji" src="https://cdn.example.org/mailer/emoji/smiley.png">',
        "<img>",
        "<!-- <img src=/comment.png> -->",
        "<p title='<img src=/attribute.png>'>",
    ],
)
def test_a_picture_that_shows_nothing_of_the_post_is_passed_over(before):
    assert image(text(f"<p>Hello</p>{before}<p><img src={REAL}></p>")) == REAL
    assert image(text(before)) == ""


@pytest.mark.parametrize(
    "markup",
    [
        f'<img src="data:image/gif;base64,R0lG" data-src="{REAL}">',
        f'<img class="lazy" src="/images/lazyload.gif#center" data-src="{REAL}">',
        f'<img src="/blank.gif" data-lazy-src="{REAL}" data-lazy-srcset="/300.jpg 300w">',
        f'<img src="data:image/gif;base64,R0lG"><noscript><img src="{REAL}"></noscript>',
        f'<img srcset="/300.jpg 300w, {REAL} 1024w, /4000.jpg 4000w">',
        f'<img data-srcset="{REAL} 640w,/300.jpg 300w" src="data:,">',
        f'<img alt="a > b" src="{REAL}">',
        f"<IMG\nSRC={REAL}\n/>",
        f'<figure><picture><source srcset="/a.avif"><img src="{REAL}"></picture></figure>',
    ],
)
def test_pictures_that_a_script_would_load(markup):
    assert image(text(markup)) == REAL


def test_relative_addresses_of_rss_are_relative_to_the_post():
    assert image(text("<img src=shot.jpg>")) == f"{HERE}shot.jpg"
    assert image(text("<img src='/shot.jpg?a=1&amp;b=2'>")) == "https://blog.example.org/shot.jpg?a=1&b=2"


def test_relative_addresses_of_atom_are_relative_to_its_base():
    entry = (
        '<entry xml:base="2026/"><id>1</id><link href="p/"/><content type="html" xml:base="deep/">'
        "&lt;img src=x.png&gt;</content></entry>"
    )
    feed = parse(f'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://b.example.org/base/">{entry}</feed>')
    assert feed.entries[0].image == "https://b.example.org/base/2026/deep/x.png"


def test_a_json_feed_names_or_attaches_its_picture():
    def json(item: str) -> str:
        items = f'{{"id": "1", "content_html": "<img src=/in-text.png>", {item}}}'
        return parse(f'{{"version": "https://jsonfeed.org/version/1.1", "items": [{items}]}}').entries[0].image

    assert json(f'"banner_image": "{REAL}"') == REAL
    assert json(f'"attachments": [{{"url": "{REAL}", "mime_type": "image/jpeg"}}]') == REAL
    assert json('"image": "javascript:alert(1)"') == "https://blog.example.org/in-text.png"


@pytest.mark.parametrize(
    "markup", ["<img " * 20_000, "<img src='" * 20_000, "<noscript" * 20_000, "<img style='" + "width:" * 3_000]
)
def test_hostile_text_takes_no_time(markup):
    started = time.monotonic()
    image(text(markup))
    assert time.monotonic() - started < 2
