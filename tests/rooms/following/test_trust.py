"""Whose words are shown when several tell of one page: the provider's, the desk's, those of the page's own site."""

import pytest

from chalicelib.following import fan_out, polling
from chalicelib.following.polling import Cause
from chalicelib.following.providers.contract import Access, Found, Known
from chalicelib.following.providers.registry import SOURCES
from chalicelib.inbox import links
from chalicelib.inbox import service as inbox
from chalicelib.inbox.model import ContentType, Provider, Trust
from chalicelib.kernel import clock
from tests.rooms.following.conftest import ALLOTMENT
from tests.rooms.following.made import creator_of, follow

_ITEM = (
    "<item><title>{0}</title><guid>{0}</guid><link>{1}</link><pubDate>{2:02} Nov 2026 08:00:00 +0000</pubDate></item>"
)


def publish(blog, *entries):
    """The feed from now on: title and link of each, the newest last."""
    items = "".join(_ITEM.format(title, link, at + 1) for at, (title, link) in enumerate(entries))
    site = "https://links.example/"
    feed = f'<rss version="2.0"><channel><title>Links</title><link>{site}</link>{items}</channel></rss>'
    blog.answer = (200, {}, feed.encode())


def poll(followed):
    polling.poll(followed["creator_id"], Cause.SCHEDULE)


@pytest.fixture
def channel(desk, pushed, later, sweep):
    """The desk follows it, and its hub has confirmed."""
    desk.channel = desk.follow("YOUTUBE", ALLOTMENT)
    pushed()
    later(days=1)
    sweep()
    pushed()
    return desk


@pytest.mark.parametrize("who", ["desk", "ada"])
def test_a_video_is_its_channel_s_although_a_blog_mentioned_it_first(channel, blog, member, pushed, work, who):
    owner = channel if who == "desk" else member("ada")
    publish(blog, ("First", "https://links.example/first"))
    followed = owner.follow_url(f"{blog.url}/feed.xml").json
    video = channel.providers.publish(ALLOTMENT, "As the channel calls it")
    watch = f"https://www.youtube.com/watch?v={video}"
    publish(blog, ("First", "https://links.example/first"), ("You must watch this", watch))
    poll(followed)
    (mentioned,) = [entry for entry in owner.inbox() if entry["title"] == "You must watch this"]
    assert (mentioned["provider"], mentioned["duration_seconds"]) == ("RSS", None)
    pushed()
    work()
    for box in (owner, channel):
        (entry,) = [entry for entry in box.inbox() if entry["id"] == mentioned["id"]]
        assert (entry["title"], entry["provider"]) == ("As the channel calls it", "YOUTUBE")
        assert (entry["content_type"], entry["duration_seconds"] or 0) > ("VIDEO", 0)
    channel.providers.delete(video)
    pushed()
    work()
    for box in (owner, channel):
        assert mentioned["id"] not in [entry["id"] for entry in box.inbox()]


@pytest.mark.parametrize(
    ("provider", "told_at", "url", "trust"),
    [
        (Provider.YOUTUBE, "", "https://www.youtube.com/watch?v=dQw4w9WgXcQ", Trust.PROVIDER),
        (Provider.RSS, "https://www.paper.example/feed", "https://paper.example/story", Trust.READ),
        (Provider.RSS, "https://evil.example/feed", "https://paper.example/story", Trust.CLAIMED),
        (Provider.RSS, "https://paper.example.evil.example/", "https://paper.example/story", Trust.CLAIMED),
        (Provider.RSS, "https://evil.example/feed", "https://paper.example/", Trust.READ),
        (Provider.RSS, "", "https://paper.example/story", Trust.CLAIMED),
    ],
)
@pytest.mark.usefixtures("aws")
def test_a_feed_is_believed_of_its_own_site(provider, told_at, url, trust):
    """And of what has no page of its own: nobody else can tell of it."""
    found = Found("1", "Title", url, ContentType.ARTICLE, told_at=told_at)
    assert fan_out.to_item(creator_of(follow(provider=provider)), found, clock.now()).trust is trust


def test_a_feed_is_where_it_was_read_and_not_where_it_was_asked_for(blog, desk):
    blog.answer = (302, {"Location": f"{blog.url}/moved.xml"}, b"")
    read = SOURCES[Provider.RSS].latest(Known(f"{blog.url}/feed.xml"), Access())
    assert {one.told_at for one in read.items} == {f"{blog.url}/moved.xml"}


@pytest.fixture
def claimed(blog, desk, member):
    """Her feed and one that the desk follows tell of the same page; hers was first."""
    story, ada = "https://paper.example/story", member("ada")
    publish(blog, ("First", "https://links.example/first"))
    desk.followed = desk.follow_url(f"{blog.url}/feed.xml").json
    desk.act(desk.followed, "pause")
    publish(blog, ("Fake", story), ("Last", "https://links.example/last"))
    hers = ada.follow_url(f"{blog.url}/hers.xml").json
    publish(blog, ("Fake", story), ("Last", "https://links.example/last"), ("Fake again", f"{story}2"))
    poll(hers)
    assert "Fake again" in ada.titles()
    return f"{story}2"


def test_who_comes_back_from_a_pause_gets_the_words_of_the_feed(claimed, desk, blog, member):
    publish(blog, ("First", "https://links.example/first"), ("As our feed calls it", claimed))
    member("bob").follow_url(f"{blog.url}/feed.xml")
    poll(desk.followed)
    desk.act(desk.followed, "resume")
    poll(desk.followed)
    assert "As our feed calls it" in desk.titles()
    assert inbox.find_item(links.item_id(links.identify(claimed))).trust is Trust.DESK_CLAIMED


def test_who_begins_to_follow_gets_the_words_of_the_feed(claimed, blog, desk, member):
    publish(blog, ("As this feed calls it", claimed))
    member("bob").follow_url(f"{blog.url}/other.xml")
    assert desk.follow_url(f"{blog.url}/other.xml").status == 201
    assert desk.titles()[0] == "As this feed calls it"
