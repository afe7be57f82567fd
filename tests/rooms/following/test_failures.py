"""Polls that fail: how long they wait, whom they are told, when nobody is to blame, and what a provider asks for."""

from datetime import timedelta

import pytest

from chalicelib.following import health, model, polling
from chalicelib.following.stores import creators
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock
from tests.rooms.following.conftest import ALLOTMENT, COMPOST, HEDGE, MEND, MOSS, SLOW_SOIL, TOOL_SHED

CHANNELS = (ALLOTMENT, HEDGE, MEND, COMPOST, MOSS)
OUT = (503, {}, b"")


@pytest.fixture
def feed(desk, blog):
    """A feed that is followed."""
    desk.followed = desk.follow_url(f"{blog.url}/feed.xml").json
    return desk


def creator_of(follow):
    found = creators.find(follow["creator_id"])
    assert found
    return found


def wait_of(follow):
    """Minutes until the next poll."""
    return (creator_of(follow).next_poll_at - clock.now()) / timedelta(minutes=1)


def test_the_ladder_is_a_quarter_of_an_hour_doubled_up_to_a_day():
    now = clock.now()
    waits = [(model.next_attempt(failures, now) - now) / timedelta(minutes=1) for failures in range(1, 12)]
    assert waits == [15, 30, 60, 120, 240, 480, 960, 1440, 1440, 1440, 1440]
    assert model.next_attempt(10_000, now) - now == timedelta(hours=24)


def test_a_feed_that_fails_is_asked_less_and_less_often_and_never_given_up(feed, blog, later, sweep):
    blog.answer = OUT
    later(days=1)
    waits = []
    for _ in range(9):
        sweep()
        waits.append(round(wait_of(feed.followed)))
        later(minutes=wait_of(feed.followed) + 0.1)
    assert waits == [15, 30, 60, 120, 240, 480, 960, 1440, 1440]
    assert feed.find(feed.followed)["status"] == "ACTIVE"
    blog.answer = None
    sweep()
    assert creator_of(feed.followed).failures == 0


def test_the_third_failure_in_a_row_is_told_and_a_success_resolves_it(feed, blog, later, sweep):
    blog.answer = OUT
    later(days=1)
    told = []
    for _ in range(4):
        sweep()
        told.append(feed.active())
        later(minutes=wait_of(feed.followed) + 0.1)
    assert told == [[], [], ["poll_failures"], ["poll_failures"]]
    (notification,) = feed.notifications()
    assert notification["provider"] == "RSS"
    assert notification["data"]["creator_id"] == feed.followed["creator_id"]
    blog.answer = None
    sweep()
    assert feed.active() == []


def test_a_failure_between_successes_is_not_told(feed, blog, later, sweep):
    for answer in (OUT, OUT, None, OUT, OUT, None):
        blog.answer = answer
        later(days=1)
        sweep()
    assert feed.notifications() == []


def fail_three_times(later, sweep):
    for _ in range(3):
        later(days=1)
        sweep()


def test_two_failing_feeds_are_one_notification_until_both_work(desk, blog, later, sweep):
    first = desk.follow_url(f"{blog.url}/feed.xml").json
    second = desk.follow_url(f"{blog.url}/other.xml").json
    blog.answer = OUT
    fail_three_times(later, sweep)
    assert desk.active() == ["poll_failures"]
    desk.act(first, "pause")
    blog.answer = None
    later(days=1)
    sweep()
    assert creator_of(second).failures == 0
    assert desk.active() == []


@pytest.mark.parametrize("leave", ["unfollow", "pause"])
def test_who_leaves_a_failing_feed_is_not_told_of_it_any_more(feed, blog, later, sweep, leave):
    blog.answer = OUT
    fail_three_times(later, sweep)
    assert feed.active() == ["poll_failures"]
    if leave == "unfollow":
        feed.unfollow(feed.followed)
    else:
        feed.act(feed.followed, "pause")
    assert feed.active() == []


def test_who_begins_to_follow_a_failing_feed_is_told_too(feed, member, blog, later, sweep):
    blog.answer = OUT
    fail_three_times(later, sweep)
    blog.answer = None
    ada = member("ada")
    hers = ada.follow_url(f"{blog.url}/feed.xml")
    assert hers.status == 201
    blog.answer = OUT
    fail_three_times(later, sweep)
    assert ada.active() == ["poll_failures"]


@pytest.fixture
def five(desk):
    desk.all = [desk.follow("YOUTUBE", channel) for channel in CHANNELS]
    return desk


def test_an_outage_of_the_provider_is_no_creators_failure(five, later, sweep):
    five.providers.set_fault("youtube", outage=True)
    later(days=2)
    for _ in range(6):
        sweep()
        later(minutes=15)
    assert five.notifications() == []
    assert max(creator_of(follow).failures for follow in five.all) <= 1
    assert all(wait_of(follow) <= 15 for follow in five.all)
    five.providers.set_fault("youtube", outage=False)
    five.providers.publish(MEND, "After the outage")
    sweep()
    assert "After the outage" in five.titles()


@pytest.mark.usefixtures("aws")
def test_one_that_fails_among_those_that_work_counts():
    now = clock.now().replace(minute=20)
    results = [health.record(Provider.YOUTUBE, worked, now) for worked in [True] * 9 + [False] * 8]
    assert not any(results)


@pytest.mark.usefixtures("aws")
def test_most_of_the_last_polls_decide():
    now = clock.now().replace(minute=20)
    for worked in (True, True, False, False, False):
        assert not health.record(Provider.SPOTIFY, worked, now)
    assert not health.record(Provider.SPOTIFY, False, now)
    assert health.record(Provider.SPOTIFY, False, now)
    assert not health.record(Provider.YOUTUBE, False, now)
    assert health.record(Provider.SPOTIFY, False, now + timedelta(minutes=15))
    assert health.record(Provider.SPOTIFY, False, now + timedelta(minutes=45))
    assert not health.record(Provider.YOUTUBE, False, now + timedelta(minutes=90))


@pytest.mark.usefixtures("aws")
def test_an_hour_without_polls_is_forgotten():
    now = clock.now().replace(minute=20)
    for _ in range(9):
        health.record(Provider.SPOTIFY, False, now)
    assert not health.record(Provider.SPOTIFY, False, now + timedelta(minutes=75))


def test_a_feed_that_wants_hours_is_left_alone_for_hours(feed, blog, later, sweep):
    blog.answer = (429, {"Retry-After": "18000"}, b"")
    later(days=1)
    sweep()
    assert wait_of(feed.followed) >= 299
    blog.answer, blog.asked[:] = None, []
    later(hours=4, minutes=50)
    sweep()
    assert feed.act(feed.followed, "sync").status == 429
    feed.act(feed.followed, "pause")
    assert feed.act(feed.followed, "resume").status == 200
    sweep()
    assert blog.asked == []
    later(minutes=30)
    sweep()
    assert len(blog.asked) == 1


def test_who_syncs_it_meanwhile_is_told_how_long_to_wait_and_does_not_make_it_due_earlier(feed, blog, later, sweep):
    later(days=1)
    assert feed.act(feed.followed, "sync").status == 200
    blog.answer = (429, {"Retry-After": "18000"}, b"")
    polling.poll(feed.followed["creator_id"], polling.Cause.PUSH)
    due_at = creator_of(feed.followed).next_poll_at
    answer = feed.act(feed.followed, "sync")
    assert answer.status == 429
    assert int(answer.headers["Retry-After"]) > 17_000
    assert creator_of(feed.followed).next_poll_at == due_at


def test_somebody_new_does_not_hurry_a_feed_that_wants_to_be_left_alone(feed, member, blog, later, sweep, work):
    later(days=1)
    blog.answer = (503, {"Retry-After": "7200"}, b"")
    sweep()
    blog.answer = None
    later(minutes=30)
    ada = member("ada")
    assert ada.follow_url(f"{blog.url}/feed.xml").status == 201
    blog.asked.clear()
    work()
    sweep()
    assert blog.asked == []
    later(hours=2)
    sweep()
    assert ada.titles() == ["Hello"]


def test_one_feeds_wish_holds_for_it_alone(feed, blog, later, sweep):
    other = feed.follow_url(f"{blog.url}/other.xml").json
    later(days=1)
    blog.answer = (429, {"Retry-After": "18000"}, b"")
    feed.act(feed.followed, "sync")
    blog.answer = None
    assert feed.act(other, "sync").status == 200


@pytest.mark.parametrize(
    ("provider", "channels", "fault"),
    [
        ("YOUTUBE", (ALLOTMENT, HEDGE), {"rate_limit": 10_800}),
        ("SPOTIFY", (SLOW_SOIL, TOOL_SHED), {"rate_limit": 10_800}),
        ("SPOTIFY", (SLOW_SOIL, TOOL_SHED), {"quota": True}),
    ],
)
def test_a_provider_that_wants_hours_is_asked_by_nobody(desk, later, sweep, provider, channels, fault):
    desk.connect(provider)
    follows = [desk.follow(provider, channel) for channel in channels]
    desk.providers.set_fault(provider.lower(), **fault)
    later(days=1)
    desk.connect(provider)
    desk.providers.forget_calls()
    sweep()
    assert data_calls(desk, provider) == 1
    desk.providers.set_fault(provider.lower(), reset=True)
    for follow in follows:
        answer = desk.act(follow, "sync")
        assert answer.status == 429
        assert int(answer.headers["Retry-After"]) > 9_000
        desk.act(follow, "pause")
        desk.act(follow, "resume")
    assert desk.call("GET", f"discover/{provider}").status == 429
    later(hours=2, minutes=55)
    sweep()
    assert data_calls(desk, provider) == 1
    later(hours=12)
    sweep()
    assert data_calls(desk, provider) > 2
    assert desk.notifications() == []
    assert all(creator_of(follow).failures == 0 for follow in follows)


def data_calls(desk, provider):
    calls = desk.providers.calls()[provider.lower()]
    return sum(count for path, count in calls.items() if "/v1/" in path or "/v3/" in path)
