"""Daily counts. The current day is spread over shards, because every confirmation writes here in its transaction and
would otherwise compete for one row; a finished day is folded into one row."""

import random
from collections.abc import Iterator
from datetime import date

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Delete, Put, Update, Write

_SHARDS = 8
_KIND = "subscribers"


class CountRow(tables.Row):
    """`slot` is `<day>#<shard>` until the day is folded, then `<day>`; only a folded row has a `total`."""

    class Meta:
        table_name = tables.name("census")

    kind = UnicodeAttribute(hash_key=True)
    slot = UnicodeAttribute(range_key=True)
    joined = NumberAttribute(default=0)
    left = NumberAttribute(default=0)
    total = NumberAttribute(null=True)

    @property
    def day(self) -> str:
        return str(self.slot)[:10]


def count_write(day: date, joined: int = 0, left: int = 0) -> Write:
    row = CountRow(_KIND, f"{day.isoformat()}#{random.randrange(_SHARDS)}")  # noqa: S311 - only spreads load
    return Update(row, [CountRow.joined.add(joined), CountRow.left.add(left)])


def newest_first() -> Iterator[CountRow]:
    yield from tables.query(CountRow, _KIND, scan_index_forward=False, consistent_read=True)


def fold_writes(day: str, rows: list[CountRow], folded: CountRow | None, total: int) -> list[Write]:
    """One row for the day in place of its rows, provided none of them changed meanwhile."""
    joined = sum(int(row.joined) for row in rows)
    left = sum(int(row.left) for row in rows)
    unchanged = CountRow.slot.does_not_exist() if folded is None else CountRow.total == folded.total
    writes: list[Write] = [Put(CountRow(_KIND, day, joined=joined, left=left, total=total), unchanged)]
    for row in rows:
        if row.slot != day:
            same = (CountRow.joined == row.joined) & (CountRow.left == row.left)
            writes.append(Delete(CountRow(_KIND, row.slot), same))
    return writes
