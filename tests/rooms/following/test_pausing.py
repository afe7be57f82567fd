"""Pausing, resuming and polling at once."""

import pytest

from chalicelib.following import jobs, polling, quota
from chalicelib.following.providers.contract import UNITS
from chalicelib.following.stores import counters, creators, polls
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock
from tests.rooms.following.conftest import ALLOTMENT, SLOW_SOIL

FIRST = "Sowing broad beans too early"
DONE = (200, {"success": True})


@pytest.fixture
def following(desk):
    desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    desk.providers.forget_calls()
    return desk


def act(desk, what):
    answer = desk.act(desk.followed, what)
    return answer.status, answer.json


def status(desk):
    return desk.find(desk.followed)["status"]


def test_while_it_is_paused_nothing_is_received_or_asked(following, later, sweep):
    assert act(following, "pause") == DONE
    assert status(following) == "PAUSED"
    following.providers.publish(ALLOTMENT, "In the pause")
    later(days=2)
    sweep()
    assert following.titles() == [FIRST]
    assert following.providers.calls()["units"] == 0


def test_resuming_makes_it_due_at_once(following, later, work):
    act(following, "pause")
    following.providers.publish(ALLOTMENT, "In the pause")
    later(days=2)
    assert act(following, "resume") == DONE
    assert status(following) == "ACTIVE"
    assert creators.find(following.followed["creator_id"]).next_poll_at <= clock.now()
    work()
    assert following.titles() == ["In the pause", FIRST]


def test_what_others_got_meanwhile_is_received_after_it(following, member, later, sweep, work):
    ada = member("ada")
    ada.follow("YOUTUBE", ALLOTMENT)
    act(following, "pause")
    for title in ("One", "Two"):
        following.providers.publish(ALLOTMENT, title)
        later(days=1)
        sweep()
    assert ada.titles() == ["Two", "One", FIRST]
    act(following, "resume")
    work()
    assert following.titles() == ["Two", "One", FIRST]


def test_of_what_was_missed_only_the_newest_where_that_is_wished(following, member, later, sweep, work):
    member("ada").follow("YOUTUBE", ALLOTMENT)
    following.set_options(following.followed, newest_only=True)
    act(following, "pause")
    for title in ("One", "Two"):
        following.providers.publish(ALLOTMENT, title)
        later(days=1)
        sweep()
    act(following, "resume")
    work()
    assert following.titles() == ["Two"]


@pytest.mark.parametrize("what", ["pause", "resume"])
def test_repeating_it_changes_nothing(following, what):
    act(following, "pause")
    act(following, what)
    before = following.find(following.followed)
    for _ in range(3):
        assert act(following, what) == DONE
    assert following.find(following.followed) == before


def test_after_months_of_pause_the_latest_arrives(following, later, sweep, work):
    act(following, "pause")
    for _ in range(2):
        later(days=30)
        sweep()
        jobs.maintain(lambda: True)
    following.providers.publish(ALLOTMENT, "After months")
    assert act(following, "resume") == DONE
    work()
    assert following.titles()[0] == "After months"


def test_resuming_goes_past_the_ladder_of_failures(desk, blog, later, sweep, work):
    desk.followed = desk.follow_url(f"{blog.url}/feed.xml").json
    blog.answer = (500, {}, b"")
    for _ in range(6):
        later(days=1)
        sweep()
    blog.answer = None
    act(desk, "pause")
    act(desk, "resume")
    work()
    assert creators.find(desk.followed["creator_id"]).failures == 0


def test_resuming_needs_the_connection(desk, token_only):
    desk.connect("YOUTUBE")
    desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    act(desk, "pause")
    desk.disconnect("YOUTUBE")
    assert act(desk, "resume") == (409, {"error": "Connect YouTube first"})


def test_a_sync_polls_in_the_request_and_counts_what_is_new(following):
    for title in ("One", "Two"):
        following.providers.publish(ALLOTMENT, title)
    assert act(following, "sync") == (200, {"success": True, "items_found": 2})
    assert following.titles() == ["Two", "One", FIRST]


def test_a_sync_without_news_finds_none(following):
    assert act(following, "sync") == (200, {"success": True, "items_found": 0})


def test_what_is_counted_is_what_this_owner_got(following, member):
    ada = member("ada")
    hers = ada.follow("YOUTUBE", ALLOTMENT)
    following.set_options(following.followed, action="ignore")
    following.providers.publish(ALLOTMENT, "For her")
    assert act(following, "sync")[1]["items_found"] == 0
    assert ada.titles() == ["For her", FIRST]
    assert ada.act(hers, "sync").json["items_found"] == 0


def test_once_in_five_minutes(following, later):
    assert act(following, "sync")[0] == 200
    answer = following.act(following.followed, "sync")
    assert answer.status == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 300
    later(minutes=4, seconds=50)
    assert act(following, "sync")[0] == 429
    later(seconds=15)
    assert act(following, "sync")[0] == 200


def test_each_follow_has_five_minutes_of_its_own(following, member):
    ada = member("ada")
    hers = ada.follow("YOUTUBE", ALLOTMENT)
    assert act(following, "sync")[0] == 200
    assert ada.act(hers, "sync").status == 200


@pytest.mark.parametrize("fault", [{"outage": True}, {"broken": True}])
def test_an_outage_is_503_and_does_not_use_them_up(following, fault):
    following.providers.set_fault("youtube", **fault)
    answer = following.act(following.followed, "sync")
    assert answer.status == 503
    assert answer.headers["Retry-After"]
    following.providers.set_fault("youtube", reset=True)
    assert act(following, "sync")[0] == 200
    assert act(following, "sync")[0] == 429


def test_a_crash_does_not_use_them_up(following, monkeypatch):
    def crash(*_):
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(polling, "poll", crash)
        assert act(following, "sync")[0] == 500
    assert act(following, "sync")[0] == 200


def test_while_somebody_else_polls_it_it_is_503(following):
    assert polls.claim(following.followed["creator_id"], clock.now())
    assert act(following, "sync")[0] == 503


def test_without_quota_it_is_429_and_does_not_use_them_up(following, later):
    counters.use_up(Provider.YOUTUBE, quota.day_of(clock.now()), UNITS, 10_000)
    answer = following.act(following.followed, "sync")
    assert answer.status == 429
    assert int(answer.headers["Retry-After"]) <= 86_401
    assert following.providers.calls()["units"] == 0
    later(days=1, hours=1)
    assert act(following, "sync")[0] == 200


def test_only_what_is_active_is_synced(following):
    act(following, "pause")
    assert act(following, "sync") == (409, {"error": "Resume this follow first"})


def test_without_a_connection_that_works_it_is_409(desk, later):
    desk.connect("SPOTIFY")
    desk.followed = desk.follow("SPOTIFY", SLOW_SOIL)
    desk.providers.set_fault("spotify", revoked=True)
    assert act(desk, "sync") == (409, {"error": "Connect Spotify first"})


@pytest.mark.parametrize("id", ["none", "0" * 32, "01890000-0000-7000-8000-000000000000", "%20", "x" * 300])
def test_what_is_no_follow_is_not_found(desk, id):
    for method, path in (("POST", "/pause"), ("POST", "/resume"), ("POST", "/sync"), ("DELETE", ""), ("PATCH", "")):
        assert desk.call(method, f"follows/{id}{path}").status == 404
