"""The outbox table: events by aggregate (the subscriber, campaign or feed they are about), oldest first.

Two sparse indexes hold each event in turn: `pending` until it is relayed, so that the sweep reads only what is left
to do (one request if there is nothing), then `done` by day, for the clean-up and for replays.
"""

import zlib
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.events import model
from chalicelib.events.model import Event
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

# Relayed events of one day are spread over this many keys, because one key takes a thousand writes a second.
SHARDS = 4


class PendingIndex(GlobalSecondaryIndex["EventRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "pending"
        projection = KeysOnlyProjection()

    # Spread by aggregate, so that no partition is hot, however many sign-ups there are.
    aggregate_id = UnicodeAttribute(hash_key=True)
    pending = UnicodeAttribute(range_key=True)


class DoneIndex(GlobalSecondaryIndex["EventRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "done"
        projection = AllProjection()

    done = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)


class EventRow(tables.Row):
    class Meta:
        table_name = tables.name("events")

    aggregate_id = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)
    type = UnicodeAttribute()
    payload: JSONAttribute = JSONAttribute()
    created_at = UnicodeAttribute()
    processed_at = UnicodeAttribute(null=True)
    pending = UnicodeAttribute(null=True)
    done = UnicodeAttribute(null=True)
    expires_at = NumberAttribute(null=True)

    pending_index = PendingIndex()
    done_index = DoneIndex()


def create_write(event: Event) -> tables.Put:
    """A pending event. It has no expiry: what was not relayed is never forgotten."""
    row = EventRow(
        event.aggregate_id,
        event.id,
        type=event.type,
        payload=dict(event.payload),
        created_at=event.created_at,
        pending=event.id,
    )
    return tables.Put(row)


def list_aggregates(writes: Iterable[tables.Write]) -> list[str]:
    """Those that the events among these writes are about, each once."""
    rows = [write.row for write in writes]
    return list(dict.fromkeys(row.aggregate_id for row in rows if isinstance(row, EventRow)))


def list_pending_aggregates() -> Iterator[str]:
    """The aggregates with pending events, each once, read page by page; an index may be a moment late."""
    seen: set[str] = set()
    for row in tables.scan(EventRow, index_name="pending", page_size=1000):
        if row.aggregate_id not in seen:
            seen.add(row.aggregate_id)
            yield row.aggregate_id


def list_pending(aggregate_id: str, after: str, most: int) -> list[Event]:
    """The oldest pending events of an aggregate, in order, read consistently."""
    rows = tables.query(
        EventRow,
        aggregate_id,
        range_key_condition=EventRow.id > after,
        filter_condition=EventRow.pending.exists(),
        consistent_read=True,
        limit=most,
    )
    return [_event(row) for row in rows]


def process_write(event: Event, moment: datetime) -> tables.Update:
    """The write that marks an event as relayed; it fails if another relay was first."""
    at = clock.text(moment)
    actions = [
        EventRow.pending.remove(),
        EventRow.processed_at.set(at),
        EventRow.done.set(_day_key(moment.date(), _shard(event.aggregate_id))),
        EventRow.expires_at.set(model.expiry(at)),
    ]
    return tables.Update(EventRow(event.aggregate_id, event.id), actions, EventRow.pending.exists())


def mark_processed(event: Event, moment: datetime) -> None:
    """The same write on its own, at half the price of a transaction."""
    write = process_write(event, moment)
    tables.update(write.row, write.actions, write.condition)


def list_done(day: date, shard: int, after: str, until: str, most: int) -> list[Event]:
    """Events relayed on that day whose ids are between the two, oldest first."""
    rows = tables.query(
        EventRow,
        _day_key(day, shard),
        index_name="done",
        range_key_condition=DoneIndex.id.between(after, until),
        limit=most,
    )
    return [_event(row) for row in rows]


def find(event_id: str, first: date, last: date) -> Event | None:
    """An event by its id, relayed on one of these days: usually the first."""
    days = (first + timedelta(days=offset) for offset in range((last - first).days + 1))
    found = (list_done(day, shard, event_id, event_id, 1) for day in days for shard in range(SHARDS))
    return next((events[0] for events in found if events), None)


def remove_done_on(day: date, shard: int, before: str, most: int) -> int:
    """Delete up to `most` of the events relayed on that day and before that time; return how many."""
    rows = list(
        tables.query(
            EventRow,
            _day_key(day, shard),
            index_name="done",
            filter_condition=EventRow.processed_at < before,
            limit=most,
        )
    )
    tables.write_all(EventRow, delete=rows)
    return len(rows)


def _event(row: EventRow) -> Event:
    return Event(row.id, row.aggregate_id, row.type, row.payload, row.created_at, row.processed_at)


def _shard(aggregate_id: str) -> int:
    """Events of one aggregate share a key, so that a replay finds them in order."""
    return zlib.crc32(aggregate_id.encode()) % SHARDS


def _day_key(day: date, shard: int) -> str:
    return f"{day.isoformat()}.{shard}"
