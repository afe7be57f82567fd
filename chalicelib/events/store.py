"""The outbox table: events by what they are about, oldest first.

Two sparse indexes hold each event in turn: `pending` until it is relayed (so that the sweep reads only what is
owed, in one request when nothing is), then `done` by the day, for the clean-up and for replays.
"""

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.events.model import Event
from chalicelib.kernel import tables


class PendingIndex(GlobalSecondaryIndex["EventRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "pending"
        projection = KeysOnlyProjection()

    # Spread by aggregate: no partition is hot, and a scan still finds each aggregate's events together.
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


def pending(event: Event) -> EventRow:
    """A new row. It has no expiry: what was not relayed is never forgotten."""
    return EventRow(
        event.aggregate_id,
        event.id,
        type=event.type,
        payload=dict(event.payload),
        created_at=event.created_at,
        pending=event.id,
    )
