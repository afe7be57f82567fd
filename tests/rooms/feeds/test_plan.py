"""When digests go out, also when clocks change, and what a hold makes of a post."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.feeds import plan
from chalicelib.feeds.plan import Policy
from chalicelib.kernel.publication import Feed


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def moments(digest: str, at: str, zone: str, after: str, count: int) -> list[str]:
    """The next moments, one after another, each found from the one before."""
    found, now = [], utc(after)
    for _ in range(count):
        now = plan.next_moment(digest, at, zone, now)
        found.append(f"{now:%Y-%m-%d %H:%M}")
    return found


# The day before a change, the day of it and the day after, in UTC.
CHANGES = [
    # Clocks go from 02:00 to 03:00: half past two does not exist, and is half past three.
    ("Europe/Berlin", "02:30", "2026-03-27 12:00", ["2026-03-28 01:30", "2026-03-29 01:30", "2026-03-30 00:30"]),
    ("America/New_York", "02:30", "2026-03-06 12:00", ["2026-03-07 07:30", "2026-03-08 07:30", "2026-03-09 06:30"]),
    # Half an hour: from 02:00 to 02:30.
    (
        "Australia/Lord_Howe",
        "02:15",
        "2026-10-02 12:00",
        ["2026-10-02 15:45", "2026-10-03 15:45", "2026-10-04 15:15"],
    ),
    # Clocks go back: half past two comes twice, and the first counts.
    ("Europe/Berlin", "02:30", "2026-10-23 12:00", ["2026-10-24 00:30", "2026-10-25 00:30", "2026-10-26 01:30"]),
    ("America/New_York", "01:30", "2026-10-30 12:00", ["2026-10-31 05:30", "2026-11-01 05:30", "2026-11-02 06:30"]),
    (
        "Australia/Lord_Howe",
        "01:45",
        "2026-04-03 12:00",
        ["2026-04-03 14:45", "2026-04-04 14:45", "2026-04-05 15:15"],
    ),
    # Where clocks change at midnight: the first hour does not exist, or the last one of the day before comes twice.
    ("America/Sao_Paulo", "00:30", "2018-11-02 12:00", ["2018-11-03 03:30", "2018-11-04 03:30", "2018-11-05 02:30"]),
    ("America/Sao_Paulo", "23:30", "2018-02-15 12:00", ["2018-02-16 01:30", "2018-02-17 01:30", "2018-02-18 01:30"]),
    ("America/Sao_Paulo", "02:30", "2026-10-30 12:00", ["2026-10-31 05:30", "2026-11-01 05:30", "2026-11-02 05:30"]),
    # Nine o'clock is nine o'clock.
    ("Europe/Berlin", "09:00", "2026-03-27 12:00", ["2026-03-28 08:00", "2026-03-29 07:00", "2026-03-30 07:00"]),
    ("Europe/Berlin", "09:00", "2026-10-23 12:00", ["2026-10-24 07:00", "2026-10-25 08:00", "2026-10-26 08:00"]),
    # A day that a country skipped.
    ("Pacific/Apia", "09:00", "2011-12-28 20:00", ["2011-12-29 19:00", "2011-12-30 19:00", "2011-12-31 19:00"]),
]


@pytest.mark.parametrize(("zone", "at", "after", "expected"), CHANGES)
def test_a_daily_digest_goes_out_once_a_day_when_clocks_change(zone, at, after, expected):
    assert moments("daily", at, zone, after, 3) == expected


@pytest.mark.parametrize(("zone", "at", "after", "expected"), CHANGES)
def test_no_moment_is_found_twice_from_anywhere_in_between(zone, at, after, expected):
    found = {plan.next_moment("daily", at, zone, utc(after) + timedelta(minutes=5 * step)) for step in range(600)}
    assert [f"{moment:%Y-%m-%d %H:%M}" for moment in sorted(found)][:3] == expected
    assert len(found) == len({moment.date() for moment in found})


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
def test_a_weekly_digest_keeps_its_day_and_hour_through_the_year(zone):
    from zoneinfo import ZoneInfo

    found = moments("weekly", "thu 18:30", zone, "2026-01-01 00:00", 52)
    local = [utc(text).astimezone(ZoneInfo(zone)) for text in found]
    assert {(moment.weekday(), f"{moment:%H:%M}") for moment in local} == {(3, "18:30")}
    assert {(after.date() - before.date()).days for before, after in itertools.pairwise(local)} == {7}


def test_the_usual_moments():
    assert moments("daily", "", "UTC", "2026-11-18 09:00", 1) == ["2026-11-19 09:00"]
    assert moments("daily", "", "UTC", "2026-11-18 08:59", 1) == ["2026-11-18 09:00"]
    assert moments("weekly", "", "UTC", "2026-11-18 09:00", 2) == ["2026-11-23 09:00", "2026-11-30 09:00"]


def test_a_zone_that_nobody_knows_is_utc():
    assert moments("daily", "09:00", "Europe/Berlim", "2026-11-18 08:00", 1) == ["2026-11-18 09:00"]


def test_a_time_of_the_other_kind_is_understood():
    """Somebody may switch from weekly to daily and leave the time as it is."""
    assert moments("daily", "fri 07:00", "UTC", "2026-11-18 09:00", 2) == ["2026-11-19 07:00", "2026-11-20 07:00"]
    assert moments("weekly", "07:00", "UTC", "2026-11-18 09:00", 1) == ["2026-11-23 07:00"]


def test_a_digest_has_no_hold_and_a_draft_has_none_either():
    assert plan.policy_for(Feed("auto", "daily", "10:00", 30), "UTC") == Policy("daily", "10:00", "UTC")
    assert plan.policy_for(Feed("review", hold=30), "UTC") == Policy()
    assert plan.policy_for(Feed("auto", hold=30), "Europe/Berlin") == Policy(hold=30)


def test_a_hold_is_counted_from_when_a_post_was_found_and_never_ends_in_the_past():
    now = utc("2026-11-18 12:00")
    assert Policy(hold=30).due(now - timedelta(minutes=10), now) == now + timedelta(minutes=20)
    assert Policy(hold=5).due(now - timedelta(minutes=10), now) == now
    assert Policy("daily", "", "UTC").due(now, now) is None
