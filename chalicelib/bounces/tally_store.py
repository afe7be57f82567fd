"""Counts in DynamoDB, beside the bounces: by delivery, which stay, and by wave; and for a while, what was counted."""

import random
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.bounces.model import Tally
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

_TALLIES, _WAVES, _COUNTED = "tallies", "waves", "counted"
_WAVES_KEPT, COUNTED_KEPT = timedelta(days=100), timedelta(days=14)
# Hundreds may leave, or bounce, in the same minute, and transactions on one row would get in each other's way.
_SHARDS = 8


class TallyRow(tables.Row):
    """`key` is the delivery's id and the number of a shard: what became of a delivery is the sum of its rows."""

    class Meta:
        table_name = tables.name("bounces")

    partition = UnicodeAttribute(hash_key=True, attr_name="shelf")
    key = UnicodeAttribute(range_key=True)
    soft_bounced = NumberAttribute(null=True)
    hard_bounced = NumberAttribute(null=True)
    complaints = NumberAttribute(null=True)
    left = NumberAttribute(null=True)

    @property
    def delivery_id(self) -> str:
        return str(self.key).partition("/")[0]

    @property
    def tally(self) -> Tally:
        return Tally(**{name: int(getattr(self, name) or 0) for name in Tally.__struct_fields__})


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
    """`key` stands for what was counted, and says nothing about whom it was about."""

    class Meta:
        table_name = tables.name("bounces")

    partition = UnicodeAttribute(hash_key=True, attr_name="shelf")
    key = UnicodeAttribute(range_key=True)
    expires_at = NumberAttribute()


def counted_write(what: str, now: datetime) -> tables.Write:
    """Fails if it was counted before."""
    row = CountedRow(_COUNTED, what, expires_at=clock.epoch(now + COUNTED_KEPT))
    return tables.Put(row, CountedRow.key.does_not_exist())


def tally_writes(delivery_ids: Iterable[str], name: str) -> list[tables.Write]:
    """One more of this for each delivery. All in the same shard: two transactions that count for the same deliveries
    then meet in all of their rows or, mostly, in none."""
    shard = random.randrange(_SHARDS)  # noqa: S311 - only spreads load
    action = getattr(TallyRow, name).add(1)
    return [tables.Update(TallyRow(_TALLIES, f"{id}/{shard}"), [action]) for id in delivery_ids]


def wave_write(delivery_id: str, wave: int, bounced: int, complained: int, now: datetime) -> tables.Write:
    actions = [
        WaveRow.bounced.add(bounced),
        WaveRow.complained.add(complained),
        WaveRow.expires_at.set(clock.epoch(now + _WAVES_KEPT)),
    ]
    return tables.Update(WaveRow(_WAVES, f"{delivery_id}/{wave}"), actions)


def find_tallies(delivery_ids: Collection[str]) -> dict[str, Tally]:
    """Of those of which anything was counted, by id; one query from the first id to the last, which DynamoDB answers
    in one request for some thousands of deliveries."""
    if not delivery_ids:
        return {}
    between = TallyRow.key.between(f"{min(delivery_ids)}/", f"{max(delivery_ids)}/~")
    wanted, found = set(delivery_ids), dict[str, Tally]()
    for row in tables.query(TallyRow, _TALLIES, range_key_condition=between, consistent_read=True):
        if row.delivery_id in wanted:
            found[row.delivery_id] = found.get(row.delivery_id, Tally()) + row.tally
    return found


def find_waves(delivery_id: str) -> dict[int, tuple[int, int]]:
    """Bounces and complaints by the number of the wave."""
    prefix = f"{delivery_id}/"
    rows = tables.query(WaveRow, _WAVES, range_key_condition=WaveRow.key.startswith(prefix), consistent_read=True)
    return {int(row.key.removeprefix(prefix)): (int(row.bounced or 0), int(row.complained or 0)) for row in rows}
