"""Public copies in the table of pictures, one row each, by name.

`uses` counts what shows the copy, items and campaigns, and is changed in the same transaction as that. A copy that is
not used has a `todo`, and the clean-up removes it when that is due.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Update, Write
from chalicelib.kernel.errors import Unavailable
from chalicelib.media.model import PublicCopy

# What there is to do about a copy, from its `due_at` on.
UNUSED, REMOVE = "unused copy", "remove copy"

_PUBLIC, _REMOVED = "public", "removed"
# Somebody may be about to use it: an item whose picture was just copied, a draft that is not saved yet.
_GRACE = timedelta(days=1)


class _DueIndex(GlobalSecondaryIndex["CopyRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    todo = UnicodeAttribute(hash_key=True)
    due_at = UnicodeAttribute(range_key=True)


class CopyRow(tables.Row):
    """Only `id` and `uses` are sure to be there: a release also counts in a row that is gone."""

    class Meta:
        table_name = tables.name("media")

    id = UnicodeAttribute(hash_key=True)
    state = UnicodeAttribute(null=True)
    uses = NumberAttribute()
    created_at = UnicodeAttribute(null=True)
    width = NumberAttribute(null=True)
    height = NumberAttribute(null=True)
    size = NumberAttribute(null=True)
    todo = UnicodeAttribute(null=True)
    due_at = UnicodeAttribute(null=True)
    due = _DueIndex()


def announce(copy: PublicCopy, now: datetime) -> bool:
    """Before its file is stored, so that no file is without a row. Says whether the file has to be stored: not if the
    copy is used, because then it was there before."""
    actions = [
        CopyRow.state.set(_PUBLIC),
        CopyRow.uses.set(0),
        CopyRow.created_at.set(clock.text(now)),
        CopyRow.width.set(copy.width),
        CopyRow.height.set(copy.height),
        CopyRow.size.set(copy.bytes),
        *_due_actions(UNUSED, now + _GRACE),
    ]
    try:
        tables.update(CopyRow(copy.name), actions, CopyRow.id.does_not_exist() | (_is_public() & _is_free()))
    except Stale:
        return _check_stored(copy.name)
    return True


def find_public(names: Iterable[str]) -> frozenset[str]:
    return frozenset(row.id for row in tables.get_many(CopyRow, names) if row.state == _PUBLIC)


def find(name: str) -> PublicCopy | None:
    row = tables.get(CopyRow, name)
    if row is None or row.state != _PUBLIC:
        return None
    return PublicCopy(name, int(row.width or 0), int(row.height or 0), int(row.size or 0))


def list_due(todo: str, now: datetime) -> Iterator[str]:
    """Names, the longest due first. From the index, which lags: what is done about each must be conditional."""
    for row in tables.query_index(CopyRow.due, todo, range_key_condition=_DueIndex.due_at <= clock.text(now)):
        yield row.id


def use_write(name: str) -> Write:
    """Fails if the copy is gone or being removed."""
    return Update(CopyRow(name), [CopyRow.uses.add(1), *_nothing_due()], _is_public())


def release_write(name: str, now: datetime) -> Write:
    """Without a condition, because nothing that is deleted may wait for its picture. Whether anybody else uses the
    copy is seen when it is due."""
    return Update(CopyRow(name), [CopyRow.uses.add(-1), *_due_actions(UNUSED, now + _GRACE)])


def settle(name: str) -> bool:
    """Nothing is to be done about a copy that is used. Says whether it is."""
    return _update(name, _nothing_due(), CopyRow.uses > 0)


def mark_removed(name: str, now: datetime, due_only: bool) -> bool:
    """From now on nobody can use it. False if somebody does; with `due_only`, also if its time has not come."""
    is_due = (CopyRow.todo == UNUSED) & (CopyRow.due_at <= clock.text(now))
    actions = [CopyRow.state.set(_REMOVED), *_due_actions(REMOVE, now)]
    return _update(
        name, actions, CopyRow.id.exists() & _is_free() & is_due if due_only else _is_public() & _is_free()
    )


def forget(name: str) -> None:
    """After its file is deleted."""
    with suppress(Stale):
        tables.delete(CopyRow(name), CopyRow.state == _REMOVED)


def _check_stored(name: str) -> bool:
    """False: it is there and stays. One that is being removed can come back only when that is done."""
    row = tables.get(CopyRow, name)
    if row is None or row.state != _PUBLIC:
        raise Unavailable("This picture is just being removed")
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


def _due_actions(todo: str, due_at: datetime) -> list[Action]:
    return [CopyRow.todo.set(todo), CopyRow.due_at.set(clock.text(due_at))]


def _nothing_due() -> list[Action]:
    return [CopyRow.todo.remove(), CopyRow.due_at.remove()]
