"""Deliveries at the same moment, on real conditions and transactions: one entry an owner, one event for the desk."""

from chalicelib.events.store import EventRow
from chalicelib.inbox import service
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.model import DESK, Act
from tests.rooms.inbox.things import FOLLOW, NOON, receive, states, to, video

OWNERS = [DESK, *(f"member-{number:02}" for number in range(44))]


def test_four_workers_deliver_the_same_item_once_to_each(emulator, together):
    for number in range(5):
        item = video(f"number {number}")
        found = together(*[lambda item=item: service.deliver(item, to(*OWNERS), NOON)] * 4)
        assert sorted(owner for owners in found for owner in owners) == sorted(OWNERS)
    assert len(list(EntryRow.scan())) == 5 * 45
    assert len([row for row in EventRow.scan() if row.type == "ITEM_RECEIVED"]) == 5


def test_somebody_with_newer_word_of_the_item_comes_between(emulator, together):
    from datetime import timedelta

    newer = video(refreshed_at=NOON + timedelta(hours=1), title="Newer")
    together(
        lambda: service.deliver(video(), to(*OWNERS), NOON),
        lambda: service.deliver(newer, to(*OWNERS[20:]), NOON),
        lambda: service.store_item(video()),
    )
    assert service.find_item(video().id) == newer
    assert len(list(EntryRow.scan())) == 45


def test_a_follow_ends_while_its_entries_are_kept_and_dismissed(emulator, together):
    ids = receive(DESK, *(video(f"number {number}") for number in range(30)))
    together(
        lambda: service.forget_follow(DESK, FOLLOW, lambda: True),
        lambda: service.forget_follow(DESK, FOLLOW, lambda: True),
        lambda: service.bulk(DESK, ids[:10], Act.BOOKMARK),
        lambda: service.bulk(DESK, ids[10:20], Act.DISMISS),
    )
    while not service.forget_follow(DESK, FOLLOW, lambda: True):
        pass
    found = states()
    assert {found[id] for id in ids[10:]} == {None}
    assert {found[id] for id in ids[:10]} <= {None, "BOOKMARKED"}
    assert not [row for row in EntryRow.scan() if row.follow_id]
