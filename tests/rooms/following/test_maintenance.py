"""Once a day: nothing a provider told is older than 30 days, and what nobody needs is forgotten."""

from datetime import timedelta

import pytest

from chalicelib.following import jobs, maintenance
from chalicelib.following.stores import counters, creators
from chalicelib.inbox import service as inbox
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.kernel import clock, sweeping
from tests.rooms.following.conftest import ALLOTMENT, HEDGE

FIRST = "Sowing broad beans too early"


@pytest.fixture
def keeper(desk):
    """Who keeps what has arrived."""
    desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    desk.kept = desk.triage(FIRST, "bookmark")["id"]
    return desk


def maintain():
    jobs.maintain(lambda: True)


def video_of(desk):
    return next(id for id, video in desk.providers.state.videos.items() if video.title == FIRST)


def test_what_is_younger_than_25_days_is_left_alone(keeper, later):
    keeper.providers.forget_calls()
    later(days=24)
    maintain()
    assert keeper.providers.calls()["units"] == 0


def test_what_somebody_keeps_is_refreshed(keeper, later):
    keeper.providers.change(video_of(keeper), title="Under another title")
    later(days=26)
    maintain()
    (entry,) = keeper.inbox("BOOKMARKED")
    assert (entry["title"], entry["available"], entry["duration_seconds"]) == ("Under another title", True, 538)
    assert inbox.find_item(keeper.kept).refreshed_at > clock.now() - timedelta(minutes=1)


def test_what_was_deleted_is_unavailable_and_keeps_title_and_link(keeper, later):
    keeper.providers.delete(video_of(keeper))
    later(days=26)
    maintain()
    (entry,) = keeper.inbox("BOOKMARKED")
    assert (entry["title"], entry["available"], entry["excerpt"]) == (FIRST, False, None)
    assert entry["canonical_url"].startswith("https://www.youtube.com/watch?v=")


def test_what_was_deleted_leaves_the_inbox(desk, later):
    desk.follow("YOUTUBE", ALLOTMENT)
    desk.providers.delete(video_of(desk))
    later(days=26)
    maintain()
    assert desk.titles() == []


def test_what_nobody_has_any_more_is_deleted(desk, later):
    desk.follow("YOUTUBE", ALLOTMENT)
    id = desk.triage(FIRST, "dismiss")["id"]
    assert inbox.find_item(id)
    later(days=26)
    desk.providers.forget_calls()
    maintain()
    assert inbox.find_item(id) is None
    assert desk.providers.calls()["units"] == 0


def test_fifty_are_asked_for_at_once(desk, later, sweep):
    follow = desk.follow("YOUTUBE", HEDGE)
    for number in range(15):
        desk.providers.publish(HEDGE, f"Of many {number}")
    later(hours=1)
    desk.act(follow, "sync")
    later(days=26)
    desk.providers.forget_calls()
    maintain()
    assert desk.providers.calls()["youtube"] == {"GET /youtube/v3/videos": 1}
    assert {row.stale for row in ItemRow.scan()} == {"YOUTUBE"}
    assert min(row.refreshed_at for row in ItemRow.scan()) > clock.text(clock.now() - timedelta(hours=1))


def test_if_youtube_cannot_be_asked_for_days_only_title_and_link_are_left(keeper, later):
    keeper.providers.set_fault("youtube", outage=True)
    later(days=26)
    maintain()
    (entry,) = keeper.inbox("BOOKMARKED")
    assert entry["creator"] == "Allotment No. 9"
    later(days=3)
    maintain()
    (entry,) = keeper.inbox("BOOKMARKED")
    assert (entry["title"], entry["creator"], entry["duration_seconds"]) == (FIRST, None, None)
    assert entry["canonical_url"].startswith("https://www.youtube.com/watch?v=")


def test_without_key_and_connection_it_is_the_same(desk, later, token_only):
    desk.connect("YOUTUBE")
    desk.follow("YOUTUBE", ALLOTMENT)
    desk.triage(FIRST, "archive")
    desk.providers.set_fault("youtube", revoked=True)
    for days in (26, 3):
        later(days=days)
        maintain()
    (entry,) = desk.inbox("ARCHIVED")
    assert (entry["title"], entry["creator"]) == (FIRST, None)


def test_only_youtube_wants_that(desk, blog, later):
    desk.follow_url(f"{blog.url}/feed.xml")
    later(days=40)
    maintain()
    (entry,) = desk.inbox()
    assert (entry["excerpt"], entry["creator"]) == ("About Hello.", "Blog")


def test_a_step_that_fails_keeps_none_of_the_others_from_being_done(keeper, later, monkeypatch):
    def crash(*_):
        raise RuntimeError

    monkeypatch.setattr(maintenance, "_tend", crash)
    keeper.connect("YOUTUBE")
    later(days=26)
    with pytest.raises(sweeping.Unfinished):
        maintain()
    assert inbox.find_item(keeper.kept).refreshed_at > clock.now() - timedelta(minutes=1)


def test_without_time_the_rest_is_for_the_next_day(keeper, later):
    later(days=26)
    jobs.maintain(lambda: False)
    assert inbox.find_item(keeper.kept).refreshed_at < clock.now() - timedelta(days=25)
    maintain()
    assert inbox.find_item(keeper.kept).refreshed_at > clock.now() - timedelta(minutes=1)


def test_an_item_whose_creator_is_forgotten_is_refreshed_all_the_same(keeper, later, sweep):
    keeper.unfollow(keeper.followed)
    later(days=1)
    sweep()
    later(days=28)
    maintain()
    assert creators.find(keeper.followed["creator_id"]) is None
    later(days=26)
    maintain()
    (entry,) = keeper.inbox("BOOKMARKED")
    assert entry["duration_seconds"] == 538


def test_counters_and_searches_that_have_ended_are_deleted(desk, later):
    desk.call("GET", "discover/YOUTUBE/search?q=hedge")
    desk.follow("YOUTUBE", ALLOTMENT)
    later(days=4)
    maintain()
    kinds = ("quota ", "polls ", "search ")
    assert [row.id for row in counters.CounterRow.scan() if row.id.startswith(kinds)] == []


def test_it_may_be_repeated(keeper, later):
    later(days=26)
    for _ in range(3):
        maintain()
    assert len(keeper.inbox("BOOKMARKED")) == 1
