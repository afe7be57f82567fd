"""What members may take of YouTube's quota, which is the deployment's: a part, and the desk always has the rest."""

import pytest

from chalicelib.following import quota
from chalicelib.following.providers.contract import SEARCHES, UNITS
from chalicelib.following.stores import counters, creators
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock
from local.providers.catalogue import CHANNELS
from tests.rooms.following.conftest import ALLOTMENT
from tests.rooms.following.test_pages import Pages, words

YOUTUBE = Provider.YOUTUBE


def search(owner, word):
    return owner.call("GET", f"discover/YOUTUBE/search?q={word}")


def take(share, many):
    """So much was taken before."""
    counters.use_up(YOUTUBE, quota.day_of(clock.now()), share, many)


def test_a_member_has_ten_searches_a_pacific_day(member, later):
    ada, eve = member("ada"), member("eve")
    assert [search(ada, f"word{number}").status for number in range(10)] == [200] * 10
    answer = search(ada, "another")
    assert (answer.status, answer.json) == (429, {"error": "You have used your 10 searches of today"})
    assert 0 < int(answer.headers["Retry-After"]) <= 25 * 3_600
    assert search(ada, "word3").status == 200  # from memory
    assert search(eve, "another").status == 200
    later(seconds=quota.seconds_left(clock.now()))
    assert search(ada, "one-more").status == 200


def test_what_is_answered_from_memory_is_not_counted(member):
    ada = member("ada")
    for _ in range(12):
        assert search(ada, "hedge").status == 200
    assert search(ada, "another").status == 200


def test_members_together_have_half_of_the_searches(member, desk):
    take(f"{SEARCHES} members", 49)
    assert search(member("ada"), "hedge").status == 200
    answer = search(member("eve"), "another")
    assert (answer.status, answer.json) == (429, {"error": "Today's searches for members are used up"})
    assert search(desk, "another").status == 200


def test_the_desk_is_not_counted_among_members(member, desk):
    for number in range(12):
        assert search(desk, f"word{number}").status == 200
    assert search(member("ada"), "another").status == 200


def test_the_page_says_so_in_words(member):
    ada = Pages(member("ada"))
    for number in range(10):
        ada.see(f"/find?provider=YOUTUBE&q=word{number}")
    page = ada.get("/find?provider=YOUTUBE&q=another")
    assert page.status == 429
    assert "You have used your 10 searches of today. Searching works again at midnight, Pacific time." in words(page)
    take(f"{SEARCHES} members", 50)
    page = Pages(member("eve")).get("/find?provider=YOUTUBE&q=another")
    assert "Today’s searches for members are used up. Searching works again" in words(page)


def test_who_searched_is_stored_as_a_hash_only(member):
    ada = member("ada")
    search(ada, "hedge")
    rows = [row for row in counters.CounterRow.scan() if row.id.startswith("quota ")]
    assert rows
    assert not [row for row in rows if ada.id in row.part]


def test_beyond_nine_tenths_a_members_sync_is_refused_and_the_desks_is_not(member, desk):
    ada = member("ada")
    hers, theirs = ada.follow("YOUTUBE", ALLOTMENT), desk.follow("YOUTUBE", ALLOTMENT)
    take(UNITS, 9_000)
    desk.providers.forget_calls()
    answer = ada.act(hers, "sync")
    assert (answer.status, answer.json) == (429, {"error": "Today's quota is used up"})
    assert desk.providers.calls()["units"] == 0
    assert desk.act(theirs, "sync").status == 200


def test_members_together_have_half_of_the_units_and_polls_go_on(member, desk, later, sweep):
    ada = member("ada")
    hers = ada.follow("YOUTUBE", ALLOTMENT)
    desk.follow("YOUTUBE", ALLOTMENT)
    later(hours=2)
    take(f"{UNITS} members", 5_000)
    answer = ada.act(hers, "sync")
    assert (answer.status, answer.json) == (429, {"error": "Today's quota for members is used up"})
    desk.providers.publish(ALLOTMENT, "Found all the same")
    later(days=1)
    sweep()
    assert "Found all the same" in desk.titles()


def test_a_refused_member_does_not_put_off_the_next_poll(member, desk):
    hers = member("ada").follow("YOUTUBE", ALLOTMENT)
    eve = member("eve")
    take(f"{UNITS} members", 5_000)
    eves = eve.follow("YOUTUBE", ALLOTMENT)
    assert eve.act(eves, "sync").status == 429
    creator = creators.find(hers["creator_id"])
    longest = creator.interval_seconds * 1.1
    assert (creator.next_poll_at - creator.last_polled_at).total_seconds() <= longest


@pytest.mark.usefixtures("still")
def test_a_member_syncs_sixty_times_an_hour_over_all_follows(member, desk, monkeypatch):
    monkeypatch.setattr("chalicelib.following.service._POLLS_PER_HOUR", 2)
    ada = member("ada")
    followed = [ada.follow("YOUTUBE", channel.id) for channel in CHANNELS[:3]]
    assert [ada.act(one, "sync").status for one in followed] == [200, 200, 429]
    theirs = [desk.follow("YOUTUBE", channel.id) for channel in CHANNELS[:3]]
    assert [desk.act(one, "sync").status for one in theirs] == [200, 200, 200]


@pytest.mark.usefixtures("still")
def test_a_member_who_pauses_and_resumes_causes_no_more_polls_than_by_syncing(member, desk, monkeypatch):
    monkeypatch.setattr("chalicelib.following.service._POLLS_PER_HOUR", 2)
    statuses = {}
    for owner in (member("ada"), desk):
        followed = owner.follow("YOUTUBE", ALLOTMENT)
        for _ in range(3):
            owner.act(followed, "pause")
            statuses.setdefault(owner.prefix, []).append(owner.act(followed, "resume").status)
    assert statuses == {"/api": [200, 200, 429], "/admin/api": [200, 200, 200]}
