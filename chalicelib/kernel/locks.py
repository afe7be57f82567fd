"""Locks by name: one holder at a time and for a limited time, so that a crashed holder blocks nobody for long."""

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
    """Yields whether the lock was free. Released at the end if it is still held by this caller."""
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
    # The put is repeated if its answer is lost, and must then succeed again.
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
        return  # the lease has expired and somebody else holds the lock now
