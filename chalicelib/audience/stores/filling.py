"""How far the pass that fills in rows of an earlier version has come: one row beside the daily counts."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from pynamodb.attributes import UnicodeAttribute

from chalicelib.audience.model import ACTIVATED, PENDING, Subscriber
from chalicelib.audience.stores import listing, searchable, subscribers
from chalicelib.audience.stores.subscriber_row import SubscriberRow
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Update, Write

_KIND, _SLOT = "search", "filling"
_STATUSES = (PENDING, ACTIVATED)
_TOGETHER = 90  # a transaction takes a hundred writes


class FillingRow(tables.Row):
    """`status`, `created_at` and `id` are those of the last one that was looked at; at the beginning of a status
    there is no such one."""

    class Meta:
        table_name = tables.name("census")

    kind = UnicodeAttribute(hash_key=True)
    slot = UnicodeAttribute(range_key=True)
    status = UnicodeAttribute(null=True)
    created_at = UnicodeAttribute(null=True)
    id = UnicodeAttribute(null=True)
    finished_at = UnicodeAttribute(null=True)


class Group(Struct, frozen=True):
    """Ids of people in the order they signed up, their status, and the key of the last of them (None at the end)."""

    ids: list[str]
    status: str
    last: dict[str, Any] | None


def is_finished() -> bool:
    row = _find()
    return bool(row and row.finished_at)


def groups() -> Iterator[Group]:
    """Everybody, oldest first: first the pending ones, who may become the others meanwhile, but not the reverse. From
    where the last run stopped."""
    row = _find()
    status = row.status if row and row.status else PENDING
    after = _key(row) if row and row.id else None
    for each in _STATUSES[_STATUSES.index(status) :]:
        while True:
            ids, last = listing.oldest_ids(each, _TOGETHER, after)
            yield Group(ids, each, last)
            after = last
            if not last:
                break


def keep(group: Group) -> None:
    """The group is done. A twin that is behind writes an older place, and then some is looked at twice."""
    row = FillingRow(_KIND, _SLOT)
    if group.last:
        at, id = (group.last[name]["S"] for name in ("created_at", "id"))
        place = [FillingRow.created_at.set(at), FillingRow.id.set(id), FillingRow.status.set(group.status)]
        tables.update(row, place)
    elif group.status == PENDING:
        tables.update(row, [FillingRow.status.set(ACTIVATED), FillingRow.created_at.remove(), FillingRow.id.remove()])


def finish() -> None:
    tables.put(FillingRow(_KIND, _SLOT, finished_at=clock.text(clock.now())))


def fill_write(subscriber: Subscriber) -> Write:
    """Provided they are there still, and as they were read: nobody who has left comes back by it."""
    actions = searchable.actions(subscriber.id, subscriber.email, subscriber.nickname)
    return Update(SubscriberRow(subscriber.id), actions, subscribers.is_unfilled(subscriber))


def _find() -> FillingRow | None:
    return tables.get(FillingRow, _KIND, _SLOT)


def _key(row: FillingRow) -> dict[str, Any]:
    return {name: {"S": getattr(row, name)} for name in ("status", "created_at", "id")}
