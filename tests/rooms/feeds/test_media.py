import pytest

from chalicelib.feeds.reading import media
from tests.rooms.feeds.parsing import item, parse

ITUNES = 'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"'


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(
            ("1:02:03", 3_723),
            ("62:03", 3_723),
            ("3723", 3_723),
            (" 3723.9 ", 3_723),
            ("00:00:07", 7),
            ("100:00:00", 360_000),
        ),
        *(("0", None), ("", None), ("soon", None), ("1:2:3:4", None), ("-5", None), ("99999999", None), ("٣", None)),
    ],
)
def test_durations_as_authors_write_them(text, seconds):
    assert media.parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("enclosure", "audio"),
    [
        ('<enclosure url="/1.mp3" type="audio/mpeg" length="5"/>', "https://blog.example.org/1.mp3"),
        ('<enclosure url="https://cdn.example.org/1.mp3?x=1"/>', "https://cdn.example.org/1.mp3?x=1"),
        (
            '<enclosure url="/1.jpg" type="image/jpeg"/><enclosure url="/1" type="AUDIO/ogg"/>',
            "https://blog.example.org/1",
        ),
        ('<enclosure url="/1.mp4" type="video/mp4"/>', ""),
        ('<enclosure url="javascript:alert(1)" type="audio/mpeg"/>', ""),
        ("<enclosure/>", ""),
    ],
)
def test_what_can_be_listened_to(enclosure, audio):
    assert parse(item(f"<title>x</title>{enclosure}")).entries[0].audio == audio


def test_how_long_it_is_and_what_the_feed_says_about_itself():
    feed = parse(
        f"""<rss version="2.0" {ITUNES}><channel><title>t</title><link>/home</link>
        <description>All &lt;b&gt;of&lt;/b&gt; it</description><image><url>/i.png</url></image>
        <item><guid>1</guid><itunes:duration>10:00</itunes:duration></item></channel></rss>"""
    )
    assert (feed.link, feed.description) == ("https://blog.example.org/home", "All of it")
    assert feed.image == "https://blog.example.org/i.png"
    assert feed.entries[0].duration == 600


def test_a_picture_that_is_attached_is_the_entrys_picture():
    found = parse(item('<title>x</title><enclosure url="/1.jpg" type="image/jpeg"/>')).entries[0]
    assert found.image == "https://blog.example.org/1.jpg"


def test_a_json_feed_attaches_them_too():
    feed = parse(
        """{"version": "https://jsonfeed.org/version/1.1", "title": "t", "home_page_url": "/",
        "description": "All\\nof it", "icon": "/i.png", "items": [{"id": "1", "attachments": [7, null, {"url": 7},
        {"url": "/1.mp3", "mime_type": "audio/mpeg", "duration_in_seconds": 61.5}]},
        {"id": "2", "attachments": "x"}]}"""
    )
    assert (feed.link, feed.description, feed.image) == (
        "https://blog.example.org/",
        "All of it",
        "https://blog.example.org/i.png",
    )
    assert [(entry.audio, entry.duration) for entry in feed.entries] == [
        ("https://blog.example.org/1.mp3", 61),
        ("", None),
    ]
