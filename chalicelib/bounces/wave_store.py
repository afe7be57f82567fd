"""Counts by wave in DynamoDB, beside the bounces, and for a while which reports were counted."""

from datetime import datetime, timedelta

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

_COUNTS, _COUNTED = "waves", "wave-reports"
_COUNTS_KEPT, _COUNTED_KEPT = timedelta(days=100), timedelta(days=14)


class WaveRow(tables.Row):
    """`key` is the delivery's id and the wave's number."""

    class Meta:
        table_name = tables.name("bounces")

    partition = UnicodeAttribute(hash_key=True, attr_name="shelf")
    key = UnicodeAttribute(range_key=True)
    bounced = NumberAttribute(null=True)
    complained = NumberAttribute(null=True)
    expires_at = NumberAttribute()


class CountedRow(tables.Row):
    """`key` stands for a report, and says nothing about whom it was about."""

    class Meta:
        table_name = tables.name("bounces")

    partition = UnicodeAttribute(hash_key=True, attr_name="shelf")
    key = UnicodeAttribute(range_key=True)
    expires_at = NumberAttribute()


def count_writes(
    delivery_id: str, wave: int, counts: tuple[int, int], event: str, now: datetime
) -> list[tables.Write]:
    """Fails if the report was counted before."""
    bounced, complained = counts
    row = WaveRow(_COUNTS, _key(delivery_id, wave))
    actions = [
        WaveRow.bounced.add(bounced),
        WaveRow.complained.add(complained),
        WaveRow.expires_at.set(clock.epoch(now + _COUNTS_KEPT)),
    ]
    counted = CountedRow(_COUNTED, event, expires_at=clock.epoch(now + _COUNTED_KEPT))
    return [tables.Put(counted, CountedRow.key.does_not_exist()), tables.Update(row, actions)]


def find(delivery_id: str) -> dict[int, tuple[int, int]]:
    prefix = _key(delivery_id, None)
    rows = tables.query(WaveRow, _COUNTS, range_key_condition=WaveRow.key.startswith(prefix), consistent_read=True)
    return {int(row.key.removeprefix(prefix)): (int(row.bounced or 0), int(row.complained or 0)) for row in rows}


def _key(delivery_id: str, wave: int | None) -> str:
    return f"{delivery_id}/{'' if wave is None else wave}"
