"""No longer following, and following again: each cell of the seed's table."""

import pytest

from chalicelib.following import asking, jobs, model
from chalicelib.following.stores import creators, followers, follows
from chalicelib.inbox.entry_store import EntryRow
from tests.rooms.following.conftest import ALLOTMENT, HEDGE

FIRST = "Sowing broad beans too early"


@pytest.fixture
def following(desk, later, sweep):
    """With entries in each state."""
    desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    for title in ("To keep", "To file", "To dismiss", "To read some time"):
        desk.providers.publish(ALLOTMENT, title)
        later(minutes=1)
    later(days=1)
    sweep()
    for title, act in (("To keep", "bookmark"), ("To file", "archive"), ("To dismiss", "dismiss")):
        desk.triage(title, act)
    return desk


def test_the_follow_is_kept_as_one_that_has_ended(following):
    following.set_options(following.followed, action="bookmark")
    following.unfollow(following.followed)
    assert following.follows() == []
    (ended,) = following.follows("?status=UNSUBSCRIBED")
    assert (ended["id"], ended["status"]) == (following.followed["id"], "UNSUBSCRIBED")
    assert (ended["name"], ended["options"]["action"]) == ("Allotment No. 9", "bookmark")
    assert (ended["disconnected_at"], ended["disconnected_reason"]) == (None, None)


def test_which_items_came_by_it_is_forgotten(following):
    following.unfollow(following.followed)
    assert [row.follow_id for row in EntryRow.scan() if row.follow_id] == []


def test_what_was_in_the_inbox_leaves(following):
    following.unfollow(following.followed)
    assert following.titles() == []


def test_what_was_kept_stays_whole(following):
    following.unfollow(following.followed)
    for state, title in (("BOOKMARKED", "To keep"), ("ARCHIVED", "To file")):
        (entry,) = following.inbox(state)
        assert (entry["title"], entry["creator"], entry["follow_id"]) == (title, "Allotment No. 9", None)
        assert entry["duration_seconds"] == 613


def test_what_was_seen_stays_seen_and_does_not_come_again(following, later, sweep, settle):
    seen = {row.item_id for row in EntryRow.scan()}
    following.unfollow(following.followed)
    settle()
    assert {row.item_id for row in EntryRow.scan()} == seen
    again = following.follow("YOUTUBE", ALLOTMENT)
    assert again["id"] == following.followed["id"]
    for _ in range(2):
        later(days=1)
        sweep()
    assert following.titles() == []


def test_following_again_revives_it_with_its_id_and_options(following):
    following.set_options(following.followed, newest_only=True)
    following.unfollow(following.followed)
    answer = following.call("POST", "follows", json={"provider": "YOUTUBE", "provider_channel_id": ALLOTMENT})
    assert (answer.status, answer.json["id"]) == (201, following.followed["id"])
    assert (answer.json["status"], answer.json["options"]["newest_only"]) == ("ACTIVE", True)
    assert answer.json["created_at"] == following.followed["created_at"]


def test_who_follows_again_gets_the_latest_if_it_is_new_and_nothing_else(following, later, sweep):
    following.unfollow(following.followed)
    later(days=1)
    for title in ("Missed", "Latest"):
        following.providers.publish(ALLOTMENT, title)
        later(minutes=1)
    later(days=1)
    following.follow("YOUTUBE", ALLOTMENT)
    sweep()
    assert following.titles() == ["Latest"]


def test_what_arrives_soon_after_following_again_is_not_taken_by_the_later_look(following, later, sweep, settle):
    following.unfollow(following.followed)
    following.follow("YOUTUBE", ALLOTMENT)
    following.providers.publish(ALLOTMENT, "Within five minutes")
    following.act(following.followed, "sync")
    settle()
    assert following.titles() == ["Within five minutes"]


def test_what_a_poll_that_was_under_way_brings_leaves_with_the_later_look(following, later, monkeypatch, settle):
    real = asking.ask

    def unfollowing(*arguments):
        answer = real(*arguments)
        following.unfollow(following.followed)
        return answer

    following.providers.publish(ALLOTMENT, "Under way")
    monkeypatch.setattr(asking, "ask", unfollowing)
    jobs.polling.poll(following.followed["creator_id"], model.Cause.SCHEDULE)
    assert following.titles() == ["Under way"]
    settle()
    assert following.titles() == []


def test_it_is_not_found_any_more(following):
    following.unfollow(following.followed)
    path = f"follows/{following.followed['id']}"
    assert following.call("DELETE", path).status == 404
    assert following.call("PATCH", path, json={"options": {}}).status == 404
    assert [following.act(following.followed, act).status for act in ("pause", "resume", "sync")] == [404] * 3


def test_others_who_follow_it_keep_all_they_have(following, member, later, sweep):
    ada = member("ada")
    ada.follow("YOUTUBE", ALLOTMENT)
    before = ada.titles()
    following.unfollow(following.followed)
    assert ada.titles() == before
    ada.providers.publish(ALLOTMENT, "For her")
    later(days=1)
    sweep()
    assert "For her" in ada.titles()
    assert following.titles() == []


def test_entries_of_other_follows_stay(following):
    following.follow("YOUTUBE", HEDGE)
    following.unfollow(following.followed)
    assert following.titles() == ["Who is eating the buds?"]


@pytest.mark.parametrize("way", ["poll", "sync", "unfollow", "pause", "disconnect"])
def test_what_was_dismissed_never_comes_back(desk, later, sweep, settle, way):
    desk.connect("YOUTUBE")
    follow = desk.follow("YOUTUBE", ALLOTMENT)
    desk.triage(FIRST, "dismiss")
    if way == "sync":
        desk.act(follow, "sync")
    if way == "unfollow":
        desk.unfollow(follow)
        desk.follow("YOUTUBE", ALLOTMENT)
    if way == "pause":
        desk.act(follow, "pause")
        desk.act(follow, "resume")
    if way == "disconnect":
        desk.disconnect("YOUTUBE")
        desk.connect("YOUTUBE")
    settle()
    later(days=1)
    sweep()
    assert [desk.titles(state) for state in ("INBOX", "BOOKMARKED", "ARCHIVED")] == [[], [], []]


def test_a_creator_that_nobody_has_followed_for_27_days_is_forgotten_and_found_again(following, later, sweep):
    creator_id = following.followed["creator_id"]
    following.unfollow(following.followed)
    later(days=1)
    sweep()
    later(days=26)
    jobs.maintain(lambda: True)
    assert creators.find(creator_id)
    later(days=2)
    jobs.maintain(lambda: True)
    assert creators.find(creator_id) is None
    (ended,) = following.follows("?status=UNSUBSCRIBED")
    assert ended["name"] == ALLOTMENT
    following.providers.publish(ALLOTMENT, "After a month")
    again = following.follow("YOUTUBE", ALLOTMENT)
    assert (again["id"], again["name"]) == (following.followed["id"], "Allotment No. 9")
    assert following.titles() == ["After a month"]


def test_both_rows_of_a_follow_say_the_same(following):
    def rows():
        follow = follows.find("desk", following.followed["id"])
        follower = followers.find(follow.creator_id, "desk")
        return {(follow.status.value, follow.options), (follower.status.value, follower.options)}

    assert len(rows()) == 1
    following.set_options(following.followed, hide_shorts=True)
    assert len(rows()) == 1
    for act in ("pause", "resume"):
        following.act(following.followed, act)
        assert len(rows()) == 1
    following.unfollow(following.followed)
    assert len(rows()) == 1
