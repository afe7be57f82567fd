"""The row of an entry, its place in the indexes, and how it becomes one."""

from datetime import datetime

from pynamodb.attributes import UnicodeAttribute
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.inbox import model, search
from chalicelib.inbox.model import ContentType, Entry, Provider, Seen, State
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables


class _ByState(GlobalSecondaryIndex["EntryRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_state"
        projection = AllProjection()

    shelf = UnicodeAttribute(hash_key=True)
    placed = UnicodeAttribute(range_key=True)


class _ByFollow(GlobalSecondaryIndex["EntryRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_follow"
        projection = KeysOnlyProjection()

    follow_id = UnicodeAttribute(hash_key=True)
    state = UnicodeAttribute(range_key=True)


class _ByItem(GlobalSecondaryIndex["EntryRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_item"
        projection = KeysOnlyProjection()

    held = UnicodeAttribute(hash_key=True)
    owner = UnicodeAttribute(range_key=True)


class EntryRow(tables.Row):
    class Meta:
        table_name = tables.name("inbox")

    owner = UnicodeAttribute(hash_key=True)
    item_id = UnicodeAttribute(range_key=True)
    # The moment it was received and the item's id: unique within a list, and its order.
    placed = UnicodeAttribute()
    provider = UnicodeAttribute()
    content_type = UnicodeAttribute()
    state = UnicodeAttribute(null=True)
    shelf = UnicodeAttribute(null=True)
    held = UnicodeAttribute(null=True)
    follow_id = UnicodeAttribute(null=True)
    note = UnicodeAttribute(null=True)
    # The heading it is meant for in the next issue.
    section = UnicodeAttribute(null=True)
    # What a search looks through: title and creator as they were received, and the note.
    folded = UnicodeAttribute(null=True)
    folded_note = UnicodeAttribute(null=True)
    # What members wrote who handed it to the desk, and what a search looks through of it.
    suggestion = UnicodeAttribute(null=True)
    folded_suggestion = UnicodeAttribute(null=True)
    # When it was last put back into the inbox, if ever.
    restored_at = UnicodeAttribute(null=True)
    by_state = _ByState()
    by_follow = _ByFollow()
    by_item = _ByItem()


# What only an entry has, and not what is left of one that was dismissed.
OF_ENTRIES = (
    EntryRow.state,
    EntryRow.follow_id,
    EntryRow.note,
    EntryRow.folded_note,
    EntryRow.suggestion,
    EntryRow.folded_suggestion,
    EntryRow.section,
    EntryRow.restored_at,
)


def shelf(owner: str, state: State | None) -> str:
    """Without a state it is that of what was dismissed."""
    return f"{owner} {state or 'DISMISSED'}"


def seen_key(id: str) -> str:
    """In the place of the item's id, for those who have dismissed it."""
    return f"seen {id}"


def values(entry: Entry, folded: str) -> dict[str, str | None]:
    return {
        "placed": model.place_of(entry.received_at, entry.id),
        "provider": entry.provider.value,
        "content_type": entry.content_type.value,
        "state": entry.state.value,
        "shelf": shelf(entry.owner, entry.state),
        "held": entry.id,
        "follow_id": entry.follow_id,
        "note": entry.note or None,
        "section": entry.section or None,
        "folded": folded or None,
        "folded_note": search.fold(entry.note) or None,
        "suggestion": entry.suggestion or None,
        "folded_suggestion": search.fold(entry.suggestion) or None,
    }


def _received_at(row: EntryRow) -> datetime:
    return clock.parse(row.placed.partition(" ")[0])


def _seen(row: EntryRow) -> Seen:
    provider, content_type = Provider(row.provider), ContentType(row.content_type)
    return Seen(row.item_id, _received_at(row), provider, content_type, row.folded or "")


def parse_any(row: EntryRow) -> Entry | Seen:
    return parse(row) if row.state else _seen(row)


def parse(row: EntryRow) -> Entry:
    return Entry(
        owner=row.owner,
        id=row.item_id,
        state=State(str(row.state)),
        received_at=_received_at(row),
        provider=Provider(row.provider),
        content_type=ContentType(row.content_type),
        follow_id=row.follow_id,
        note=row.note or "",
        section=row.section or "",
        suggestion=row.suggestion or "",
    )
