"""What time takes out of inboxes, in DynamoDB: entries that nobody has kept, and words of items that are deleted."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from pynamodb.expressions.condition import Condition

from chalicelib.inbox import entry_store
from chalicelib.inbox.entry_row_store import EntryRow, seen_key
from chalicelib.inbox.entry_store import Key
from chalicelib.inbox.model import State
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale


def list_expired(before: datetime, part: int, parts: int) -> Iterator[Key]:
    """What has been in an inbox since before that moment: one of so many parts of the table, in no order. A scan,
    because an index would cost a unit with every delivery, and this is read once a day."""
    for row in tables.scan(
        EntryRow,
        filter_condition=_is_expired(before),
        attributes_to_get=["owner", "item_id"],
        segment=part,
        total_segments=parts,
    ):
        yield Key(row.owner, row.item_id)


def expire(key: Key, before: datetime) -> bool:
    """Says whether it has left: not if somebody has kept, noted or restored it meanwhile."""
    return entry_store.leave(key.owner, key.id, _is_expired(before))


def forget_words(key: Key) -> None:
    """What a search found a dismissed entry by, because its item is being deleted. It stays seen."""
    with suppress(Stale):  # it has come back
        actions = [EntryRow.folded.remove(), EntryRow.held.remove()]
        tables.update(EntryRow(key.owner, key.id), actions, EntryRow.held == seen_key(key.id))


def _is_expired(before: datetime) -> Condition:
    """Since it was received, or since it was last put back, and nobody has written about it or meant it for a section
    of the next issue."""
    moment = clock.text(before)
    rested = EntryRow.restored_at.does_not_exist() | (EntryRow.restored_at < moment)
    untouched = EntryRow.note.does_not_exist() & EntryRow.section.does_not_exist()
    expired: Condition = (EntryRow.state == State.INBOX.value) & (EntryRow.placed < moment) & rested & untouched
    return expired
