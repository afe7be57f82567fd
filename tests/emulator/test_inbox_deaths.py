"""A process killed at every step of bringing an item to many inboxes, and done again: each owner has it once, and the
desk's was told once."""

from itertools import count
from typing import Any

from chalicelib.events import outbox
from chalicelib.inbox import service
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import DESK, State
from tests.conftest import received
from tests.emulator import dying as program
from tests.emulator.following import count_events
from tests.rooms.events.conftest import hook

OWNERS = [*(f"member-{number:02}" for number in range(44)), DESK]


def test_a_delivery_killed_at_any_step_and_done_again_brings_it_once(
    dying: Any, tick: Any, work: Any, receiver: Any, configure: Any
) -> None:
    """To more owners than fit into one transaction, and all the way to whoever is told of it."""
    configure(GNA_LOCAL="true")
    outbox._webhooks_exist.cache_clear()
    there = receiver()
    hook(there)
    for steps in count():
        title = f"Life {steps}"
        ended = dying(steps, "deliver", title, OWNERS)
        before = {row.owner for row in EntryRow.scan(EntryRow.item_id == program.make_item(title).id)}
        assert len(before) in (0, 20, 40, 45), "all of a transaction or nothing"
        program.deliver(title, OWNERS)
        if ended != "killed":
            break
    assert ended == "done"
    assert steps >= 5
    items = {program.make_item(f"Life {life}").id for life in range(steps + 1)}
    found = [(row.owner, row.item_id) for row in EntryRow.scan()]
    assert sorted(found) == sorted((owner, item) for owner in OWNERS for item in items)
    assert {row.id for row in ItemRow.scan()} == items
    assert count_events() == dict.fromkeys(items, 1)
    tick("sweep_events")
    work.until(lambda: {call.event["subject"] for call in there.calls} == items, timeout=30)
    assert received("events-dead") == []


def test_what_was_dismissed_does_not_come_back_by_a_delivery_that_is_made_again(dying: Any) -> None:
    program.deliver("News", OWNERS)
    id = program.make_item("News").id
    service.dismiss(DESK, id)
    service.archive(OWNERS[0], id)
    for steps in count():
        if dying(steps, "deliver", "News", OWNERS) != "killed":
            break
    assert service.list_page(DESK).entries == ()
    assert [detail.entry.id for detail in service.list_page(OWNERS[0], State.ARCHIVED).entries] == [id]
    assert count_events() == {id: 1}
