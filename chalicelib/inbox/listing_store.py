"""Entries as the indexes have them: by state, by the follow that brought them, and by item. An index may be a moment
late; whoever acts on what is found here makes it a condition.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import islice
from operator import and_
from typing import Any

from msgspec import Struct
from pynamodb.expressions.condition import Condition

from chalicelib.inbox import entry_row_store
from chalicelib.inbox.entry_row_store import EntryRow
from chalicelib.inbox.entry_store import Key
from chalicelib.inbox.model import ContentType, Entry, Provider, Seen, State
from chalicelib.kernel.aws import tables

# A filtered list looks at so many rows with one request, and at so many requests' worth before it answers.
_LOOKED_AT, _REQUESTS = 250, 4


class Filter(Struct, frozen=True):
    """`words` are folded; each has to be in the title, the creator or the note."""

    provider: Provider | None = None
    content_type: ContentType | None = None
    words: tuple[str, ...] = ()


class _Shelf(Struct, frozen=True):
    """What was found there, newest first. `end` is the place up to which was looked; None if that is all of it."""

    rows: list[EntryRow]
    end: str | None


def list_page(
    owner: str, state: State, limit: int, place: str | None, only: Filter
) -> tuple[list[Entry], str | None]:
    """Newest first, older than `place`; and the place where the next page begins."""
    rows, next_place = _merge([_look(entry_row_store.shelf(owner, state), limit, place, only)], limit)
    return [entry_row_store.parse(row) for row in rows], next_place


def list_whole_page(owner: str, limit: int, place: str | None, only: Filter) -> tuple[list[Entry | Seen], str | None]:
    """The same of everything the owner has ever received, whatever became of it."""
    shelves = [_look(entry_row_store.shelf(owner, state), limit, place, only) for state in (*State, None)]
    rows, next_place = _merge(shelves, limit)
    return [entry_row_store.parse_any(row) for row in rows], next_place


def list_state(owner: str, state: State) -> Iterator[tuple[str, Entry]]:
    """With the place of each, newest first, read as far as it is asked for."""
    options = {"index_name": "by_state", "scan_index_forward": False, "page_size": _LOOKED_AT}
    for row in tables.query(EntryRow, entry_row_store.shelf(owner, state), **options):
        yield row.placed, entry_row_store.parse(row)


def count(owner: str, state: State, most: int) -> int:
    """Up to `most`."""
    rows = tables.query(
        EntryRow, entry_row_store.shelf(owner, state), index_name="by_state", limit=most, attributes_to_get=["owner"]
    )
    return sum(1 for _ in rows)


def list_follow(follow_id: str, state: State | None = None) -> Iterator[Key]:
    """What came by a follow and was not dismissed."""
    same = EntryRow.state == state.value if state else None
    for row in tables.query(EntryRow, follow_id, index_name="by_follow", range_key_condition=same):
        yield Key(row.owner, row.item_id, State(str(row.state)))


def list_holders(item_id: str) -> Iterator[Key]:
    """Everybody who has not dismissed it."""
    for row in tables.query(EntryRow, item_id, index_name="by_item"):
        yield Key(row.owner, row.item_id)


def list_seen(item_id: str, most: int) -> list[Key]:
    """Those who have dismissed it and can still find it by its words, up to so many."""
    rows = tables.query(EntryRow, entry_row_store.seen_key(item_id), index_name="by_item", limit=most)
    return [Key(row.owner, row.item_id) for row in rows]


def is_held(item_id: str, apart_from: str = "") -> bool:
    """Whether anybody has it, apart from this owner."""
    rows = tables.query(EntryRow, item_id, index_name="by_item", limit=2)
    return any(row.owner != apart_from for row in rows)


def _look(shelf: str, limit: int, place: str | None, only: Filter) -> _Shelf:
    """One more than the page has, if there are so many and they are found in time."""
    older = EntryRow.placed < place if place else None
    options = {"index_name": "by_state", "range_key_condition": older, "scan_index_forward": False}
    wanted = _wanted(only)
    if wanted is not None:
        return _look_for(shelf, limit, options | {"filter_condition": wanted})
    rows = list(tables.query(EntryRow, shelf, limit=limit + 1, **options))
    return _Shelf(rows, rows[-1].placed if len(rows) > limit else None)


def _look_for(shelf: str, limit: int, options: dict[str, Any]) -> _Shelf:
    found: list[EntryRow] = []
    end = None
    for rows, last in islice(tables.query_pages(EntryRow, shelf, page_size=_LOOKED_AT, **options), _REQUESTS):
        found += rows
        end = last["placed"]["S"] if last else None
        if len(found) > limit:
            break
    return _Shelf(found, end)


def _merge(shelves: Sequence[_Shelf], limit: int) -> tuple[list[EntryRow], str | None]:
    """Newest first, down to the place up to which all of them were looked at. What is being moved at this moment may
    be on two of them."""
    end = max((shelf.end for shelf in shelves if shelf.end), default=None)
    by_place = {row.placed: row for shelf in shelves for row in shelf.rows if end is None or row.placed >= end}
    places = sorted(by_place, reverse=True)
    return [by_place[place] for place in places[:limit]], places[limit - 1] if len(places) > limit else end


def _wanted(only: Filter) -> Condition | None:
    conditions: list[Condition] = []
    if only.provider:
        conditions.append(EntryRow.provider == only.provider.value)
    if only.content_type:
        conditions.append(EntryRow.content_type == only.content_type.value)
    conditions += [
        EntryRow.folded.contains(word)
        | EntryRow.folded_note.contains(word)
        | EntryRow.folded_suggestion.contains(word)
        for word in only.words
    ]
    return reduce(and_, conditions) if conditions else None
