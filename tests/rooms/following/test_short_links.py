"""An entry with a short link is the page it leads to, and one entry, whatever dies or fails."""

import threading

import pytest

from chalicelib.following import polling, short_links
from chalicelib.following.model import Cause
from chalicelib.following.stores import polls
from chalicelib.kernel import clock
from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import FetchFailed
from tests.rooms.following.test_crashes import Died, die_at

PAGE = "https://garden.example/pruning"
_ITEM = (
    "<item><title>{0}</title><guid>{0}</guid><link>{1}</link><pubDate>{2:02} Nov 2026 08:00:00 +0000</pubDate></item>"
)


class Shortener:
    """`leads` has where each link leads; one that is not in it does not answer."""

    def __init__(self):
        self.leads, self.asked, self.seconds = {}, [], []
        self._lock = threading.Lock()

    def find_redirect(self, url, seconds):
        with self._lock:
            self.asked.append(url)
            self.seconds.append(seconds)
        if url not in self.leads:
            raise FetchFailed("timeout", "no complete response in time")
        return self.leads[url]


@pytest.fixture
def shortener(monkeypatch):
    found = Shortener()
    monkeypatch.setattr(client, "find_redirect", found.find_redirect)
    return found


def publish(blog, *links, site="https://garden.example/"):
    """The feed from now on: the newest last. What an entry is called says which one it is."""
    items = "".join(_ITEM.format(f"Entry {at}", link, at + 1) for at, link in enumerate(links))
    feed = f'<rss version="2.0"><channel><title>Links</title><link>{site}</link>{items}</channel></rss>'
    blog.answer = (200, {}, feed.encode())


@pytest.fixture
def follow(desk, blog):
    """Follow the feed, which has one entry, and publish these after it."""

    def begin(*links):
        publish(blog, "https://garden.example/first")
        desk.followed = desk.follow_url(f"{blog.url}/feed.xml").json
        publish(blog, "https://garden.example/first", *links)
        return desk

    return begin


def addresses(desk):
    """Oldest first, without the first entry."""
    return [entry["canonical_url"] for entry in desk.inbox()][-2::-1]


def poll_dying(desk, monkeypatch, module, step, after=False):
    with monkeypatch.context() as patch:
        die_at(patch, module, step, after=after)
        with pytest.raises(Died):
            polling.poll(desk.followed["creator_id"], Cause.SCHEDULE)


@pytest.mark.parametrize(
    "link",
    [
        "https://bit.ly/3xYz",
        "http://t.co/abc",
        "https://www.tinyurl.com/pear",
        "http://feedproxy.google.com/~r/garden/~3/abc/",
        "https://feeds.feedburner.com/~r/garden/~3/abc/",
    ],
)
def test_a_short_link_is_the_page_it_leads_to(follow, shortener, later, sweep, link):
    desk = follow(link)
    shortener.leads[link] = f"{PAGE}?utm_source=twitter#top"
    later(days=1)
    sweep()
    assert addresses(desk) == [PAGE]


def test_the_same_page_by_a_short_link_and_by_itself_is_one_entry(follow, shortener, later, sweep, desk, monkeypatch):
    follow("https://t.co/abc")
    shortener.leads["https://t.co/abc"] = PAGE
    later(days=1)
    sweep()
    monkeypatch.setattr(client, "get", lambda *_: pytest.fail("known already"))
    saved = desk.call("POST", "inbox", json={"url": f"{PAGE}?fbclid=1"})
    assert (saved.status, saved.json["title"]) == (200, "Entry 1")


def test_one_that_leads_to_another_is_followed_and_the_page_is_not_asked(follow, shortener, later, sweep):
    desk = follow("https://t.co/abc")
    shortener.leads |= {"https://t.co/abc": "https://bit.ly/abc", "https://bit.ly/abc": PAGE}
    later(days=1)
    sweep()
    assert addresses(desk) == [PAGE]
    assert shortener.asked == ["https://t.co/abc", "https://bit.ly/abc"]


@pytest.mark.parametrize(
    "to",
    [
        None,
        "",
        "https://t.co/abc",
        "ftp://garden.example/x",
        "javascript:alert(1)",
        "https://garden.example/",
        "https://[x",
    ],
)
def test_one_that_leads_to_no_page_stays_as_it_is(follow, shortener, later, sweep, to):
    desk = follow("https://t.co/abc")
    shortener.leads["https://t.co/abc"] = to
    later(days=1)
    sweep()
    assert addresses(desk) == ["https://t.co/abc"]


def test_a_link_of_another_host_is_not_asked(follow, shortener, later, sweep):
    others = ["https://not-t.co/abc", "https://example.org/bit.ly/x", "https://feeds.feedburner.com/garden"]
    desk = follow(*others)
    later(days=1)
    sweep()
    assert addresses(desk) == others
    assert shortener.asked == []


def test_what_did_not_answer_stays_and_is_not_asked_again(follow, shortener, later, sweep):
    desk = follow("https://t.co/abc")
    for _ in range(3):
        later(days=1)
        sweep()
        shortener.leads["https://t.co/abc"] = PAGE
    assert addresses(desk) == ["https://t.co/abc"]
    assert shortener.asked == ["https://t.co/abc"]


STEPS = [(polling, "_deliver"), (polls, "settle"), (short_links, "resolve")]


@pytest.mark.parametrize("first", [None, PAGE], ids=["failed first", "answered first"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("module", "step"), STEPS, ids=[step for _, step in STEPS])
def test_a_poll_that_dies_and_is_repeated_brings_it_once(
    follow, shortener, later, sweep, monkeypatch, module, step, after, first
):
    desk = follow("https://t.co/abc")
    later(days=1)
    shortener.leads = {"https://t.co/abc": first} if first else {}
    poll_dying(desk, monkeypatch, module, step, after)
    shortener.leads = {} if first else {"https://t.co/abc": PAGE}
    for _ in range(2):
        later(minutes=5)
        sweep()
    assert len(addresses(desk)) == 1


def test_two_workers_make_one_entry_of_it(follow, shortener, monkeypatch, later):
    desk = follow("https://t.co/abc")
    later(days=1)
    id = desk.followed["creator_id"]
    find, asked = shortener.find_redirect, []

    def twin_meanwhile(url, seconds):
        if asked:
            raise FetchFailed("timeout", "not for the twin")
        asked.append(url)
        later(minutes=5)  # our lease is over
        polling.poll(id, Cause.PERSON)
        return find(url, seconds)

    shortener.leads["https://t.co/abc"] = PAGE
    monkeypatch.setattr(client, "find_redirect", twin_meanwhile)
    polling.poll(id, Cause.SCHEDULE)
    assert addresses(desk) == ["https://t.co/abc"], "the twin has decided first"


def test_who_follows_later_gets_the_same_item(follow, blog, shortener, member, later, sweep):
    desk = follow("https://t.co/abc")
    shortener.leads["https://t.co/abc"] = PAGE
    later(days=1)
    sweep()
    shortener.leads.clear()
    later(days=2)  # so that the feed is read for them
    ada = member("ada")
    assert ada.follow_url(f"{blog.url}/feed.xml").status == 201
    assert [entry["id"] for entry in ada.inbox()] == [desk.inbox()[0]["id"]]


def test_what_was_dismissed_does_not_come_back_by_following_again(follow, blog, shortener, later, sweep, settle):
    desk = follow("https://t.co/abc")
    later(days=1)
    sweep()
    shortener.leads["https://t.co/abc"] = PAGE
    desk.triage("Entry 1", "dismiss")
    desk.unfollow(desk.followed)
    settle()
    later(days=2)  # so that the feed is read for them
    desk.follow_url(f"{blog.url}/feed.xml")
    assert "Entry 1" not in desk.titles()


def test_several_that_lead_to_the_same_page_are_entries_of_their_own(follow, blog, shortener, later, sweep):
    links = [f"https://t.co/{number}" for number in range(3)]
    desk = follow(*links[:2])
    shortener.leads = dict.fromkeys(links, PAGE)
    later(days=1)
    sweep()
    publish(blog, "https://garden.example/first", *links)
    later(days=1)
    sweep()
    assert addresses(desk) == [PAGE, *links[1:]]


def test_one_that_leads_to_another_entry_or_to_the_site_stays(desk, blog, shortener, later, sweep):
    site = "https://garden.example/podcast"
    publish(blog, "https://garden.example/first", site=site)
    desk.follow_url(f"{blog.url}/feed.xml")
    links = ["https://t.co/site", "https://t.co/first"]
    publish(blog, "https://garden.example/first", *links, site=site)
    shortener.leads = dict(zip(links, [site, "https://garden.example/first"], strict=True))
    later(days=1)
    sweep()
    assert addresses(desk) == links


def test_of_many_only_the_newest_are_asked_and_none_is_lost(follow, shortener, later, sweep):
    links = [f"https://t.co/{number:02}" for number in range(15)]
    desk = follow(*links)
    shortener.leads = {link: f"{PAGE}/{link[-2:]}" for link in links}
    later(days=1)
    sweep()
    assert sorted(shortener.asked) == links[5:]
    assert addresses(desk) == [*links[:5], *(shortener.leads[link] for link in links[5:])]
    assert max(shortener.seconds) <= 4


def test_a_shortener_that_hangs_does_not_hold_up_the_poll(follow, monkeypatch, later):
    desk, released = follow("https://t.co/abc"), threading.Event()
    monkeypatch.setattr(short_links, "_SECONDS", 0.2)
    monkeypatch.setattr(client, "find_redirect", lambda url, seconds: released.wait(30) and PAGE)
    later(days=1)
    outcome = polling.poll(desk.followed["creator_id"], Cause.SCHEDULE)
    released.set()
    assert outcome.result is polling.Result.POLLED
    assert addresses(desk) == ["https://t.co/abc"]


def test_only_what_was_in_the_feed_last_is_remembered(follow, blog, shortener, later, sweep, monkeypatch):
    monkeypatch.setattr(short_links, "_REMEMBERED", 3)
    desk = follow()
    shortener.leads = {f"https://t.co/{number}": f"{PAGE}/{number}" for number in range(1, 9)}
    for number in range(1, 9):
        publish(blog, *(f"https://t.co/{other}" for other in range(number + 1)))
        later(days=1)
        sweep()
    row = short_links.store.find(desk.followed["creator_id"])
    assert list(row.pages.values()) == [f"{PAGE}/{number}" for number in (8, 7, 6)]


def test_what_is_remembered_is_not_kept_for_ever(follow, blog, shortener, later, sweep):
    desk = follow()
    shortener.leads = {"https://t.co/1": PAGE}
    publish(blog, "https://t.co/1")
    later(days=1)
    sweep()
    kept = short_links.store.PagesRow.get(desk.followed["creator_id"], "short links")
    days = (kept.expires_at - clock.epoch(clock.now())) / 86_400
    assert 399 < days <= 400
