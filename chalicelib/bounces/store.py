"""Bounces in DynamoDB, on one shelf in the order of time: there are few, and they are gone after a week."""

from collections.abc import Iterator
from datetime import datetime

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.bounces.model import KEPT, Bounce
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

_SHELF = "bounces"


class BounceRow(tables.Row):
    """`key` begins with the time of the event and ends with its mark, so the same event is the same row."""

    class Meta:
        table_name = tables.name("bounces")

    shelf = UnicodeAttribute(hash_key=True, default=_SHELF)
    key = UnicodeAttribute(range_key=True)
    subscriber_id = UnicodeAttribute()
    reason = UnicodeAttribute()
    delivery_id = UnicodeAttribute(null=True)
    expires_at = NumberAttribute()


def create_write(bounce: Bounce) -> tables.Write:
    """Holds only for the first time."""
    row = BounceRow(
        _SHELF,
        f"{clock.text(bounce.at)}#{bounce.mark}",
        subscriber_id=bounce.subscriber_id,
        reason=bounce.reason,
        delivery_id=bounce.delivery_id,
        expires_at=clock.epoch(bounce.at + KEPT),
    )
    return tables.Put(row, BounceRow.key.does_not_exist())


def newest_first(now: datetime) -> Iterator[Bounce]:
    """Only what is not older than it may be: DynamoDB removes what expired, but not at once."""
    since = BounceRow.key > clock.text(now - KEPT)
    for row in tables.query(BounceRow, _SHELF, range_key_condition=since, scan_index_forward=False):
        at, _, mark = row.key.partition("#")
        yield Bounce(row.subscriber_id, row.reason, clock.parse(at), mark, row.delivery_id)
