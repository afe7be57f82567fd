"""A lease on a name: one holder at a time, for a bounded time, so that a crashed holder blocks nobody for long."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale


class LockRow(tables.Row):
    class Meta:
        table_name = tables.name("locks")

    name = UnicodeAttribute(hash_key=True)
    holder = UnicodeAttribute()
    until = UnicodeAttribute()
    expires_at = NumberAttribute()


@contextmanager
def held(name: str, seconds: int) -> Iterator[bool]:
    """True inside if the lock was free, else False; released at the end only if it is still ours."""
    holder = ids.new()
    taken = _take(name, holder, seconds)
    try:
        yield taken
    finally:
        if taken:
            _release(name, holder)


def _take(name: str, holder: str, seconds: int) -> bool:
    now = clock.now()
    until = now + timedelta(seconds=seconds)
    row = LockRow(name, holder=holder, until=clock.text(until), expires_at=clock.epoch(until))
    # If an answer is lost the put is repeated, and must not find itself in its own way.
    free = LockRow.name.does_not_exist() | (LockRow.until < clock.text(now)) | (LockRow.holder == holder)
    try:
        tables.put(row, free)
    except Stale:
        return False
    return True


def _release(name: str, holder: str) -> None:
    try:
        tables.delete(LockRow(name), LockRow.holder == holder)
    except Stale:
        return  # it took longer than its lease and somebody else holds it now
