"""How many subscribers there are, and were: counts only, nothing about anybody."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby

from msgspec import Struct

from chalicelib.audience.stores import counts
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Write

_FOLDED_AFTER = timedelta(days=1)


class Day(Struct, frozen=True):
    day: str
    joined: int
    left: int
    total: int


def joined_write(now: datetime) -> Write:
    return counts.count_write(now.date(), joined=1)


def left_write(now: datetime) -> Write:
    return counts.count_write(now.date(), left=1)


def total() -> int:
    """Activated subscribers now: the newest folded day, and what has happened since."""
    change = 0
    for row in counts.newest_first():
        if row.total is not None:
            return int(row.total) + change
        change += int(row.joined) - int(row.left)
    return change


def days(most: int) -> list[Day]:
    """The last days on which anything happened, oldest first."""
    return [day for day, _ in _by_day()][-most:]


def fold() -> int:
    """Make each finished day one row, oldest first, and say how many were folded. Safe to run twice at once."""
    running_day = (clock.now() - _FOLDED_AFTER).date().isoformat()
    folded = 0
    for day, rows in _by_day():
        whole = next((row for row in rows if row.slot == day.day), None)
        if day.day >= running_day or (len(rows) == 1 and whole and whole.total == day.total):
            continue
        try:
            tables.transact(*counts.fold_writes(day.day, rows, whole, day.total))
        except Stale:
            break  # a twin was here, or a late count came: the next night folds the rest
        folded += 1
    return folded


def _by_day() -> Iterator[tuple[Day, list[counts.CountRow]]]:
    running = 0
    rows = sorted(counts.newest_first(), key=lambda row: row.slot)
    for day, group in groupby(rows, key=lambda row: row.day):
        shards = list(group)
        came = sum(int(row.joined) for row in shards)
        went = sum(int(row.left) for row in shards)
        running += came - went
        yield Day(day, came, went, running), shards
