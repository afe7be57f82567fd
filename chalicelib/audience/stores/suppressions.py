"""Who must never be written to, by a keyed hash of the address."""

from datetime import datetime

from pynamodb.attributes import UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Delete, Put, Write


class SuppressionRow(tables.Row):
    class Meta:
        table_name = tables.name("suppressions")

    mark = UnicodeAttribute(hash_key=True)
    set_by = UnicodeAttribute()
    set_at = UnicodeAttribute()


def is_suppressed(mark: str) -> bool:
    return tables.get(SuppressionRow, mark) is not None


def suppress_write(mark: str, set_by: str, now: datetime) -> Write:
    return Put(SuppressionRow(mark, set_by=set_by, set_at=clock.text(now)))


def lift_write(mark: str) -> Write:
    return Delete(SuppressionRow(mark), SuppressionRow.mark.exists())
