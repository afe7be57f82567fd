"""Rate limits: at most so many in a window of time, counted atomically across all instances.

Whom a count is for is never stored: the key is a pseudonym that changes every day, and the row expires soon after its
window.
"""

from collections.abc import Callable
from datetime import datetime
from itertools import islice

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock, pseudonyms
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import TooMany
from chalicelib.kernel.wording import for_readers

TOO_MANY = for_readers("Too many requests")
_BATCH = 100


class LimitRow(tables.Row):
    class Meta:
        table_name = tables.name("limits")

    key = UnicodeAttribute(hash_key=True)
    spent = NumberAttribute()
    expires_at = NumberAttribute()


def spend(name: str, subject: str, most: int, seconds: int, reason: str = TOO_MANY, by: int = 1) -> None:
    """Count one, or several at once, and raise `TooMany` when that is more than `most` in this window. Several that
    are refused are not counted: fewer of them may still be within it."""
    if allows(name, subject, most, seconds, by):
        return
    if by > 1:
        _count(name, subject, seconds, -by)
    raise too_many(reason, seconds)


def allows(name: str, subject: str, most: int, seconds: int, by: int = 1) -> bool:
    """Count one, or several at once, and say whether that is still within `most` in this window."""
    return _count(name, subject, seconds, by) <= most


def count(name: str, subject: str, seconds: int) -> int:
    """How many were counted in this window, without counting one."""
    now = clock.now()
    row = tables.get(LimitRow, _key(name, subject, clock.epoch(now) // seconds, now))
    return int(row.spent) if row else 0


def too_many(reason: str, seconds: int) -> TooMany:
    """The failure for a limit that is reached; it ends with the window."""
    return TooMany(reason, retry_after=seconds - clock.epoch(clock.now()) % seconds)


def give_back(name: str, subject: str, seconds: int) -> None:
    """Take back one that was counted but did not happen."""
    _count(name, subject, seconds, -1)


def _count(name: str, subject: str, seconds: int, by: int) -> int:
    now = clock.now()
    window = clock.epoch(now) // seconds
    actions = [LimitRow.spent.add(by), LimitRow.expires_at.set((window + 1) * seconds)]
    return int(tables.update(LimitRow(_key(name, subject, window, now)), actions).spent)


def _key(name: str, subject: str, window: int, now: datetime) -> str:
    return pseudonyms.derive(f"limit {now:%Y-%m-%d}", f"{name} {window} {subject}")


def clean_up(now: datetime, time_left: Callable[[], bool]) -> int:
    """Delete the counts of windows that have ended, without waiting for the table's own expiry, which may take two
    days. No count of such a window is ever written again."""
    ended = tables.scan(LimitRow, filter_condition=LimitRow.expires_at <= clock.epoch(now))
    deleted = 0
    while time_left() and (rows := list(islice(ended, _BATCH))):
        tables.write_all(LimitRow, delete=rows)
        deleted += len(rows)
    return deleted


def probe() -> None:
    """Raise `Unavailable` if the tables do not answer. Every sign-up uses this one."""
    tables.get(LimitRow, "probe")
