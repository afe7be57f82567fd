"""How often a creator is polled: by what it published of late, and spread a little."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from chalicelib.following import model
from chalicelib.following.model import Creator
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock
from tests.rooms.following.conftest import ALLOTMENT, COMPOST, HEDGE, MOSS

NOW = clock.now()
CREATOR = Creator("id", Provider.YOUTUBE, "UC", "Name", NOW, NOW, NOW, interval_seconds=14_400)


def published(*days):
    return [NOW - timedelta(days=day) for day in days]


@pytest.mark.parametrize(
    ("days", "seconds"),
    [
        (range(30), 3_600),
        (range(0, 30, 2), 3_600),
        ((1, 8, 15, 22), 14_400),
        ((5, 12, 29), 14_400),
        ((29,), 43_200),
        ((10, 40, 70), 43_200),
        ((31, 60), 86_400),
        ((400,), 86_400),
        ((), 86_400),
    ],
)
def test_the_table_of_intervals(days, seconds):
    assert model.interval(published(*days), NOW) == seconds


def test_dates_in_the_future_say_nothing_about_of_late():
    assert model.interval([NOW + timedelta(days=1)] * 20, NOW) == 86_400


def test_jitter_is_a_tenth_either_way():
    waits = [(model.next_poll(CREATOR, NOW) - NOW).total_seconds() for _ in range(300)]
    assert min(waits) >= 12_960
    assert max(waits) <= 15_840
    assert max(waits) - min(waits) > 1_000


def test_what_the_provider_asked_for_is_a_floor():
    until = NOW + timedelta(hours=9)
    assert model.next_poll(replace(CREATOR, not_before=until), NOW) == until


@pytest.mark.parametrize(
    ("by_push", "by_poll", "is_trusted"),
    [(0, 0, False), (4, 0, False), (5, 0, True), (9, 1, True), (8, 1, False), (90, 10, True), (89, 10, False)],
)
def test_push_is_trusted_once_it_has_brought_nine_of_ten(by_push, by_poll, is_trusted):
    assert replace(CREATOR, found_by_push=by_push, found_by_poll=by_poll).push_is_trusted is is_trusted


def test_where_push_is_trusted_polls_only_make_up_for_what_it_misses():
    trusted = replace(CREATOR, found_by_push=20, push_until=NOW + timedelta(days=3))
    wait = (model.next_poll(trusted, NOW) - NOW).total_seconds()
    assert wait >= 21_600 * 0.9
    ended = replace(trusted, push_until=NOW - timedelta(seconds=1))
    assert (model.next_poll(ended, NOW) - NOW).total_seconds() < 16_000
    rarely = replace(trusted, interval_seconds=86_400)
    assert (model.next_poll(rarely, NOW) - NOW).total_seconds() > 77_000


@pytest.mark.parametrize(
    ("channel", "seconds"), [(ALLOTMENT, 14_400), (HEDGE, 14_400), (COMPOST, 86_400), (MOSS, 86_400)]
)
def test_it_is_shown_without_jitter(desk, channel, seconds):
    assert desk.follow("YOUTUBE", channel)["poll_interval_seconds"] == seconds


def test_it_follows_what_is_published(desk, later, sweep):
    follow = desk.follow("YOUTUBE", COMPOST)
    for number in range(12):
        desk.providers.publish(COMPOST, f"Every day {number}")
    later(days=2)
    sweep()
    assert desk.find(follow)["poll_interval_seconds"] == 3_600
    later(days=40)
    sweep()
    assert desk.find(follow)["poll_interval_seconds"] == 86_400


def test_an_unchanged_feed_keeps_its_interval_until_it_is_silent_for_a_month(desk, blog, later, sweep):
    blog.etag = True
    follow = desk.follow_url(f"{blog.url}/feed.xml").json
    assert follow["poll_interval_seconds"] == 43_200
    later(days=1)
    sweep()
    assert desk.find(follow)["poll_interval_seconds"] == 43_200
    later(days=30)
    sweep()
    assert desk.find(follow)["poll_interval_seconds"] == 86_400
