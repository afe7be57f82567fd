"""Who has what, in DynamoDB: one row for an owner and an item, from the moment it was first received.

The row outlives the entry: dismissing takes the state out of it, and what is left says that the owner has seen the
item, so that it enters no second time by itself. In the indexes it then has a place of its own, apart from entries:
there it is found by who searches everything, and by who deletes the item.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from msgspec import Struct
from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.inbox import model, search
from chalicelib.inbox.entry_row_store import OF_ENTRIES, parse, parse_any, seen_key, shelf, values
from chalicelib.inbox.entry_row_store import EntryRow as EntryRow
from chalicelib.inbox.model import Entry, Item, Seen, State
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Put, Update

_READ_TOGETHER = 100


class Key(Struct, frozen=True):
    """Of an entry, as an index has it, which may be a moment late. Only that of a follow knows the state."""

    owner: str
    id: str
    state: State | None = None


def find(owner: str, id: str) -> Entry | None:
    """None also if it was dismissed."""
    row = tables.get(EntryRow, owner, id)
    return parse(row) if row and row.state else None


def find_many(owner: str, ids: Iterable[str]) -> dict[str, Entry]:
    """By id, a hundred a request; without those that were dismissed."""
    rows = tables.get_many(EntryRow, [(owner, id) for id in ids])
    return {row.item_id: parse(row) for row in rows if row.state}


def find_any(owner: str, id: str) -> Entry | Seen | None:
    """Also if it was dismissed."""
    row = tables.get(EntryRow, owner, id)
    return parse_any(row) if row else None


def find_place(owner: str, id: str) -> str | None:
    """Its place among everything the owner has received, also if it was dismissed."""
    row = tables.get(EntryRow, owner, id)
    return row.placed if row else None


def list_all(owner: str) -> Iterator[Entry | Seen]:
    """Everything the owner has ever received, in no order, read as far as it is asked for."""
    for row in tables.query(EntryRow, owner, consistent_read=True, page_size=_READ_TOGETHER):
        yield parse_any(row)


def delete_all(owner: str, ids: Iterable[str]) -> None:
    """As if the owner had never received them."""
    tables.write_all(EntryRow, delete=[EntryRow(owner, id) for id in ids])


def enter_write(entry: Entry, folded: str) -> Put:
    """Holds only if the owner has never received the item. `folded` is what a search finds it by."""
    given: dict[str, Any] = values(entry, folded)
    row = EntryRow(entry.owner, entry.id, **given)
    return Put(row, EntryRow.owner.does_not_exist(), show=True)


def return_write(entry: Entry, folded: str) -> Update:
    """Holds also if the owner has dismissed it: then it is as if it had just arrived. An update, not a put: what else
    is stored in the row stays."""
    actions = [_set_or_remove(getattr(EntryRow, name), value) for name, value in values(entry, folded).items()]
    return Update(EntryRow(entry.owner, entry.id), actions, EntryRow.state.does_not_exist(), show=True)


def move(owner: str, id: str, state: State, now: datetime, expected: State | None = None) -> Entry | None:
    """To this state, whichever it was in, or only from the expected one. None if there is no such entry."""
    restored = EntryRow.restored_at.set(clock.text(now)) if state is State.INBOX else EntryRow.restored_at.remove()
    actions = [EntryRow.state.set(state.value), EntryRow.shelf.set(shelf(owner, state)), restored]
    return _change(owner, id, actions, EntryRow.state == expected.value if expected else None)


def describe(owner: str, item: Item, folded: str) -> Entry | None:
    """With what the row repeats of its item. None if there is no such entry."""
    actions = [
        EntryRow.provider.set(item.provider.value),
        EntryRow.content_type.set(item.content_type.value),
        _set_or_remove(EntryRow.folded, folded),
    ]
    return _change(owner, item.id, actions)


def set_section(owner: str, id: str, section: str) -> Entry | None:
    return _change(owner, id, [_set_or_remove(EntryRow.section, section)])


def set_note(owner: str, id: str, note: str) -> Entry | None:
    return _change(owner, id, _note_actions(note))


def set_note_as(before: Entry, note: str) -> Entry | None:
    """Only if the entry still has the note it had before; None if not, or if it is gone."""
    return _change(before.owner, before.id, _note_actions(note), _has(EntryRow.note, before.note))


def add_note(before: Entry, note: str) -> Entry | None:
    """The same, with what was there before."""
    return set_note_as(before, model.join_notes(before.note, note))


def set_words(before: Entry, note: str, suggestion: str) -> Entry | None:
    """The note, and what members suggested, only if that is still what it was before."""
    actions = [*_note_actions(note), *_suggestion_actions(suggestion)]
    return _change(before.owner, before.id, actions, _has(EntryRow.suggestion, before.suggestion))


def add_suggestion(before: Entry, text: str) -> Entry | None:
    return set_suggestion_as(before, model.join_notes(before.suggestion, text))


def set_suggestion_as(before: Entry, suggestion: str) -> Entry | None:
    """Only if the entry still has the one it had before; None if not, or if it is gone."""
    same = _has(EntryRow.suggestion, before.suggestion)
    return _change(before.owner, before.id, _suggestion_actions(suggestion), same)


def dismiss(owner: str, id: str) -> bool:
    """Whichever state it is in. Says whether there was such an entry."""
    return leave(owner, id, EntryRow.state.exists())


def dismiss_as(before: Entry) -> bool:
    """Only if it still is as it was read."""
    words = _has(EntryRow.note, before.note) & _has(EntryRow.suggestion, before.suggestion)
    return leave(before.owner, before.id, (EntryRow.state == before.state.value) & words)


def leave_inbox(
    key: Key, follow_id: str | None = None, before: str | None = None, forget_words: bool = False
) -> bool:
    """Dismiss an entry only if nobody has kept it, if it came by that follow, and to a place before that one; with
    `forget_words` no search finds it any more. Says whether it has left."""
    condition = EntryRow.state == State.INBOX.value
    if follow_id is not None:
        condition &= EntryRow.follow_id == follow_id
    if before is not None:
        condition &= EntryRow.placed < before
    return leave(key.owner, key.id, condition, forget_words)


def detach(key: Key, follow_id: str) -> bool:
    """Let an entry that was kept forget the follow it came by. Says whether there was such an entry."""
    is_kept = (EntryRow.follow_id == follow_id) & (EntryRow.state != State.INBOX.value)
    with suppress(Stale):
        tables.update(EntryRow(key.owner, key.id), [EntryRow.follow_id.remove()], is_kept)
        return True
    return False


def _change(owner: str, id: str, actions: Sequence[Action], same: Condition | None = None) -> Entry | None:
    condition = EntryRow.state.exists()
    with suppress(Stale):
        return parse(tables.update(EntryRow(owner, id), actions, condition if same is None else condition & same))
    return None


def leave(owner: str, id: str, condition: Condition, forget_words: bool = False) -> bool:
    """Dismiss an entry if the condition holds. Says whether it did."""
    actions = [
        *(attribute.remove() for attribute in OF_ENTRIES),
        EntryRow.shelf.set(shelf(owner, None)),
        EntryRow.held.remove() if forget_words else EntryRow.held.set(seen_key(id)),
        *([EntryRow.folded.remove()] if forget_words else []),
    ]
    with suppress(Stale):
        tables.update(EntryRow(owner, id), actions, condition)
        return True
    return False


def _has(attribute: UnicodeAttribute, text: str) -> Condition:
    return attribute == text if text else attribute.does_not_exist()


def _note_actions(note: str) -> list[Action]:
    return [_set_or_remove(EntryRow.note, note), _set_or_remove(EntryRow.folded_note, search.fold(note))]


def _suggestion_actions(text: str) -> list[Action]:
    return [
        _set_or_remove(EntryRow.suggestion, text),
        _set_or_remove(EntryRow.folded_suggestion, search.fold(text)),
    ]


def _set_or_remove(attribute: UnicodeAttribute, value: str | None) -> Action:
    return attribute.set(value) if value else attribute.remove()
