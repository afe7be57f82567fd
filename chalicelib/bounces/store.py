"""Bounces in DynamoDB, all under one key in the order of time: there are few, and they expire after a week."""

from collections.abc import Iterator
from datetime import datetime

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.bounces.model import KEPT, Bounce
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

_ALL = "bounces"


class BounceRow(tables.Row):
    """`key` is the time of the event and its fingerprint, so the same event is the same row."""

    class Meta:
        table_name = tables.name("bounces")

    partition = UnicodeAttribute(hash_key=True, attr_name="shelf")
    key = UnicodeAttribute(range_key=True)
    subscriber_id = UnicodeAttribute()
    reason = UnicodeAttribute()
    delivery_id = UnicodeAttribute(null=True)
    expires_at = NumberAttribute()


def create_write(bounce: Bounce) -> tables.Write:
    """Fails if the event was recorded before."""
    row = BounceRow(
        _ALL,
        _key(bounce),
        subscriber_id=bounce.subscriber_id,
        reason=bounce.reason,
        delivery_id=bounce.delivery_id,
        expires_at=clock.epoch(bounce.at + KEPT),
    )
    return tables.Put(row, BounceRow.key.does_not_exist())


def find(bounce: Bounce) -> Bounce | None:
    """What was recorded of the same event before."""
    row = tables.get(BounceRow, _ALL, _key(bounce))
    return _bounce(row) if row else None


def list_newest(now: datetime) -> Iterator[Bounce]:
    """Newest first, without those that have expired: DynamoDB deletes them later."""
    since = BounceRow.key > clock.text(now - KEPT)
    for row in tables.query(BounceRow, _ALL, range_key_condition=since, scan_index_forward=False):
        yield _bounce(row)


def list_portion(after: str, until: datetime, most: int) -> tuple[list[Bounce], str | None]:
    """So many bounces up to then, oldest first, beginning after this key; and the key to continue after, None at the
    end. The first key is that of a time: `clock.text(since)`."""
    between = BounceRow.key.between(after + " ", clock.text(until))
    rows = list(tables.query(BounceRow, _ALL, range_key_condition=between, limit=most))
    return [_bounce(row) for row in rows], rows[-1].key if len(rows) == most else None


def _key(bounce: Bounce) -> str:
    return f"{clock.text(bounce.at)}#{bounce.fingerprint}"


def _bounce(row: BounceRow) -> Bounce:
    at, _, fingerprint = row.key.partition("#")
    return Bounce(row.subscriber_id, row.reason, clock.parse(at), fingerprint, row.delivery_id)
