"""Imports in DynamoDB: one row each, what was recognised in its file, and the ids of those it added."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace
from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.audience.imports import model
from chalicelib.audience.imports.model import Columns, Import
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Delete, Put, Write

_SHELF = "imports"
_COLUMNS = "columns"
_ADDED = "added#"
# A little longer than an import can be undone.
_ADDED_KEPT = model.UNDO_FOR + model.FILE_KEPT


class ImportRow(tables.Row):
    """`text` is the import as JSON: nothing asks for its parts."""

    class Meta:
        table_name = tables.name("imports")

    shelf = UnicodeAttribute(hash_key=True)
    key = UnicodeAttribute(range_key=True)
    version = NumberAttribute()
    text = UnicodeAttribute()
    expires_at = NumberAttribute()


class ColumnsRow(tables.Row):
    """In the import's own shelf, apart from the row that changes with every group of rows."""

    class Meta:
        table_name = tables.name("imports")

    shelf = UnicodeAttribute(hash_key=True)
    key = UnicodeAttribute(range_key=True)
    text = UnicodeAttribute()
    expires_at = NumberAttribute()


class AddedRow(tables.Row):
    """Whom one transaction added, by id, and the marks of those it remembered as having left."""

    class Meta:
        table_name = tables.name("imports")

    shelf = UnicodeAttribute(hash_key=True)
    key = UnicodeAttribute(range_key=True)
    subscribers = UnicodeAttribute()
    marks = UnicodeAttribute()
    expires_at = NumberAttribute()


class Added(msgspec.Struct, frozen=True):
    key: str
    subscribers: tuple[str, ...]
    marks: tuple[str, ...]


def find(import_id: str) -> Import | None:
    row = tables.get(ImportRow, _SHELF, import_id)
    return _parse(row) if row else None


def list_newest_first(since: datetime | None = None, most: int | None = None) -> Iterator[Import]:
    condition = ImportRow.key >= ids.since(since) if since else None
    rows = tables.query(
        ImportRow,
        _SHELF,
        range_key_condition=condition,
        scan_index_forward=False,
        consistent_read=True,
        limit=most,
    )
    for row in rows:
        yield _parse(row)


def create(found: Import) -> None:
    tables.put(_row(found), ImportRow.key.does_not_exist())


def change(found: Import) -> Import:
    """Over the version it was read with; raises `Stale` otherwise."""
    write, changed = change_write(found)
    tables.put(write.row, write.condition)
    return changed


def change_write(found: Import) -> tuple[Put, Import]:
    """The same for a transaction, and the import as it is after that."""
    changed = replace(found, version=found.version + 1)
    return Put(_row(changed), ImportRow.version == found.version, show=True), changed


def delete(found: Import) -> None:
    tables.delete(_row(found), ImportRow.version == found.version)


def find_columns(import_id: str) -> Columns | None:
    row = tables.get(ColumnsRow, import_id, _COLUMNS)
    return msgspec.json.decode(row.text, type=Columns) if row else None


def keep_columns(import_id: str, columns: Columns) -> None:
    text = msgspec.json.encode(columns).decode()
    expires_at = clock.epoch(clock.now() + model.KEPT)
    tables.put(ColumnsRow(import_id, _COLUMNS, text=text, expires_at=expires_at))


def added_write(found: Import, subscribers: Sequence[str], marks: Sequence[str]) -> Write:
    """Under the number of rows that were done before."""
    return Put(
        AddedRow(
            found.id,
            f"{_ADDED}{found.done:08}",
            subscribers=",".join(subscribers),
            marks=",".join(marks),
            expires_at=clock.epoch(clock.now() + _ADDED_KEPT),
        )
    )


def list_added(import_id: str) -> Iterator[Added]:
    condition = AddedRow.key.startswith(_ADDED)
    for row in tables.query(AddedRow, import_id, range_key_condition=condition, consistent_read=True):
        yield Added(row.key, _split(row.subscribers), _split(row.marks))


def forget_added_write(import_id: str, added: Added) -> Write:
    return Delete(AddedRow(import_id, added.key))


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()


def _row(found: Import) -> ImportRow:
    return ImportRow(
        _SHELF,
        found.id,
        version=found.version,
        text=msgspec.json.encode(found).decode(),
        expires_at=clock.epoch(found.created_at + model.KEPT),
    )


def _parse(row: ImportRow) -> Import:
    return msgspec.json.decode(row.text, type=Import)
