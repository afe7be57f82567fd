"""The outline of the publication's issues in DynamoDB: one row, beside the entries."""

from datetime import date

from msgspec import convert, to_builtins
from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.inbox.outline import Outline
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Put, Write

_OWNER, _ID = "outline of desk", "outline"


class OutlineRow(tables.Row):
    class Meta:
        table_name = tables.name("inbox")

    owner = UnicodeAttribute(hash_key=True)
    item_id = UnicodeAttribute(range_key=True)
    outline = JSONAttribute()
    last_date = UnicodeAttribute(null=True)
    version = NumberAttribute()


def find() -> Outline:
    row = tables.get(OutlineRow, _OWNER, _ID)
    if not row:
        return Outline()
    last_date = date.fromisoformat(row.last_date) if row.last_date else None
    return convert({**row.outline, "last_date": last_date, "version": int(row.version)}, Outline)


def save_write(before: Outline, after: Outline) -> Write:
    """Holds only if it was not changed since `before` was read."""
    stored = to_builtins(after)
    last_date = stored.pop("last_date")
    stored.pop("version")
    row = OutlineRow(_OWNER, _ID, outline=stored, last_date=last_date, version=before.version + 1)
    unchanged = OutlineRow.version == before.version if before.version else OutlineRow.owner.does_not_exist()
    return Put(row, unchanged)
