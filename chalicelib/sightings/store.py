"""Sightings in DynamoDB, by owner, newest last.

Deleting moves a row to a partition of its own, so that no list ever reads it. `shelf` is there only while the
sighting is shared; the index behind it has what the member chose to show, and not where it really was.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Any

from msgspec import Struct
from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, IncludeProjection, KeysOnlyProjection

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Check, Delete, Put, Update, Write
from chalicelib.sightings import model
from chalicelib.sightings.model import PastSighting, Shared, SharedSighting, Sighting

DESK = "desk"
_SCRUB = "scrub"
# A search looks at so many rows with one request, and at so many requests' worth before it answers.
_LOOKED_AT, _REQUESTS = 250, 4


class _Shared(GlobalSecondaryIndex["SightingRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "shared"
        projection = IncludeProjection(["animal_name", "shown_location", "credit", "picture_id"])

    shelf = UnicodeAttribute(hash_key=True)
    shared_at = UnicodeAttribute(range_key=True)


class _Due(GlobalSecondaryIndex["SightingRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    todo = UnicodeAttribute(hash_key=True)
    due_at = UnicodeAttribute(range_key=True)


class SightingRow(tables.Row):
    class Meta:
        table_name = tables.name("sightings")

    owner = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)
    animal_name = UnicodeAttribute(null=True)
    location = UnicodeAttribute(null=True)
    folded = UnicodeAttribute(null=True)
    sighted_at = UnicodeAttribute()
    created_at = UnicodeAttribute()
    updated_at = NumberAttribute()
    picture_id = UnicodeAttribute(null=True)
    # The moment and the id that the publication sees: unique, so that a place in its list names neither an owner nor
    # the sighting's own id.
    shared_at = UnicodeAttribute(null=True)
    shelf = UnicodeAttribute(null=True)
    shown_location = UnicodeAttribute(null=True)
    credit = UnicodeAttribute(null=True)
    deleted_at = UnicodeAttribute(null=True)
    todo = UnicodeAttribute(null=True)
    due_at = UnicodeAttribute(null=True)
    shared = _Shared()
    due = _Due()


class Key(Struct, frozen=True):
    """Of a deleted sighting, as the index has it."""

    owner: str
    id: str


def find(owner: str, id: str) -> Sighting | None:
    row = tables.get(SightingRow, owner, id)
    return _sighting(row) if row else None


def list_page(owner: str, limit: int, place: str | None, search: str) -> tuple[list[Sighting], str | None]:
    """Newest first, older than `place`; and the place where the next page begins. `search` is folded."""
    if search:
        return _search(owner, limit, place, search)
    rows = list(tables.query(SightingRow, owner, limit=limit + 1, **_newest_before(place)))
    return [_sighting(row) for row in rows[:limit]], rows[limit - 1].id if len(rows) > limit else None


def list_all(owner: str) -> Iterator[Sighting]:
    """Newest first."""
    return map(_sighting, tables.query(SightingRow, owner, **_newest_before(None)))


def list_deleted(owner: str) -> Iterator[PastSighting]:
    return map(_deleted, tables.query(SightingRow, _deleted_owner(owner), **_newest_before(None)))


def list_shared(limit: int, place: str | None) -> tuple[list[SharedSighting], str | None]:
    """Last shared first, shared before `place`. The index may be a moment late."""
    before = SightingRow.shared_at < place if place else None
    options = {"index_name": "shared", "range_key_condition": before, "scan_index_forward": False}
    rows = list(tables.query(SightingRow, DESK, limit=limit + 1, **options))
    next_place = str(rows[limit - 1].shared_at) if len(rows) > limit else None
    return [_shared_sighting(row) for row in rows[:limit]], next_place


def list_due(now: datetime) -> Iterator[Key]:
    """Deleted long enough ago for their text to go."""
    over = SightingRow.due_at <= clock.text(now)
    for row in tables.query(SightingRow, _SCRUB, index_name="due", range_key_condition=over):
        yield Key(row.owner, row.id)


def scrub(key: Key) -> bool:
    """Take the text out. Says whether it was still there."""
    texts = (SightingRow.animal_name, SightingRow.location, SightingRow.folded, SightingRow.todo, SightingRow.due_at)
    with suppress(Stale):  # the index was late, or another clean-up was here first
        tables.update(SightingRow(key.owner, key.id), [text.remove() for text in texts], SightingRow.todo == _SCRUB)
        return True
    return False


def create_write(sighting: Sighting) -> Write:
    row = SightingRow(
        sighting.owner,
        sighting.id,
        animal_name=sighting.animal_name,
        location=sighting.location,
        folded=model.fold_both(sighting.animal_name, sighting.location),
        sighted_at=clock.text(sighting.sighted_at),
        created_at=clock.text(sighting.created_at),
        updated_at=sighting.updated_at,
        picture_id=sighting.picture_id,
    )
    return Put(row, SightingRow.id.does_not_exist())


def change_write(before: Sighting, after: Sighting) -> Write:
    """Holds only if nobody has edited it since `before` was read, nor shared or withdrawn it: the publication's item
    follows the name and the photo. What was chosen to be shown is not touched."""
    actions = [
        SightingRow.animal_name.set(after.animal_name),
        SightingRow.location.set(after.location),
        SightingRow.folded.set(model.fold_both(after.animal_name, after.location)),
        SightingRow.updated_at.set(after.updated_at),
        _set_or_remove(SightingRow.picture_id, after.picture_id),
    ]
    return Update(SightingRow(before.owner, before.id), actions, _is_same(before))


def share_write(before: Sighting, shared: Shared) -> Write:
    """Holds only if it is still as in `before`, and shared as it was then or still not at all."""
    actions = [
        SightingRow.shelf.set(DESK),
        SightingRow.shared_at.set(_shelf_place(before.id, shared)),
        _set_or_remove(SightingRow.shown_location, shared.shown_location),
        _set_or_remove(SightingRow.credit, shared.credit),
    ]
    return Update(SightingRow(before.owner, before.id), actions, _is_same(before))


def same_write(before: Sighting) -> Write:
    """Changes nothing, and fails if it was changed, shared or withdrawn since."""
    return Check(SightingRow(before.owner, before.id), _is_same(before))


def withdraw_write(before: Sighting) -> Write:
    chosen = (SightingRow.shelf, SightingRow.shared_at, SightingRow.shown_location, SightingRow.credit)
    row = SightingRow(before.owner, before.id)
    return Update(row, [attribute.remove() for attribute in chosen], _is_shared_as(before))


def delete_writes(before: Sighting, now: datetime) -> list[Write]:
    """Hold only if it is still as in `before`. What was shared is withdrawn by it."""
    moved = SightingRow(
        _deleted_owner(before.owner),
        before.id,
        animal_name=before.animal_name,
        location=before.location,
        sighted_at=clock.text(before.sighted_at),
        created_at=clock.text(before.created_at),
        updated_at=before.updated_at,
        deleted_at=clock.text(now),
        todo=_SCRUB,
        due_at=clock.text(now + model.TEXT_KEPT),
    )
    return [Delete(SightingRow(before.owner, before.id), _is_same(before)), Put(moved)]


def _search(owner: str, limit: int, place: str | None, search: str) -> tuple[list[Sighting], str | None]:
    found: list[SightingRow] = []
    options = {"filter_condition": SightingRow.folded.contains(search), "page_size": _LOOKED_AT}
    for rows, last in islice(tables.query_pages(SightingRow, owner, **options, **_newest_before(place)), _REQUESTS):
        found += rows
        place = last["id"]["S"] if last else None
        if len(found) > limit:
            place = found[limit - 1].id
            break
    return [_sighting(row) for row in found[:limit]], place


def _newest_before(place: str | None) -> dict[str, Any]:
    older = SightingRow.id < place if place else None
    return {"range_key_condition": older, "scan_index_forward": False, "consistent_read": True}


def _is_same(before: Sighting) -> Condition:
    same: Condition = (SightingRow.updated_at == before.updated_at) & _is_shared_as(before)
    return same


def _is_shared_as(before: Sighting) -> Condition:
    same: Condition = SightingRow.id.exists() & SightingRow.shared_at.does_not_exist()
    if before.shared:
        same = SightingRow.shared_at == _shelf_place(before.id, before.shared)
    return same


def _shelf_place(id: str, shared: Shared) -> str:
    return f"{clock.text(shared.shared_at)} {model.shown_id(id)}"


def _set_or_remove(attribute: UnicodeAttribute, value: str | None) -> Action:
    return attribute.set(value) if value else attribute.remove()


def _deleted_owner(owner: str) -> str:
    return f"{owner} deleted"


def _shared_moment(row: SightingRow) -> datetime:
    return clock.parse(str(row.shared_at).partition(" ")[0])


def _sighting(row: SightingRow) -> Sighting:
    shared = Shared(row.shown_location or "", row.credit or "", _shared_moment(row)) if row.shared_at else None
    return Sighting(
        id=row.id,
        owner=row.owner,
        animal_name=row.animal_name or "",
        location=row.location or "",
        sighted_at=clock.parse(row.sighted_at),
        created_at=clock.parse(row.created_at),
        updated_at=int(row.updated_at),
        picture_id=row.picture_id,
        shared=shared,
    )


def _deleted(row: SightingRow) -> PastSighting:
    return PastSighting(
        id=row.id,
        animal_name=row.animal_name,
        location=row.location,
        sighted_at=clock.parse(row.sighted_at),
        created_at=clock.parse(row.created_at),
        updated_at=int(row.updated_at),
        deleted_at=clock.parse(row.deleted_at or row.created_at),
    )


def _shared_sighting(row: SightingRow) -> SharedSighting:
    return SharedSighting(
        id=row.id,
        animal_name=row.animal_name or "",
        shown_location=row.shown_location or "",
        credit=row.credit or "",
        shared_at=_shared_moment(row),
        picture_id=row.picture_id,
    )
