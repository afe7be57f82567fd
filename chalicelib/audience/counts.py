"""How many subscribers there are, and were: counts only, nothing about anybody."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby

from msgspec import Struct

from chalicelib.audience import places
from chalicelib.audience.model import Subscriber
from chalicelib.audience.stores import counts as store
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Write

_FOLD_AFTER = timedelta(days=1)


class Day(Struct, frozen=True):
    day: str
    joined: int
    left: int
    total: int


def move_writes(now: datetime, joined: Sequence[Subscriber] = (), left: Sequence[Subscriber] = ()) -> list[Write]:
    """For everybody a transaction makes an activated subscriber, and for every activated one it removes: all at once,
    because a transaction changes a row only once."""
    if not joined and not left:
        return []
    return [store.count_write(now.date(), len(joined), len(left)), *places.move_writes(joined, left)]


def left_since(day: date) -> int:
    """How many left on this day or later."""
    return sum(int(row.left) for row in store.newest_first() if row.day >= day.isoformat())


def total() -> int:
    """Activated subscribers now: the total of the newest folded day, and what has changed since."""
    change = 0
    for row in store.newest_first():
        if row.total is not None:
            return int(row.total) + change
        change += int(row.joined) - int(row.left)
    return change


def days(most: int) -> list[Day]:
    """The last days on which anything happened, oldest first."""
    return [day for day, _ in _by_day()][-most:]


def fold() -> int:
    """Merge the rows of each finished day into one, oldest first. Returns how many days were folded. Two runs at the
    same time do no harm."""
    first_unfinished = (clock.now() - _FOLD_AFTER).date().isoformat()
    folded = 0
    for day, rows in _by_day():
        folded_row = next((row for row in rows if row.slot == day.day), None)
        if day.day >= first_unfinished or (len(rows) == 1 and folded_row and folded_row.total == day.total):
            continue
        try:
            tables.transact(*store.fold_writes(day.day, rows, folded_row, day.total))
        except Stale:
            break  # another run was faster, or a late count arrived: the next run folds the rest
        folded += 1
    return folded


def _by_day() -> Iterator[tuple[Day, list[store.CountRow]]]:
    total = 0
    rows = sorted(store.newest_first(), key=lambda row: row.slot)
    for day, group in groupby(rows, key=lambda row: row.day):
        day_rows = list(group)
        joined = sum(int(row.joined) for row in day_rows)
        left = sum(int(row.left) for row in day_rows)
        total += joined - left
        yield Day(day, joined, left, total), day_rows
