"""People an import has to ask, in the table of the tokens, in the order in which they were imported. The row holds
their id alone."""

from collections.abc import Iterator
from datetime import datetime

from pynamodb.attributes import UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Delete, Put, Write

_PARTITION = "asked"


class AskedRow(tables.Row):
    """By the id of the subscriber, which begins with the time: a query finds the oldest first."""

    class Meta:
        table_name = tables.name("tokens")

    partition = UnicodeAttribute(hash_key=True, attr_name="subscriber_id")
    owner = UnicodeAttribute(range_key=True, attr_name="kind")
    asked_at = UnicodeAttribute()


def list_oldest_first(most: int) -> Iterator[AskedRow]:
    yield from tables.query(AskedRow, _PARTITION, consistent_read=True, limit=most)


def ask_write(subscriber_id: str, now: datetime) -> Write:
    return Put(AskedRow(_PARTITION, subscriber_id, asked_at=clock.text(now)))


def end_write(row: AskedRow) -> Write:
    """Fails if another worker was faster."""
    return Delete(AskedRow(_PARTITION, row.owner), AskedRow.asked_at.exists())


def forget(row: AskedRow) -> None:
    """There is nobody left to ask."""
    tables.delete(AskedRow(_PARTITION, row.owner))
