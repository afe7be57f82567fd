"""What happens with new items of a follow: where they go, how many, and without shorts if that is wished."""

import pytest

from chalicelib.following import asking
from chalicelib.following.providers.contract import Down
from chalicelib.following.stores import followers
from tests.rooms.following.conftest import ALLOTMENT, HEDGE

FIRST = "Sowing broad beans too early"


@pytest.fixture
def following(desk):
    desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    return desk


@pytest.fixture
def publish(desk, later, sweep):
    def run(*titles, kind="normal"):
        for title in titles:
            desk.providers.publish(ALLOTMENT, title, kind)
            desk.providers.advance(60)
        later(days=1)
        sweep()

    return run


def patch(owner, follow, options):
    return owner.call("PATCH", f"follows/{follow['id']}", json={"options": options})


def test_what_is_not_sent_stays_as_it_is(following):
    assert following.set_options(following.followed, action="bookmark")["options"] == {
        "action": "bookmark",
        "newest_only": False,
        "hide_shorts": False,
    }
    changed = following.set_options(following.followed, newest_only=True)
    assert changed["options"] == {"action": "bookmark", "newest_only": True, "hide_shorts": False}
    assert changed["updated_at"] > following.followed["updated_at"]
    assert following.set_options(following.followed) == changed


def test_options_that_make_no_sense_are_refused(following):
    unknown = ({"action": "archive"}, {"action": None}, {"newest_only": "yes"}, {"hide_shorts": 1}, {"x": 1})
    for options in (None, [], "inbox", *unknown):
        assert patch(following, following.followed, options).status == 400, options
    assert following.find(following.followed)["options"]["action"] == "inbox"


def test_by_default_everything_new_enters_the_inbox(following, publish):
    publish("One", "Two")
    assert following.titles() == ["Two", "One", FIRST]


def test_bookmarked_at_once(following, publish):
    following.set_options(following.followed, action="bookmark")
    publish("One", "Two")
    assert following.titles("BOOKMARKED") == ["Two", "One"]
    assert following.titles() == [FIRST]


def test_ignored_ones_count_as_seen_and_nothing_enters(following, publish):
    following.set_options(following.followed, action="ignore")
    publish("One", "Two")
    assert following.titles() == [FIRST]
    assert following.find(following.followed)["last_polled_at"] > following.followed["last_polled_at"]
    following.set_options(following.followed, action="inbox")
    publish("Three")
    assert following.titles() == ["Three", FIRST]


def test_of_several_new_ones_only_the_newest_enters_and_older_ones_leave(following, publish):
    following.set_options(following.followed, newest_only=True)
    publish("One", "Two", "Three")
    assert following.titles() == ["Three"]
    publish("Four")
    assert following.titles() == ["Four"]


def test_the_newest_is_by_date_not_by_place(following, later, sweep):
    following.set_options(following.followed, newest_only=True)
    at = following.providers.state.now()
    following.providers.publish(ALLOTMENT, "Newest", at=at)
    following.providers.publish(ALLOTMENT, "Uploaded after it, published before", at=at - 3_600)
    later(days=1)
    sweep()
    assert following.titles() == ["Newest"]


def test_what_was_kept_stays_when_a_newer_one_comes(following, publish):
    following.set_options(following.followed, newest_only=True)
    following.triage(FIRST, "bookmark")
    publish("One")
    publish("Two")
    assert following.titles() == ["Two"]
    assert following.titles("BOOKMARKED") == [FIRST]


def test_entries_of_other_follows_stay(following, publish):
    following.follow("YOUTUBE", HEDGE)
    following.set_options(following.followed, newest_only=True)
    publish("One")
    assert following.titles() == ["One", "Who is eating the buds?"]


def test_shorts_are_hidden_where_that_is_wished_and_only_there(following, member, publish):
    ada = member("ada")
    ada.follow("YOUTUBE", ALLOTMENT)
    following.set_options(following.followed, hide_shorts=True)
    publish("A short", kind="short")
    publish("A long one")
    assert following.titles() == ["A long one", FIRST]
    assert "A short" in ada.titles()


def test_a_hidden_short_is_not_the_newest(following, publish):
    following.set_options(following.followed, hide_shorts=True, newest_only=True)
    following.providers.publish(ALLOTMENT, "Long")
    following.providers.advance(60)
    publish("Short and newer", kind="short")
    assert following.titles() == ["Long"]


def test_a_brief_video_that_is_among_the_long_ones_is_no_short(following, later, sweep):
    following.set_options(following.followed, hide_shorts=True)
    following.providers.publish(ALLOTMENT, "Brief, but long", seconds=59)
    later(days=1)
    sweep()
    assert following.titles() == ["Brief, but long", FIRST]


def test_a_hidden_short_does_not_come_when_shorts_are_shown_again(following, publish):
    following.set_options(following.followed, hide_shorts=True)
    publish("A short", kind="short")
    following.set_options(following.followed, hide_shorts=False)
    publish()
    assert following.titles() == [FIRST]


def test_telling_shorts_costs_one_unit_more_only_when_something_is_brief(following, later, sweep):
    following.set_options(following.followed, hide_shorts=True)
    costs = []
    for kind in ("normal", "short"):
        following.providers.publish(ALLOTMENT, f"A {kind} one", kind)
        following.providers.forget_calls()
        later(days=1)
        sweep()
        costs.append(following.providers.calls()["units"])
    assert costs == [2, 3]


def test_shorts_that_were_missed_in_a_pause_are_hidden_too(following, member, publish, work):
    ada = member("ada")
    ada.follow("YOUTUBE", ALLOTMENT)
    following.set_options(following.followed, hide_shorts=True)
    following.act(following.followed, "pause")
    publish("A short", kind="short")
    publish("A long one")
    following.act(following.followed, "resume")
    work()
    assert following.titles() == ["A long one", FIRST]


def test_each_owner_has_options_of_their_own(following, member, publish):
    ada, bob = member("ada"), member("bob")
    hers, his = (owner.follow("YOUTUBE", ALLOTMENT) for owner in (ada, bob))
    ada.set_options(hers, action="ignore")
    bob.set_options(his, action="bookmark")
    publish("For some")
    assert following.titles() == ["For some", FIRST]
    assert ada.titles() == [FIRST]
    assert bob.titles("BOOKMARKED") == ["For some"]


def test_options_of_one_that_is_paused_are_changed_and_kept(following, publish, work):
    following.act(following.followed, "pause")
    following.set_options(following.followed, action="bookmark")
    assert following.find(following.followed)["status"] == "PAUSED"
    following.act(following.followed, "resume")
    work()
    publish("After it")
    assert following.titles("BOOKMARKED") == ["After it"]


def test_a_change_during_a_poll_does_not_make_anybody_new_again(desk, monkeypatch, later, sweep):
    """The poll has served them between reading and writing: whoever is new gets the latest only."""
    with monkeypatch.context() as patch:
        patch.setattr(asking, "ask", _down)
        desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    real = followers.find

    def find(creator_id, owner):
        found = real(creator_id, owner)
        monkeypatch.setattr(followers, "find", real)
        later(minutes=16)
        sweep()
        return found

    monkeypatch.setattr(followers, "find", find)
    desk.set_options(desk.followed, hide_shorts=True)
    follower = real(desk.followed["creator_id"], "desk")
    assert (follower.is_new, follower.options.hide_shorts) == (False, True)
    assert desk.titles() == [FIRST]


def _down(*_):
    raise Down("YouTube answered 503")
