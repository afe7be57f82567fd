"""Notifications in DynamoDB, by owner, newest last. A second row names the one that is active of a kind and provider,
so that there is one at most. What is resolved stays for 30 days."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice

from msgspec import Struct
from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.aws.tables import Delete, Put, Update

KEPT_RESOLVED = timedelta(days=30)

_PART, _ACTIVE = "notification ", "active "


class Notification(Struct, frozen=True):
    id: str
    type: str
    provider: str | None
    title: str
    message: str
    data: dict[str, str | int | None]
    created_at: datetime
    read_at: datetime | None = None
    resolved_at: datetime | None = None


class NotificationRow(tables.Row):
    class Meta:
        table_name = tables.name("follows")

    owner = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    type = UnicodeAttribute()
    provider = UnicodeAttribute(null=True)
    title = UnicodeAttribute()
    message = UnicodeAttribute()
    data = JSONAttribute()
    created_at = UnicodeAttribute()
    read_at = UnicodeAttribute(null=True)
    resolved_at = UnicodeAttribute(null=True)
    expires_at = NumberAttribute(null=True)


class ActiveRow(tables.Row):
    """`causes` are the creators whose polls fail, where that is what it is about."""

    class Meta:
        table_name = tables.name("follows")

    owner = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    notification_id = UnicodeAttribute()
    causes = UnicodeSetAttribute(null=True)


def add(owner: str, notification: Notification, cause: str = "") -> bool:
    """False if there is an active one of this kind and provider: then the cause is added to it."""
    active = _active(owner, notification.type, notification.provider)
    active.notification_id = notification.id
    active.causes = {cause} if cause else None
    row = NotificationRow(
        owner,
        _PART + notification.id,
        type=notification.type,
        provider=notification.provider,
        title=notification.title,
        message=notification.message,
        data=notification.data,
        created_at=clock.text(notification.created_at),
    )
    try:
        tables.transact(Put(active, ActiveRow.owner.does_not_exist()), Put(row))
    except Stale:
        if cause:
            with suppress(Stale):  # resolved at this moment; the next failure makes another
                key = _active(owner, notification.type, notification.provider)
                tables.update(key, [ActiveRow.causes.add({cause})], ActiveRow.owner.exists())
        return False
    return True


def resolve(owner: str, type: str, provider: str | None, now: datetime, cause: str = "") -> bool:
    """Resolve the active one, if there is one; with a cause, only when it was the last."""
    return retry_stale(lambda: _resolve(owner, type, provider, now, cause))


def list_page(owner: str, limit: int, place: str | None, now: datetime) -> tuple[list[Notification], str | None]:
    """Newest first, older than `place`. What has expired may still be there, but is not shown."""
    start = {"owner": {"S": owner}, "part": {"S": _PART + place}} if place else None
    shown = NotificationRow.expires_at.does_not_exist() | (NotificationRow.expires_at > clock.epoch(now))
    found_rows = _query(owner, limit=limit + 1, last_evaluated_key=start, filter_condition=shown)
    rows = list(islice(found_rows, limit + 1))
    found = [_notification(row) for row in rows[:limit]]
    return found, found[-1].id if len(rows) > limit else None


def list_active(owner: str) -> list[Notification]:
    """Newest first: those that are not resolved."""
    rows = tables.query(
        ActiveRow, owner, range_key_condition=ActiveRow.part.startswith(_ACTIVE), consistent_read=True
    )
    keys = [(owner, _PART + row.notification_id) for row in rows]
    found = [_notification(row) for row in tables.get_many(NotificationRow, keys)]
    return sorted(found, key=lambda notification: notification.id, reverse=True)


def mark_read(owner: str, id: str, now: datetime) -> bool:
    """False if there is no such notification. Read once more, it keeps the first time."""
    if not ids.is_id(id):
        return False
    row = NotificationRow(owner, _PART + id)
    actions = [NotificationRow.read_at.set(NotificationRow.read_at | clock.text(now))]
    try:
        tables.update(row, actions, NotificationRow.owner.exists())
    except Stale:
        return False
    return True


def delete_all(owner: str, most: int) -> int:
    """At most so many rows of an owner who has gone; how many there were."""
    deleted = 0
    for prefix in (_PART, _ACTIVE):
        rows = tables.query(ActiveRow, owner, range_key_condition=ActiveRow.part.startswith(prefix), limit=most)
        found = [ActiveRow(owner, row.part) for row in islice(rows, most)]
        tables.write_all(ActiveRow, delete=found)
        deleted += len(found)
    return deleted


def _resolve(owner: str, type: str, provider: str | None, now: datetime, cause: str) -> bool:
    active = tables.get(ActiveRow, owner, _active_part(type, provider))
    if not active or (cause and cause not in (active.causes or ())):
        return False
    if cause and len(active.causes) > 1:
        tables.update(_active(owner, type, provider), [ActiveRow.causes.delete({cause})], _same(active))
        return False
    _end(owner, active, now)
    return True


def _end(owner: str, active: ActiveRow, now: datetime) -> None:
    """`Stale` if another cause came, or another worker was faster."""
    row = NotificationRow(owner, _PART + active.notification_id)
    actions = [
        NotificationRow.resolved_at.set(clock.text(now)),
        NotificationRow.expires_at.set(clock.epoch(now + KEPT_RESOLVED)),
    ]
    tables.transact(
        Delete(ActiveRow(owner, active.part), _same(active)), Update(row, actions, NotificationRow.owner.exists())
    )


def _same(active: ActiveRow) -> Condition:
    causes = ActiveRow.causes == active.causes if active.causes else ActiveRow.causes.does_not_exist()
    same: Condition = (ActiveRow.notification_id == active.notification_id) & causes
    return same


def _active(owner: str, type: str, provider: str | None) -> ActiveRow:
    return ActiveRow(owner, _active_part(type, provider))


def _active_part(type: str, provider: str | None) -> str:
    return f"{_ACTIVE}{type} {provider or ''}"


def _query(owner: str, **options: object) -> Iterator[NotificationRow]:
    span = NotificationRow.part.startswith(_PART)
    return tables.query(
        NotificationRow, owner, range_key_condition=span, scan_index_forward=False, consistent_read=True, **options
    )


def _notification(row: NotificationRow) -> Notification:
    return Notification(
        id=row.part.removeprefix(_PART),
        type=row.type,
        provider=row.provider,
        title=row.title,
        message=row.message,
        data=row.data,
        created_at=clock.parse(row.created_at),
        read_at=clock.parse(row.read_at) if row.read_at else None,
        resolved_at=clock.parse(row.resolved_at) if row.resolved_at else None,
    )
