"""What members offer to the desk, in the rows of entries and uses. Whoever offers, changes or withdraws something has
one row of their own in every such transaction, so only what the desk does at the same moment is a condition here."""

from collections.abc import Iterable

from msgspec import Struct
from pynamodb.attributes import BooleanAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.inbox.entry_row_store import EntryRow, seen_key, shelf
from chalicelib.inbox.model import DESK
from chalicelib.inbox.use_store import USES
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Delete, Update, Write

_COMPLETE = ("offers to desk", "complete")


class _Row(tables.Row):
    """Of an entry or of uses: both, in one request."""

    class Meta:
        table_name = tables.name("inbox")

    owner = UnicodeAttribute(hash_key=True)
    item_id = UnicodeAttribute(range_key=True)
    state = UnicodeAttribute(null=True)
    withdrawn = BooleanAttribute(null=True)


class Standing(Struct, frozen=True):
    """What the desk has of an item: it was received once, and is held unless it was dismissed or has expired."""

    is_received: bool = False
    is_held: bool = False
    is_withdrawn: bool = False


def find(item_id: str) -> Standing:
    return find_many([item_id])[item_id]


def find_many(item_ids: Iterable[str]) -> dict[str, Standing]:
    ids = list(item_ids)
    rows = tables.get_many(_Row, [(owner, id) for id in ids for owner in (DESK, USES)])
    found = {(row.owner, row.item_id): row for row in rows}
    return {id: _standing(found.get((DESK, id)), found.get((USES, id))) for id in ids}


def are_complete() -> bool:
    return tables.get(_Row, *_COMPLETE) is not None


def mark_complete() -> None:
    tables.put(_Row(*_COMPLETE))


def words_write(item_id: str, folded: str, is_held: bool) -> Write:
    """What a search finds the entry by. One that was dismissed is found again if it was withdrawn in between."""
    row = EntryRow(DESK, item_id)
    if is_held:
        return Update(row, [EntryRow.folded.set(folded)], EntryRow.state.exists())
    actions = [
        EntryRow.folded.set(folded),
        EntryRow.shelf.set(shelf(DESK, None)),
        EntryRow.held.set(seen_key(item_id)),
    ]
    return Update(row, actions, _is_dismissed())


def withdraw_write(item_id: str, is_held: bool) -> Write:
    """Of what was dismissed it stays known that it was, so that it does not come back when it is shared again."""
    row = EntryRow(DESK, item_id)
    if is_held:
        return Delete(row, EntryRow.state.exists())
    found_by = (EntryRow.folded, EntryRow.shelf, EntryRow.held)
    return Update(row, [attribute.remove() for attribute in found_by], _is_dismissed())


def delete_write(item_id: str) -> Write:
    return Delete(EntryRow(DESK, item_id))


def _is_dismissed() -> Condition:
    is_dismissed: Condition = EntryRow.owner.exists() & EntryRow.state.does_not_exist()
    return is_dismissed


def _standing(entry: _Row | None, uses: _Row | None) -> Standing:
    return Standing(entry is not None, bool(entry and entry.state), bool(uses and uses.withdrawn))
