"""What leaves inboxes without its owner's doing: older ones, deleted ones, and those of a follow that has ended."""

from datetime import timedelta

import pytest

from chalicelib.inbox import entry_store, item_store, listing_store, service
from chalicelib.inbox.entry_store import Key
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import DESK, State
from chalicelib.kernel import clock
from tests.rooms.inbox.things import FOLLOW, NOON, article, entry, events, receive, row, states, to, video

pytestmark = pytest.mark.usefixtures("aws")

SEEN = {"owner", "item_id", "placed", "provider", "content_type", "shelf"}
FOUND = SEEN | {"held", "folded"}
NOTHING_LEFT = {"creator": "", "image": "", "excerpt": "", "duration_seconds": None}


def always():
    return True


def for_steps(steps):
    turns = iter([True] * steps)
    return lambda: next(turns, False)


def details(id):
    item = service.find_item(id)
    return {name: getattr(item, name) for name in NOTHING_LEFT}


def stale():
    """Ids in the index of items to be refreshed."""
    return {row.id for row in ItemRow.by_age.query("YOUTUBE")}


@pytest.fixture
def mixed():
    """One entry of each state by one follow, and one by another."""
    for state in State:
        receive(DESK, video(state.lower()), state=state)
    receive(DESK, video("other"), follow_id="follow-2")
    return {state: video(state.lower()).id for state in State}


def test_only_the_newest_of_a_follow_stays_in_the_inbox():
    older, kept, newest = receive(DESK, video("older"), video("kept"), video("newest"))
    receive(DESK, video("other"), follow_id="follow-2")
    receive("ada", video("older"))
    service.archive(DESK, kept)
    service.keep_newest(DESK, FOLLOW, newest)
    assert states() == {older: None, kept: "ARCHIVED", newest: "INBOX", video("other").id: "INBOX"}
    assert states("ada") == {older: "INBOX"}
    service.keep_newest(DESK, FOLLOW, newest)
    assert states()[newest] == "INBOX"


def test_who_comes_late_does_not_take_out_what_is_newer():
    older, newer = receive(DESK, video("older"), video("newer"))
    service.keep_newest(DESK, FOLLOW, older)
    assert states() == {older: "INBOX", newer: "INBOX"}
    service.keep_newest(DESK, FOLLOW, newer)
    assert states() == {older: None, newer: "INBOX"}


def test_the_newest_may_have_been_dismissed_already():
    older, newest = receive(DESK, video("older"), video("newest"))
    service.dismiss(DESK, newest)
    service.keep_newest(DESK, FOLLOW, newest)
    assert states() == {older: None, newest: None}


def test_for_an_item_the_owner_never_received_nothing_leaves():
    (id,) = receive(DESK, video())
    service.keep_newest(DESK, FOLLOW, video("never").id)
    assert states() == {id: "INBOX"}


def test_what_is_kept_at_that_moment_stays(monkeypatch):
    older, newest = receive(DESK, video("older"), video("newest"))
    leave = entry_store.leave_inbox

    def keep_meanwhile(key, *conditions):
        entry_store.move(key.owner, key.id, State.BOOKMARKED, NOON)
        return leave(key, *conditions)

    monkeypatch.setattr(entry_store, "leave_inbox", keep_meanwhile)
    service.keep_newest(DESK, FOLLOW, newest)
    assert states() == {older: "BOOKMARKED", newest: "INBOX"}


def test_an_item_that_was_deleted_leaves_every_inbox_and_stays_where_it_was_kept():
    id = video().id
    for owner, state in (
        (DESK, State.INBOX),
        ("ada", State.INBOX),
        ("bob", State.BOOKMARKED),
        ("cy", State.ARCHIVED),
    ):
        service.deliver(video(), to(owner, state=state), NOON)
    assert service.mark_unavailable(id) is True
    assert [states(owner)[id] for owner in (DESK, "ada", "bob", "cy")] == [None, None, "BOOKMARKED", "ARCHIVED"]
    item = service.find_item(id)
    assert item.available is False
    assert (item.title, item.excerpt) == (video().title, video().excerpt)
    assert service.mark_unavailable(id) is True


def test_unavailable_goes_on_where_time_ended():
    owners = [f"member-{number}" for number in range(5)]
    service.deliver(video(), to(*owners), NOON)
    assert service.mark_unavailable(video().id, for_steps(2)) is False
    assert sum(state is None for owner in owners for state in states(owner).values()) == 2
    assert service.mark_unavailable(video().id, for_steps(3)) is True
    assert not listing_store.is_held(video().id)


def test_an_unknown_item_cannot_become_unavailable():
    assert service.mark_unavailable(video().id) is True
    assert not list(ItemRow.scan())


def test_an_item_may_become_available_again(later):
    receive(DESK, video())
    service.mark_unavailable(video().id)
    later(hours=1)
    service.deliver(video(refreshed_at=clock.now()), [], NOON)
    assert service.find_item(video().id).available is True
    assert states() == {video().id: None}


def test_a_late_delivery_does_not_make_a_deleted_item_available():
    receive(DESK, video())
    service.mark_unavailable(video().id)
    service.deliver(video(), to("ada"), NOON)
    assert service.find_item(video().id).available is False


def test_after_unfollowing_what_was_kept_stays_and_the_rest_was_merely_seen(mixed):
    assert service.forget_follow(DESK, FOLLOW, always) is True
    assert row(DESK, mixed[State.INBOX]) == FOUND
    for state in (State.BOOKMARKED, State.ARCHIVED):
        kept = entry(DESK, mixed[state])
        assert (kept.state, kept.follow_id) == (state, None)
    assert entry(DESK, video("other").id).follow_id == "follow-2"
    assert service.find_item(mixed[State.INBOX]).title == "The inbox video"
    assert service.forget_follow(DESK, FOLLOW, always) is True


def test_following_again_brings_nothing_twice(mixed):
    service.forget_follow(DESK, FOLLOW, always)
    before = len(events())
    for state in State:
        assert service.deliver(video(state.lower()), to(DESK), NOON) == []
    assert states()[mixed[State.INBOX]] is None
    assert entry(DESK, mixed[State.ARCHIVED]).follow_id is None
    assert len(events()) == before


def test_a_follow_of_somebody_else_is_not_touched(mixed):
    assert service.forget_follow("ada", FOLLOW, always) is True
    assert service.strip_follow("ada", FOLLOW, always) is True
    service.keep_newest("ada", FOLLOW, mixed[State.INBOX])
    assert states()[mixed[State.INBOX]] == "INBOX"


@pytest.mark.parametrize("end", [service.forget_follow, service.strip_follow])
def test_a_large_follow_ends_in_steps(end, monkeypatch):
    monkeypatch.setattr("chalicelib.inbox.withdrawal._TOGETHER", 10)
    items = [video(f"number {number}") for number in range(45)]
    ids = receive(DESK, *items)
    for id in ids[:7]:
        service.bookmark(DESK, id)
    turns = 1
    while not end(DESK, FOLLOW, for_steps(20)):
        turns += 1
    assert turns <= 5
    assert sorted(filter(None, states().values())) == ["BOOKMARKED"] * 7


@pytest.mark.parametrize("end", [service.forget_follow, service.strip_follow])
def test_without_time_nothing_is_done(end, mixed):
    before = states()
    assert end(DESK, FOLLOW, lambda: False) is False
    assert states() == before


@pytest.mark.parametrize("end", [service.forget_follow, service.strip_follow])
def test_an_index_that_is_late_asks_for_another_look(end, monkeypatch):
    (id,) = receive(DESK, video())
    entry_store.dismiss(DESK, id)
    with monkeypatch.context() as late:
        late.setattr(listing_store, "list_follow", lambda *_: iter([Key(DESK, id, State.INBOX)]))
        assert end(DESK, FOLLOW, always) is False
    assert end(DESK, FOLLOW, always) is True
    assert states() == {id: None}


def test_what_is_kept_while_the_follow_ends_stays(monkeypatch):
    (id,) = receive(DESK, video())
    monkeypatch.setattr(listing_store, "list_follow", lambda *_: iter([Key(DESK, id, State.INBOX)]))
    service.bookmark(DESK, id)
    assert service.forget_follow(DESK, FOLLOW, always) is True
    assert states() == {id: "BOOKMARKED"}
    assert entry(DESK, id).follow_id is None


def test_after_disconnecting_title_and_link_of_what_was_kept_remain(mixed):
    assert service.strip_follow(DESK, FOLLOW, always) is True
    assert row(DESK, mixed[State.INBOX]) == SEEN
    for state in (State.BOOKMARKED, State.ARCHIVED):
        kept = entry(DESK, mixed[state])
        assert (kept.state, kept.follow_id) == (state, FOLLOW)
        assert details(kept.id) == NOTHING_LEFT
        item = service.find_item(kept.id)
        assert item.title == f"The {state.lower()} video"
        assert item.canonical_url.startswith("https://www.youtube.com/watch?v=")
    assert stale() == {video("other").id}
    assert details(video("other").id) != NOTHING_LEFT
    assert service.strip_follow(DESK, FOLLOW, always) is True


def test_nothing_is_taken_from_others_who_have_it():
    for owner in (DESK, "ada"):
        receive(owner, video(), follow_id=f"of {owner}", state=State.BOOKMARKED)
    assert service.strip_follow(DESK, f"of {DESK}", always) is True
    assert service.find_item(video().id) == video()
    service.dismiss("ada", video().id)
    assert service.strip_follow(DESK, f"of {DESK}", always) is True
    assert details(video().id) == NOTHING_LEFT


@pytest.mark.parametrize("told_at", [NOON, NOON + timedelta(hours=1)])
def test_who_gets_it_at_that_moment_gets_it_whole(monkeypatch, told_at):
    receive(DESK, video(), state=State.BOOKMARKED)
    later, held = video(refreshed_at=told_at), listing_store.is_held

    def deliver_meanwhile(*args, **options):
        answer = held(*args, **options)
        service.deliver(later, to("ada"), NOON)
        return answer

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(listing_store, "is_held", deliver_meanwhile)
        assert service.strip_follow(DESK, FOLLOW, always) is False
    assert service.strip_follow(DESK, FOLLOW, always) is True
    assert service.find_item(video().id) == later


def test_after_a_crash_no_details_are_left(monkeypatch):
    (id,) = receive(DESK, video())

    def crash(*_, **options):
        raise RuntimeError

    with monkeypatch.context() as crashing:
        crashing.setattr(entry_store, "leave_inbox", crash)
        with pytest.raises(RuntimeError):
            service.strip_follow(DESK, FOLLOW, always)
    assert details(id) == NOTHING_LEFT
    assert service.strip_follow(DESK, FOLLOW, always) is True
    assert states() == {id: None}


def test_a_stripped_item_is_whole_again_when_somebody_receives_it():
    receive(DESK, video(), state=State.BOOKMARKED)
    service.strip_follow(DESK, FOLLOW, always)
    newer = video(refreshed_at=NOON + timedelta(days=1))
    assert service.deliver(newer, to("ada"), NOON) == ["ada"]
    assert service.find_item(video().id) == newer
    assert stale() == {video().id}


def test_feeds_and_their_articles_end_in_the_same_way():
    receive(DESK, article(creator="The Blog", excerpt="Once upon a time"), state=State.ARCHIVED)
    assert service.strip_follow(DESK, FOLLOW, always) is True
    assert details(article().id) == NOTHING_LEFT
    assert item_store.find_versions([article().id])[article().id].has_details is False
