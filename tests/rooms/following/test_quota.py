"""YouTube's quota: counted before the call, by the Pacific day, kept for people at its end."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.following import quota
from chalicelib.following.providers.contract import SEARCHES, UNITS
from chalicelib.following.stores import counters
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import clock
from tests.rooms.following.conftest import ALLOTMENT, COMPOST, HEDGE, MEND

YOUTUBE = Provider.YOUTUBE


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def spent(bucket=UNITS):
    return counters.count_spent(YOUTUBE, quota.day_of(clock.now()), bucket)


def spend(many, asked_by=None, bucket=UNITS):
    quota.spender(YOUTUBE, asked_by)(bucket, many)


@pytest.mark.parametrize(
    ("moment", "day", "ends"),
    [
        ("2026-01-15T07:59:59", "2026-01-14", "2026-01-15T08:00:00"),
        ("2026-01-15T08:00:00", "2026-01-15", "2026-01-16T08:00:00"),
        ("2026-07-15T06:59:59", "2026-07-14", "2026-07-15T07:00:00"),
        ("2026-07-15T07:00:00", "2026-07-15", "2026-07-16T07:00:00"),
        # The clocks go forward: a day of 23 hours.
        ("2026-03-08T08:00:00", "2026-03-08", "2026-03-09T07:00:00"),
        ("2026-03-08T09:59:59", "2026-03-08", "2026-03-09T07:00:00"),
        ("2026-03-08T10:00:00", "2026-03-08", "2026-03-09T07:00:00"),
        ("2026-03-09T06:59:59", "2026-03-08", "2026-03-09T07:00:00"),
        # The clocks go back: a day of 25 hours.
        ("2026-11-01T07:00:00", "2026-11-01", "2026-11-02T08:00:00"),
        ("2026-11-01T08:30:00", "2026-11-01", "2026-11-02T08:00:00"),
        ("2026-11-01T09:30:00", "2026-11-01", "2026-11-02T08:00:00"),
        ("2026-11-02T07:59:59", "2026-11-01", "2026-11-02T08:00:00"),
        ("2026-11-02T08:00:00", "2026-11-02", "2026-11-03T08:00:00"),
    ],
)
def test_a_day_ends_at_pacific_midnight_also_when_the_clocks_change(moment, day, ends):
    assert quota.day_of(at(moment)) == day
    assert quota.day_end(at(moment)) == at(ends)
    left = (at(ends) - at(moment)).total_seconds()
    assert left <= quota.seconds_left(at(moment)) <= left + 1


def test_our_count_is_the_providers_count(desk, later, sweep):
    for channel in (ALLOTMENT, HEDGE, MEND):
        desk.follow("YOUTUBE", channel)
    desk.connect("YOUTUBE")
    desk.call("GET", "discover/YOUTUBE")
    desk.call("GET", "discover/YOUTUBE/search?q=hedge")
    desk.providers.publish(ALLOTMENT, "News")
    later(minutes=5)
    desk.act(desk.follows()[0], "sync")
    calls = desk.providers.calls()
    assert (spent(), spent(SEARCHES)) == (calls["units"], calls["searches"])
    assert calls["searches"] == 1


@pytest.mark.parametrize("fault", [{"outage": True}, {"broken": True}, {"rate_limit": 60}])
def test_requests_that_fail_cost_too(desk, fault):
    follow = desk.follow("YOUTUBE", ALLOTMENT)
    before = spent()
    desk.providers.set_fault("youtube", **fault)
    desk.act(follow, "sync")
    assert spent() == before + 1


def test_what_would_be_too_much_is_neither_counted_nor_asked(desk):
    follow = desk.follow("YOUTUBE", ALLOTMENT)
    counters.use_up(YOUTUBE, quota.day_of(clock.now()), UNITS, 10_000)
    desk.providers.forget_calls()
    answer = desk.act(follow, "sync")
    assert (answer.status, answer.json["error"]) == (429, "Today's quota is used up")
    assert (spent(), desk.providers.calls()["units"]) == (10_000, 0)


@pytest.mark.usefixtures("aws")
def test_the_last_tenth_is_for_what_the_desk_asks():
    spend(9_000)
    with pytest.raises(quota.UsedUp):
        spend(1)
    spend(1_000, asked_by=DESK)
    with pytest.raises(quota.UsedUp):
        spend(1, asked_by=DESK)


def test_beyond_nine_tenths_polls_wait_for_midnight_and_people_do_not(desk, later, sweep):
    follow = desk.follow("YOUTUBE", ALLOTMENT)
    later(days=1)
    counters.use_up(YOUTUBE, quota.day_of(clock.now()), UNITS, 9_000)
    desk.providers.publish(ALLOTMENT, "Waits for midnight")
    desk.providers.forget_calls()
    sweep()
    assert desk.providers.calls()["units"] == 0
    assert desk.act(follow, "sync").json["items_found"] == 1


def test_after_midnight_they_go_on(desk, later, sweep):
    desk.follow("YOUTUBE", ALLOTMENT)
    later(days=1)
    counters.use_up(YOUTUBE, quota.day_of(clock.now()), UNITS, 9_000)
    desk.providers.publish(ALLOTMENT, "Waits for midnight")
    sweep()
    left = quota.day_end(clock.now()) - clock.now()
    later(seconds=left.total_seconds() - 60)
    assert sweep() == 0
    later(minutes=17)
    sweep()
    assert "Waits for midnight" in desk.titles()


def test_a_warning_at_four_fifths_once(desk):
    spend(7_999)
    assert desk.notifications() == []
    spend(1)
    spend(500)
    (told,) = desk.notifications()
    assert (told["type"], told["provider"], told["resolved_at"]) == ("quota_warning", "YOUTUBE", None)
    assert told["data"]["ends_at"] == quota.day_end(clock.now()).timestamp() * 1000


def test_it_is_warned_whatever_step_passes_four_fifths(desk):
    spend(7_990)
    spend(50)
    assert desk.active() == ["quota_warning"]


def test_it_is_resolved_by_the_next_day_and_told_again_on_it(desk, later):
    spend(8_000)
    later(days=1)
    assert desk.active() == []
    assert [told["type"] for told in desk.notifications()] == ["quota_warning"]
    spend(8_000)
    assert desk.active() == ["quota_warning"]
    assert len(desk.notifications()) == 2


def test_members_are_not_told_of_what_is_the_deployments(desk, member):
    ada = member("ada")
    spend(8_000)
    assert ada.notifications() == []


def test_when_youtube_says_that_nothing_is_left_nobody_asks_until_midnight(desk, later, sweep):
    follows = [desk.follow("YOUTUBE", channel) for channel in (ALLOTMENT, HEDGE, MEND)]
    later(days=1)
    desk.providers.set_fault("youtube", quota=True)
    desk.providers.forget_calls()
    sweep()
    assert desk.providers.calls()["units"] == 1
    assert desk.active() == ["quota_warning"]
    desk.providers.set_fault("youtube", quota=False)
    assert [desk.act(follow, "sync").status for follow in follows] == [429] * 3
    answer = desk.call("POST", "follows", json={"provider": "YOUTUBE", "provider_channel_id": COMPOST})
    assert answer.status == 429
    assert desk.providers.calls()["units"] == 1
    later(seconds=quota.seconds_left(clock.now()) + 1)
    assert desk.act(follows[0], "sync").status == 200


def test_it_is_no_failure_of_the_creators(desk, later, sweep):
    follow = desk.follow("YOUTUBE", ALLOTMENT)
    desk.providers.set_fault("youtube", quota=True)
    for _ in range(4):
        later(days=1)
        sweep()
    assert "poll_failures" not in {told["type"] for told in desk.notifications()}
    assert desk.find(follow)["status"] == "ACTIVE"


def test_searches_are_counted_apart(desk):
    counters.use_up(YOUTUBE, quota.day_of(clock.now()), SEARCHES, 100)
    assert desk.call("GET", "discover/YOUTUBE/search?q=hedge").status == 429
    assert desk.follow("YOUTUBE", ALLOTMENT)["status"] == "ACTIVE"


def test_the_hundred_and_first_search_of_a_day_is_refused(desk, monkeypatch):
    counters.use_up(YOUTUBE, quota.day_of(clock.now()), SEARCHES, 99)
    assert desk.call("GET", "discover/YOUTUBE/search?q=hedge").status == 200
    answer = desk.call("GET", "discover/YOUTUBE/search?q=another")
    assert answer.status == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 25 * 3_600
    assert desk.providers.calls()["searches"] == 1
    assert desk.call("GET", "discover/YOUTUBE/search?q=HEDGE").status == 200


def test_when_youtube_says_that_no_search_is_left_only_searches_wait(desk):
    desk.providers.set_fault("youtube", search_quota=True)
    assert desk.call("GET", "discover/YOUTUBE/search?q=hedge").status == 429
    desk.providers.set_fault("youtube", reset=True)
    assert desk.call("GET", "discover/YOUTUBE/search?q=hedge").status == 429
    assert desk.follow("YOUTUBE", ALLOTMENT)["status"] == "ACTIVE"


def test_what_is_used_can_be_read(desk):
    spend(120)
    used = {one.bucket: one for one in quota.read_used(YOUTUBE)}
    assert (used[UNITS].spent, used[UNITS].most) == (120, 10_000)
    assert (used[SEARCHES].spent, used[SEARCHES].most) == (0, 100)
    assert timedelta() < used[UNITS].ends_at - clock.now() <= timedelta(hours=25)
