"""Public copies in the table of pictures, one row each, by name.

`uses` counts what shows the copy, items and campaigns, and is changed in the same transaction as that; `used_in`
names some of it. A copy that is neither used nor kept has a `todo`, and the clean-up removes it when that is due.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Update, Write
from chalicelib.kernel.errors import Unavailable
from chalicelib.media import model
from chalicelib.media.model import Kept, PublicCopy

# What there is to do about a copy, from its `due_at` on.
UNUSED, REMOVE = "unused copy", "remove copy"
# The lists: what editors uploaded, and what was copied from elsewhere.
UPLOADED, COPIED = "uploaded", "copied"
# A row is as large as a kilobyte or four: more campaigns than that are counted, and not named.
MOST_NAMED = 100
BEING_REMOVED = "This picture is just being removed"

_PUBLIC, _REMOVED = "public", "removed"
# Somebody may be about to use it: an item whose picture was just copied, a draft that is not saved yet.
_GRACE = timedelta(days=1)


class _DueIndex(GlobalSecondaryIndex["CopyRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    todo = UnicodeAttribute(hash_key=True)
    due_at = UnicodeAttribute(range_key=True)


class _ListedIndex(GlobalSecondaryIndex["CopyRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "listed"
        projection = KeysOnlyProjection()

    shelf = UnicodeAttribute(hash_key=True)
    listed_at = UnicodeAttribute(range_key=True)


class CopyRow(tables.Row):
    """Only `id` and `uses` are sure to be there: a release also counts in a row that is gone, and rows from before
    there was a list are on no shelf until they are used again."""

    class Meta:
        table_name = tables.name("media")

    id = UnicodeAttribute(hash_key=True)
    state = UnicodeAttribute(null=True)
    uses = NumberAttribute()
    used_in = UnicodeSetAttribute(null=True)
    created_at = UnicodeAttribute(null=True)
    width = NumberAttribute(null=True)
    height = NumberAttribute(null=True)
    size = NumberAttribute(null=True)
    media_id = UnicodeAttribute(null=True)
    kept = BooleanAttribute(null=True)
    shelf = UnicodeAttribute(null=True)
    # The moment and the name: unique, so that it is a place in the list.
    listed_at = UnicodeAttribute(null=True)
    todo = UnicodeAttribute(null=True)
    due_at = UnicodeAttribute(null=True)
    due = _DueIndex()
    listed = _ListedIndex()


def announce(copy: PublicCopy, now: datetime) -> bool:
    """Before its file is stored, so that no file is without a row. Says whether the file has to be stored: not if the
    copy is used, because then it was there before."""
    actions = [
        CopyRow.state.set(_PUBLIC),
        CopyRow.uses.set(0),
        CopyRow.used_in.remove(),
        CopyRow.width.set(copy.width),
        CopyRow.height.set(copy.height),
        CopyRow.size.set(copy.bytes),
        *_list_actions(copy.name, now),
        *_due_actions(UNUSED, now + _GRACE),
    ]
    try:
        tables.update(CopyRow(copy.name), actions, CopyRow.id.does_not_exist() | (_is_public() & _is_free()))
    except Stale:
        return _check_stored(copy.name)
    return True


def keep_write(name: str, media_id: str, now: datetime) -> Write:
    """It stays until an editor deletes it, under this id if it has none yet. Fails if it is gone or being removed."""
    actions = [
        CopyRow.kept.set(True),
        CopyRow.media_id.set(CopyRow.media_id | media_id),
        CopyRow.shelf.set(UPLOADED),
        *_list_actions(name, now)[1:],
        *_nothing_due(),
    ]
    return Update(CopyRow(name), actions, _is_public())


def find_public(names: Iterable[str]) -> frozenset[str]:
    return frozenset(find_many(names))


def find_many(names: Iterable[str]) -> dict[str, Kept]:
    """Those that are public, by name."""
    return {row.id: _kept(row) for row in tables.get_many(CopyRow, names) if row.state == _PUBLIC}


def find(name: str) -> Kept | None:
    row = tables.get(CopyRow, name)
    return _kept(row) if row and row.state == _PUBLIC else None


def find_media_id(name: str) -> str | None:
    """Also of one that is being removed."""
    row = tables.get(CopyRow, name)
    return row.media_id if row else None


def list_page(shelf: str, limit: int, place: str | None) -> list[tuple[str, str]]:
    """Places and names, newest first, older than `place`. From the index, which lags."""
    older = _ListedIndex.listed_at < place if place else None
    options = {"range_key_condition": older, "scan_index_forward": False, "limit": limit}
    return [(row.listed_at, row.id) for row in tables.query_index(CopyRow.listed, shelf, **options)]


def list_due(todo: str, now: datetime) -> Iterator[str]:
    """Names, the longest due first. From the index, which lags: what is done about each must be conditional."""
    for row in tables.query_index(CopyRow.due, todo, range_key_condition=_DueIndex.due_at <= clock.text(now)):
        yield row.id


def use_write(name: str, now: datetime, by: str | None = None) -> Write:
    """`by` names what uses it. Fails if the copy is gone or being removed."""
    actions = [CopyRow.uses.add(1), *_list_actions(name, now), *_nothing_due()]
    if by:
        actions.append(CopyRow.used_in.add({by}))
    return Update(CopyRow(name), actions, _is_public())


def release_write(name: str, now: datetime, by: str | None = None) -> Write:
    """Without a condition, because nothing that is deleted may wait for its picture. Whether anybody else uses the
    copy is seen when it is due."""
    actions = [CopyRow.uses.add(-1), *_due_actions(UNUSED, now + _GRACE)]
    if by:
        actions.append(CopyRow.used_in.delete({by}))
    return Update(CopyRow(name), actions)


def settle(name: str) -> bool:
    """Nothing is to be done about a copy that is used or kept. Says whether it is."""
    return _update(name, _nothing_due(), (CopyRow.uses > 0) | CopyRow.kept.exists())


def mark_removed(name: str, now: datetime, due_only: bool) -> bool:
    """From now on nobody can use it. False if somebody does; with `due_only`, also if it is kept, or its time has not
    come."""
    is_due = (CopyRow.todo == UNUSED) & (CopyRow.due_at <= clock.text(now)) & CopyRow.kept.does_not_exist()
    gone = [CopyRow.state.set(_REMOVED), CopyRow.shelf.remove(), CopyRow.listed_at.remove()]
    may = CopyRow.id.exists() & is_due if due_only else _is_public()
    return _update(name, [*gone, *_due_actions(REMOVE, now)], may & _is_free())


def forget(name: str) -> None:
    """After its file is deleted."""
    with suppress(Stale):
        tables.delete(CopyRow(name), CopyRow.state == _REMOVED)


def _check_stored(name: str) -> bool:
    """False: it is there and stays. One that is being removed can come back only when that is done."""
    if find(name) is None:
        raise Unavailable(BEING_REMOVED)
    return False


def _update(name: str, actions: list[Action], condition: Condition) -> bool:
    with suppress(Stale):
        tables.update(CopyRow(name), actions, condition)
        return True
    return False


def _is_public() -> Condition:
    return CopyRow.state == _PUBLIC


def _is_free() -> Condition:
    is_free: Condition = CopyRow.uses <= 0
    return is_free


def _list_actions(name: str, now: datetime) -> list[Action]:
    """What is listed already stays where it is. The shelf comes first."""
    moment = clock.text(now)
    return [
        CopyRow.shelf.set(CopyRow.shelf | COPIED),
        CopyRow.listed_at.set(CopyRow.listed_at | f"{moment} {name}"),
        CopyRow.created_at.set(CopyRow.created_at | moment),
    ]


def _due_actions(todo: str, due_at: datetime) -> list[Action]:
    return [CopyRow.todo.set(todo), CopyRow.due_at.set(clock.text(due_at))]


def _nothing_due() -> list[Action]:
    return [CopyRow.todo.remove(), CopyRow.due_at.remove()]


def _kept(row: CopyRow) -> Kept:
    copy = PublicCopy(row.id, int(row.width or 0), int(row.height or 0), int(row.size or 0))
    made = clock.parse(row.created_at) if row.created_at else None
    named = frozenset(row.used_in or ())
    return Kept(row.media_id or model.stem(row.id), copy, int(row.uses), named, bool(row.kept), made)
