"""So many in such a window, counted atomically across all instances.

Whom a count is for is not stored, not even for a minute: the key is a hash with a key of the day, and the row
is gone soon after its window.
"""

from datetime import datetime

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock, keyed, tables
from chalicelib.kernel.errors import TooMany


class LimitRow(tables.Row):
    class Meta:
        table_name = tables.name("limits")

    key = UnicodeAttribute(hash_key=True)
    spent = NumberAttribute()
    expires_at = NumberAttribute()


def spend(name: str, subject: str, most: int, seconds: int, reason: str = "Too many requests") -> None:
    """Count one, and raise `TooMany` when that is more than `most` in this window."""
    if not allows(name, subject, most, seconds):
        raise TooMany(reason, retry_after=seconds - clock.epoch(clock.now()) % seconds)


def allows(name: str, subject: str, most: int, seconds: int) -> bool:
    """Count one, and say whether that is still within `most` in this window."""
    now = clock.now()
    window = clock.epoch(now) // seconds
    return _count(_key(name, subject, window, now), (window + 1) * seconds) <= most


def _count(key: str, window_ends: int) -> int:
    row = LimitRow(key)
    actions = [LimitRow.spent.add(1), LimitRow.expires_at.set(window_ends)]
    return int(tables.update(row, actions).spent)


def _key(name: str, subject: str, window: int, now: datetime) -> str:
    return keyed.mark(f"limit {now:%Y-%m-%d}", f"{name} {window} {subject}")


def probe() -> None:
    """Raise `Unavailable` if the tables do not answer: this one is touched by every sign-up."""
    tables.get(LimitRow, "probe")
