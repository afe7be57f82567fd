"""The do-not-contact list: pseudonyms of addresses, never the addresses."""

from collections.abc import Iterable
from datetime import datetime

from pynamodb.attributes import UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Check, Delete, Put, Write


class SuppressionRow(tables.Row):
    class Meta:
        table_name = tables.name("suppressions")

    pseudonym = UnicodeAttribute(hash_key=True, attr_name="mark")
    set_by = UnicodeAttribute()
    set_at = UnicodeAttribute()


def is_suppressed(pseudonym: str) -> bool:
    return tables.get(SuppressionRow, pseudonym) is not None


def list_suppressed(pseudonyms: Iterable[str]) -> set[str]:
    return {row.pseudonym for row in tables.get_many(SuppressionRow, pseudonyms)}


def check_absent_write(pseudonym: str) -> Write:
    """Nobody has asked never to be contacted since it was looked up."""
    return Check(SuppressionRow(pseudonym), SuppressionRow.pseudonym.does_not_exist())


def suppress_write(pseudonym: str, set_by: str, now: datetime) -> Write:
    return Put(SuppressionRow(pseudonym, set_by=set_by, set_at=clock.text(now)))


def lift_write(pseudonym: str) -> Write:
    return Delete(SuppressionRow(pseudonym), SuppressionRow.pseudonym.exists())
