"""Who must not come back by an import: keyed hashes of addresses that left or bounced elsewhere and, if the operator
wants it, of those who left here. Only imports read them; whoever signs up by themselves is not kept from it."""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Check, Put, Write

KEPT = timedelta(days=730)
HERE = "here"


class LeaverRow(tables.Row):
    """`import_id` names the import whose file said so, or is `HERE`."""

    class Meta:
        table_name = tables.name("leavers")

    mark = UnicodeAttribute(hash_key=True)
    import_id = UnicodeAttribute()
    expires_at = NumberAttribute()


def list_known(marks: Iterable[str]) -> list[LeaverRow]:
    return tables.get_many(LeaverRow, marks)


def check_absent_write(mark: str) -> Write:
    """Nobody has been remembered under it since it was looked up."""
    return Check(LeaverRow(mark), LeaverRow.mark.does_not_exist())


def remember_write(mark: str, import_id: str, now: datetime) -> Write:
    """Whoever is remembered already stays as they are: taking an import back must not forget what others said."""
    row = LeaverRow(mark, import_id=import_id, expires_at=clock.epoch(now + KEPT))
    return Put(row, LeaverRow.mark.does_not_exist())


def renew_write(mark: str, import_id: str, now: datetime) -> Write:
    return Put(LeaverRow(mark, import_id=import_id, expires_at=clock.epoch(now + KEPT)))


def forget(mark: str, import_id: str) -> None:
    """Only what this import remembered, and nobody since."""
    with suppress(Stale):
        tables.delete(LeaverRow(mark), LeaverRow.import_id == import_id)
