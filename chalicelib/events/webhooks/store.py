"""Webhooks, the events each is still owed, and the attempts made.

The last two share a table, keyed by destination: `owed <aggregate> <event>` keeps the events of an aggregate together
and in order, `tried <attempt>` is the history. Only owed rows have `due_at`, so only they are in the index.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from msgspec.structs import asdict
from pynamodb.attributes import (
    BooleanAttribute,
    JSONAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.events.model import KEPT, Event
from chalicelib.events.webhooks.model import HISTORY, Attempt, Owed, PreviousKey, Result, Webhook, WebhookState
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale


class WebhookRow(tables.Row):
    class Meta:
        table_name = tables.name("webhooks")

    id = UnicodeAttribute(hash_key=True)
    url = UnicodeAttribute()
    types = UnicodeSetAttribute(null=True)
    description = UnicodeAttribute(null=True)
    include_address = BooleanAttribute()
    state = UnicodeAttribute()
    reason = UnicodeAttribute(null=True)
    key = UnicodeAttribute()
    previous = UnicodeSetAttribute(null=True)
    failing_since = UnicodeAttribute(null=True)
    resume_at = UnicodeAttribute(null=True)
    notice_pending = BooleanAttribute(null=True, attr_name="untold")
    created_at = UnicodeAttribute()


class DueIndex(GlobalSecondaryIndex["DispatchRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    destination = UnicodeAttribute(hash_key=True)
    due_at = UnicodeAttribute(range_key=True)


class DispatchRow(tables.Row):
    class Meta:
        table_name = tables.name("dispatches")

    destination = UnicodeAttribute(hash_key=True)
    key = UnicodeAttribute(range_key=True)
    event_id = UnicodeAttribute()
    type = UnicodeAttribute()
    number = NumberAttribute()
    expires_at = NumberAttribute()
    aggregate_id = UnicodeAttribute(null=True)
    payload: JSONAttribute = JSONAttribute(null=True)
    created_at = UnicodeAttribute(null=True)
    due_at = UnicodeAttribute(null=True)
    ok = BooleanAttribute(null=True)
    status = NumberAttribute(null=True)
    error = UnicodeAttribute(null=True)
    milliseconds = NumberAttribute(null=True)

    due_index = DueIndex()


def list_webhooks() -> list[Webhook]:
    """All of them, oldest first; there are never many."""
    return sorted((_webhook(row) for row in tables.scan(WebhookRow, consistent_read=True)), key=lambda hook: hook.id)


def get(id: str) -> Webhook | None:
    row = tables.get(WebhookRow, id)
    return _webhook(row) if row else None


def add(webhook: Webhook) -> None:
    values = {name: _stored(name, value) for name, value in asdict(webhook).items() if name != "id"}
    tables.put(WebhookRow(webhook.id, **values))


def change(id: str, expected: Mapping[str, str] | None = None, **values: Any) -> Webhook:
    """Set these fields (None and empty clear them), return the webhook; `Stale` if it is gone or not as expected."""
    fields = WebhookRow.get_attributes()
    stored = {name: _stored(name, value) for name, value in values.items()}
    actions = [
        fields[name].set(value) if value or value is False else fields[name].remove()
        for name, value in stored.items()
    ]
    condition = WebhookRow.id.exists()
    for name, value in (expected or {}).items():
        condition &= fields[name] == value
    return _webhook(tables.update(WebhookRow(id), actions, condition))


def remove(id: str) -> None:
    """`Stale` if there is none. What it was owed expires."""
    tables.delete(WebhookRow(id), WebhookRow.id.exists())


def owe_write(destination: str, event: Event, moment: datetime) -> tables.Put:
    row = DispatchRow(
        destination,
        _owed_key(event),
        event_id=event.id,
        aggregate_id=event.aggregate_id,
        type=event.type,
        payload=dict(event.payload),
        created_at=event.created_at,
        number=0,
        due_at=clock.text(moment),
        expires_at=clock.epoch(moment + KEPT),
    )
    return tables.Put(row)


def list_due(destination: str, moment: datetime, most: int) -> list[str]:
    """The aggregates this destination should be sent events of now, longest waiting first."""
    rows = tables.query(
        DispatchRow,
        destination,
        index_name="due",
        range_key_condition=DueIndex.due_at <= clock.text(moment),
        limit=most,
    )
    return list(dict.fromkeys(row.key.split(" ")[1] for row in rows))


def list_owed(destination: str, aggregate_id: str, most: int) -> list[Owed]:
    """The events of an aggregate it has yet to receive, in order, read consistently."""
    rows = tables.query(
        DispatchRow,
        destination,
        range_key_condition=DispatchRow.key.startswith(f"owed {aggregate_id} "),
        consistent_read=True,
        limit=most,
    )
    return [Owed(_event(row), int(row.number), row.due_at) for row in rows]


def settle(destination: str, tried: Sequence[Attempt], sent: Sequence[Owed]) -> None:
    """These were received, or given up: add the attempts to the history, and owe the events no longer. After a crash
    halfway an event that was received is still owed, and is sent again under its id."""
    gone = [DispatchRow(destination, _owed_key(owed.event)) for owed in sent]
    tables.write_all(DispatchRow, put=[_attempt_row(destination, attempt) for attempt in tried], delete=gone)


def put_off(destination: str, tried: Sequence[Attempt], failed: Sequence[Owed], due: datetime) -> None:
    """These were not received: try again when due. `Stale` if one is no longer owed at all."""
    later = [
        tables.Update(
            DispatchRow(destination, _owed_key(owed.event)),
            [DispatchRow.due_at.set(clock.text(due)), DispatchRow.number.set(owed.attempts)],
            DispatchRow.key.exists(),
        )
        for owed in failed
    ]
    tables.transact(*later, *(tables.Put(_attempt_row(destination, attempt)) for attempt in tried))


def hold(destination: str, aggregate_id: str, until: datetime) -> None:
    """Let everything else it is owed of this aggregate wait as long as the first event, so that the order is kept."""
    due_at = clock.text(until)
    rows = tables.query(
        DispatchRow,
        destination,
        range_key_condition=DispatchRow.key.startswith(f"owed {aggregate_id} "),
        filter_condition=DispatchRow.due_at < due_at,
        consistent_read=True,
    )
    for row in rows:
        with suppress(Stale):  # received or removed meanwhile
            tables.update(row, [DispatchRow.due_at.set(due_at)], DispatchRow.key.exists())


def add_attempt(destination: str, attempt: Attempt) -> None:
    tables.put(_attempt_row(destination, attempt))


def list_attempts(destination: str, before: str, most: int) -> Iterator[Attempt]:
    """The history, newest first. Expired rows may stay for days: they are left out."""
    first = f"tried {ids.since(clock.now() - HISTORY)}"
    last = f"tried {before}" if before else "tried g"
    rows = tables.query(
        DispatchRow,
        destination,
        range_key_condition=DispatchRow.key.between(first, last),
        scan_index_forward=False,
        limit=most,
    )
    return (_attempt(row) for row in rows)


def _owed_key(event: Event) -> str:
    return f"owed {event.aggregate_id} {event.id}"


def _attempt_row(destination: str, attempt: Attempt) -> DispatchRow:
    return DispatchRow(
        destination,
        f"tried {attempt.id}",
        event_id=attempt.event_id,
        type=attempt.type,
        number=attempt.number,
        created_at=attempt.at,
        ok=attempt.result.ok,
        status=attempt.result.status,
        error=attempt.result.error,
        milliseconds=attempt.result.milliseconds,
        expires_at=clock.epoch(clock.parse(attempt.at) + HISTORY),
    )


def _attempt(row: DispatchRow) -> Attempt:
    status = int(row.status) if row.status is not None else None
    result = Result(bool(row.ok), status, row.error, int(row.milliseconds or 0))
    return Attempt(row.key.split(" ")[1], row.event_id, row.type, row.created_at, int(row.number), result)


def _event(row: DispatchRow) -> Event:
    return Event(row.event_id, row.aggregate_id, row.type, row.payload, row.created_at)


def _stored(name: str, value: Any) -> Any:
    """A field of a webhook as the table has it."""
    if name == "types":
        return set(value) or None
    if name == "previous":
        return {f"{previous.until} {previous.key}" for previous in value} or None
    return value.value if isinstance(value, WebhookState) else value


def _webhook(row: WebhookRow) -> Webhook:
    return Webhook(
        id=row.id,
        url=row.url,
        types=frozenset(row.types or ()),
        description=row.description or "",
        include_address=row.include_address,
        state=WebhookState(row.state),
        reason=row.reason,
        key=row.key,
        previous=tuple(PreviousKey(*reversed(text.split(" "))) for text in sorted(row.previous or ())),
        failing_since=row.failing_since,
        resume_at=row.resume_at,
        notice_pending=bool(row.notice_pending),
        created_at=row.created_at,
    )
