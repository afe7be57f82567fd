from datetime import UTC, datetime

import pytest

from chalicelib.following.providers.contract import (
    Access,
    Down,
    Forbidden,
    Found,
    Known,
    ProviderFailed,
    Reference,
    Throttled,
    Unknown,
)
from chalicelib.following.providers.registry import SOURCES, recognise
from chalicelib.inbox.model import ContentType, Provider
from tests.rooms.following.providers.sources import FEED, PODCAST

RSS = SOURCES[Provider.RSS]
NOBODY = Access()
HTML = {"Content-Type": "text/html; charset=utf-8"}


def resolve(url):
    return RSS.resolve(Reference(Provider.RSS, "url", url), NOBODY)


def latest(channel_id, **known):
    return RSS.latest(Known(channel_id, **known), NOBODY)


def serve(web, body):
    web.answers[FEED.removeprefix("https://")] = (200, body if isinstance(body, bytes) else body.encode())


def entries(inside):
    return f'<rss version="2.0"><channel><title>t</title>{inside}</channel></rss>'


def test_a_podcast_and_an_article_are_told_apart_by_what_is_attached(web):
    serve(web, PODCAST)
    podcast, article = latest(FEED).items
    assert podcast == Found(
        id="e-3",
        title="Third & last",
        url="https://cdn.example.org/3.mp3",
        content_type=ContentType.PODCAST,
        published_at=datetime(2026, 11, 10, 8, tzinfo=UTC),
        excerpt="All about bridges.",
        image="https://blog.example.org/b.jpg",
        duration_seconds=3_723,
        told_at=FEED,
    )
    assert article.content_type is ContentType.ARTICLE
    assert article.url == "https://blog.example.org/posts/2"


def test_a_feed_tells_about_itself_and_its_hub(web):
    serve(web, PODCAST)
    page = latest(FEED)
    assert page.channel.name == "Talks & Walks"
    assert page.channel.description == "Weekly talks"
    assert page.channel.image_url == "https://blog.example.org/cover.jpg"
    assert page.channel.external_url == "https://blog.example.org/"
    assert (page.hub, page.topic) == ("https://hub.example.org/", FEED)
    assert page.channel == resolve(FEED)


def test_an_entry_of_the_future_is_not_published_yet(web):
    serve(web, PODCAST)
    assert "e-9" not in {found.id for found in latest(FEED).items}


def test_an_entry_without_link_leads_to_what_is_attached_or_to_the_feed(web):
    serve(web, entries("<item><title>x</title><guid isPermaLink='false'>1</guid></item>"))
    assert latest(FEED).items[0].url == FEED


def test_an_entry_without_title_is_called_by_its_first_words(web):
    serve(web, entries("<item><guid>1</guid><description>A note without a title.</description></item>"))
    assert latest(FEED).items[0].title == "A note without a title."


def test_long_texts_and_ids_are_cut(web):
    words = "word " * 5_000
    inside = f"<item><title>{words}</title><guid>{'g' * 3_000}</guid><description>{words}</description></item>"
    serve(web, entries(inside * 2))
    (found,) = latest(FEED).items
    assert (len(found.id), found.id[:7]) == (71, "sha256:")
    assert len(found.title) <= 300
    assert len(found.excerpt) <= 500


def test_of_a_whole_archive_only_the_newest_are_taken(web):
    days = [
        f"<pubDate>{day % 28 + 1:02} {month} 20{year} 08:00:00 +0000</pubDate>"
        for day in range(28)
        for month in ("Jan", "Feb")
        for year in (20, 26)
    ]
    serve(web, entries("".join(f"<item><guid>{number}</guid>{day}</item>" for number, day in enumerate(days))))
    page = latest(FEED)
    assert page.has_older
    assert len(page.items) == 100
    assert len([found for found in page.items if found.published_at.year == 2026]) == 56


def test_a_feed_of_youtube_is_a_feed_like_any_other(web):
    url = "https://www.youtube.com/feeds/videos.xml?playlist_id=PL1"
    feed = """<feed xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns:media="http://search.yahoo.com/mrss/"
     xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="http://www.youtube.com/feeds/videos.xml?playlist_id=PL1"/>
     <id>yt:playlist:PL1</id><yt:playlistId>PL1</yt:playlistId><title>Walks</title>
     <entry><id>yt:video:aaaaaaaaaa1</id><yt:videoId>aaaaaaaaaa1</yt:videoId><title>Bow &amp; Arrow</title>
     <link rel="alternate" href="https://www.youtube.com/watch?v=aaaaaaaaaa1"/><published>2026-11-14T09:00:00+00:00</published>
     <media:group><media:title>Bow</media:title><media:thumbnail url="https://i.ytimg.com/vi/aaaaaaaaaa1/hqdefault.jpg"/>
     <media:description>About it.</media:description></media:group></entry></feed>"""
    web.answers["www.youtube.com/feeds/videos.xml"] = (200, feed.encode())
    assert recognise(url).provider is Provider.RSS
    (found,) = latest(url).items
    assert (found.title, found.content_type) == ("Bow & Arrow", ContentType.ARTICLE)
    assert found.url == "https://www.youtube.com/watch?v=aaaaaaaaaa1"
    assert found.image == "https://i.ytimg.com/vi/aaaaaaaaaa1/hqdefault.jpg"


def test_a_feed_that_has_not_changed_is_not_read_again(blog):
    blog.etag = True
    first = latest(f"{blog.url}/feed.xml")
    again = latest(f"{blog.url}/feed.xml", validators=first.validators)
    assert (len(first.items), first.unchanged) == (1, False)
    assert (again.items, again.unchanged, again.validators) == ((), True, first.validators)
    assert blog.asked[1]["if-none-match"]


def test_a_feed_that_claims_not_to_have_changed_before_it_was_ever_read_is_not_believed(blog):
    blog.answer = (304, {}, b"")
    with pytest.raises(Down):
        latest(f"{blog.url}/feed.xml")


def test_a_feed_that_has_moved_for_good_is_known_by_its_new_address(blog):
    blog.answer = (301, {"Location": "/moved.xml"}, b"")
    assert resolve(f"{blog.url}/feed.xml#top").channel_id == f"{blog.url}/moved.xml"
    assert latest(f"{blog.url}/feed.xml").url == f"{blog.url}/moved.xml"
    assert latest(f"{blog.url}/gone.xml", url=f"{blog.url}/moved.xml").url == f"{blog.url}/moved.xml"
    blog.answer = (302, {"Location": "/moved.xml"}, b"")
    assert resolve(f"{blog.url}/feed.xml").channel_id == f"{blog.url}/feed.xml"


def test_a_page_names_its_feed(blog):
    head = '<html><head><base href="/blog/"><link rel=alternate type=application/rss+xml href="../moved.xml#x">'
    blog.answer = (200, HTML, f"{head}<title>Blog</title>".encode())
    channel = resolve(f"{blog.url}/")
    assert channel.channel_id == f"{blog.url}/moved.xml"
    assert channel.name == "Blog"


def test_a_page_that_names_no_feed_is_none(blog):
    blog.answer = (200, HTML, b"<html><title>Nothing here</title>")
    with pytest.raises(Unknown):
        resolve(f"{blog.url}/")


def test_a_page_that_names_itself_or_another_page_is_none(blog):
    blog.answer = (200, HTML, b"<html><link rel=alternate type=application/rss+xml href=/feed.xml>")
    with pytest.raises(Unknown):
        resolve(f"{blog.url}/")
    assert len(blog.asked) == 3


def test_a_page_that_is_too_large_is_not_read_to_its_end(blog):
    blog.answer = (200, HTML, b"<html>" + b"x" * 2_100_000)
    with pytest.raises(Down):
        resolve(f"{blog.url}/")


def test_what_must_not_be_connected_to_does_not_exist():
    for url in ("http://127.0.0.1/feed.xml", "http://10.0.0.1/", "http://[::1]/", "http://example.org:22/"):
        with pytest.raises(Unknown):
            resolve(url)


@pytest.mark.parametrize(
    ("status", "when_new", "later"),
    [
        *((404, Unknown, Down), (410, Unknown, Unknown), (403, Forbidden, Forbidden), (401, Forbidden, Forbidden)),
        *((429, Throttled, Throttled), (500, Down, Down), (204, Down, Down)),
    ],
)
def test_what_a_status_means(blog, status, when_new, later):
    """A feed that was there yesterday and is not found today may be back tomorrow."""
    blog.answer = (status, {"Retry-After": "7200"}, b"")
    for call, expected in ((resolve, when_new), (latest, later)):
        with pytest.raises(ProviderFailed) as failed:
            call(f"{blog.url}/feed.xml")
        assert type(failed.value) is expected
        assert failed.value.retry_after == (0 if expected is Unknown else 7_200)


def test_a_feed_that_is_broken_or_a_page_today_says_nothing(blog):
    for body in (b"<html>maintenance", b"<rss><channel><item>", b""):
        blog.answer = (200, {}, body)
        with pytest.raises(Down):
            latest(f"{blog.url}/feed.xml")


def test_feeds_have_neither_accounts_nor_a_search():
    for call in (lambda: RSS.mine(NOBODY), lambda: RSS.search("x", 5, NOBODY), lambda: RSS.refresh(["1"], NOBODY)):
        with pytest.raises(Unknown):
            call()


def test_an_address_is_kept_without_its_fragment():
    assert RSS.check_id("https://blog.example.org/feed?a=1#top") == "https://blog.example.org/feed?a=1"
    assert recognise("feed://blog.example.org/feed#top").value == "https://blog.example.org/feed"
    assert recognise("feed:http://blog.example.org/feed").value == "http://blog.example.org/feed"
    assert recognise("blog.example.org").value == "https://blog.example.org"


def test_entries_that_share_a_page_have_none_of_their_own(web):
    serve(
        web,
        entries(
            "<link>https://example.org/show</link>"
            + "".join(
                f"<item><guid>{n}</guid><link>https://example.org/all?utm_source={n}</link></item>" for n in (1, 2)
            )
            + "<item><guid>3</guid><link>https://example.org/three</link></item>"
            + "<item><guid>4</guid><link>https://www.example.org/show/</link></item>"
        ),
    )
    assert [found.has_own_page for found in latest(FEED).items] == [False, False, True, False]
