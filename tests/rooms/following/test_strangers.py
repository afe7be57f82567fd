"""Feeds and hubs that may be anybody's: how often they make us poll, how much they bring at once, and whom they make
us ask. Nothing is lost by these limits; it comes later."""

from datetime import timedelta

import pytest

from chalicelib.feeds import websub_store
from chalicelib.following import asking
from chalicelib.following.stores import creators, polls
from chalicelib.kernel import clock
from tests.rooms.following.conftest import ALLOTMENT
from tests.rooms.following.test_push import push


@pytest.fixture
def following(member, blog):
    """A member who follows a feed that names a hub."""
    return follow(member("ada"), blog)


def follow(owner, blog):
    blog.etag, blog.hub = True, f"{blog.url}/hub"
    owner.followed = owner.follow_url(f"{blog.url}/feed.xml").json
    return owner


def creator_of(owner):
    return creators.find(owner.followed["creator_id"])


def publish_many(blog, many, first=0):
    for number in range(first, first + many):
        blog.publish(f"Post {number}", clock.now() - timedelta(hours=24) + timedelta(minutes=number))


def posts(first, last):
    """As the inbox lists them, the newest on top."""
    return [f"Post {number}" for number in range(last, first - 1, -1)]


def test_many_pushes_make_one_poll_and_what_they_announce_comes_later(following, blog, work, later, sweep):
    later(minutes=6)
    blog.asked.clear()
    for number in range(5):
        blog.publish(f"Pushed {number}", clock.now() + timedelta(seconds=number - 10))
        assert push(following, method="sha256").status == 202
        work()
    assert len(blog.asked) == 1
    assert following.titles() == ["Pushed 0", "Hello"]
    creator = creator_of(following)
    assert creator.next_poll_at == creator.attempted_at + timedelta(minutes=5)
    later(minutes=6)
    sweep()
    assert following.titles() == [*(f"Pushed {number}" for number in (4, 3, 2, 1, 0)), "Hello"]


def test_a_feed_that_fails_is_not_polled_more_often_for_its_pushes(following, blog, work, later):
    later(minutes=6)
    blog.answer = (500, {}, b"")
    blog.asked.clear()
    for _ in range(3):
        push(following, method="sha256")
        work()
    assert len(blog.asked) == 1


def test_a_push_while_the_feed_is_being_polled_makes_it_due_after_that(following, blog, work, later):
    later(minutes=6)
    lease = polls.claim(following.followed["creator_id"], clock.now())
    push(following, method="sha256")
    work()
    polls.settle(lease, lease.creator)
    creator = creator_of(following)
    assert creator.next_poll_at == creator.attempted_at + timedelta(minutes=5)


def test_a_push_puts_nothing_off(following, work, later):
    later(minutes=2)
    creators.wake(creator_of(following), clock.now())
    due_at = creator_of(following).next_poll_at
    push(following, method="sha256")
    work()
    assert creator_of(following).next_poll_at == due_at


def test_a_poll_brings_twenty_and_the_rest_follows_oldest_first(following, blog, later, sweep):
    publish_many(blog, 45)
    later(days=1)
    sweep()
    assert following.titles() == [*posts(0, 19), "Hello"]
    for last in (39, 44):
        later(minutes=16)
        sweep()
        assert following.titles() == [*posts(0, last), "Hello"]
    later(days=1)
    sweep()
    assert len(following.titles()) == 46


def test_what_comes_meanwhile_arrives_too_and_what_was_dismissed_does_not_come_back(following, blog, later, sweep):
    publish_many(blog, 25)
    later(days=1)
    sweep()
    following.triage("Post 3", "dismiss")
    blog.publish("Meanwhile", clock.now())
    later(minutes=16)
    sweep()
    kept = [title for title in posts(0, 24) if title != "Post 3"]
    assert following.titles() == ["Meanwhile", *kept, "Hello"]


def test_a_poll_that_dies_and_is_repeated_brings_each_once(following, blog, later, sweep, monkeypatch):
    publish_many(blog, 25)
    later(days=1)
    with monkeypatch.context() as patched:
        patched.setattr(polls, "settle", _die)
        with pytest.raises(RuntimeError):
            sweep()
    for _ in range(2):
        later(minutes=16)
        sweep()
    assert following.titles() == [*posts(0, 24), "Hello"]


def test_newest_only_takes_the_newest_of_all_of_them(following, blog, later, sweep):
    following.set_options(following.followed, newest_only=True)
    publish_many(blog, 25)
    later(days=1)
    sweep()
    assert following.titles() == ["Hello"]
    later(minutes=16)
    sweep()
    assert following.titles() == ["Post 24"]


def test_who_begins_to_follow_meanwhile_gets_the_latest_only(following, member, blog, later, sweep):
    publish_many(blog, 45)
    later(days=1)
    sweep()
    bob = member("bob")
    bob.follow_url(f"{blog.url}/feed.xml")
    assert bob.titles() == ["Post 44"]
    for _ in range(3):
        later(minutes=16)
        sweep()
    assert bob.titles() == ["Post 44"]
    assert following.titles() == [*posts(0, 44), "Hello"]


def test_who_pauses_meanwhile_misses_nothing(following, blog, later, sweep):
    publish_many(blog, 25)
    later(days=1)
    sweep()
    following.act(following.followed, "pause")
    later(minutes=16)
    sweep()
    following.act(following.followed, "resume")
    later(minutes=16)
    sweep()
    assert sorted(following.titles()) == sorted([*posts(0, 24), "Hello"])


def test_the_first_fetch_takes_the_latest_and_counts_all_others_as_seen(desk, blog, later, sweep):
    publish_many(blog, 45)
    desk.follow_url(f"{blog.url}/feed.xml")
    assert desk.titles() == ["Post 44"]
    later(days=1)
    sweep()
    assert desk.titles() == ["Post 44"]


def test_what_the_desk_follows_has_no_such_limits(desk, blog, work, later, sweep):
    follow(desk, blog)
    for number in range(2):
        blog.publish(f"Pushed {number}", clock.now() + timedelta(seconds=number - 10))
        push(desk, method="sha256")
        work()
    assert desk.titles() == ["Pushed 1", "Pushed 0", "Hello"]
    publish_many(blog, 25)
    later(days=1)
    sweep()
    assert len(desk.titles()) == 28


def test_a_channel_of_youtube_has_no_such_limit(desk, monkeypatch, later, sweep):
    monkeypatch.setattr(asking, "MOST_NEW", 1)
    desk.follow("YOUTUBE", ALLOTMENT)
    for number in range(3):
        desk.providers.publish(ALLOTMENT, f"Video {number}")
    later(days=1)
    sweep()
    assert len(desk.titles()) == 4


def test_a_feed_changes_its_hub_once_a_day(following, blog, later, sweep):
    assert [path for path, _ in blog.posted] == ["/hub"]
    for number in range(5):
        blog.hub = f"{blog.url}/hub{number}"
        later(hours=1)
        creators.wake(creator_of(following), clock.now())
        sweep()
    assert [path for path, _ in blog.posted] == ["/hub"]
    later(days=1)
    blog.publish("Next", clock.now())
    sweep()
    assert [path for path, _ in blog.posted] == ["/hub", "/hub4", "/hub"]
    assert {one.hub for one in websub_store.list_subscriptions(following.followed["creator_id"])} == {
        f"{blog.url}/hub",
        f"{blog.url}/hub4",
    }


def _die(*_, **__):
    raise RuntimeError
