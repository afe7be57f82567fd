"""What editors changed, in DynamoDB: a row of what holds now (`number` 0), one for each version that held in the last
year. Both are written in one transaction, over the version that was read. A version expires a year after it was
replaced, not after it was made: it has to be there when the next one is undone."""

import json
from datetime import datetime
from typing import Any

from msgspec import Struct, field, to_builtins
from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Put, Update, Write
from chalicelib.site import model
from chalicelib.site.current_store import CURRENT, KEY, Stored
from chalicelib.site.model import Change, Entry, Overrides


class SiteRow(tables.Row):
    """`overrides` is JSON. `logos` are the pictures that are held, the last one first, `pictures` those in the
    welcome email."""

    class Meta:
        table_name = tables.name("site")

    id = UnicodeAttribute(hash_key=True)
    number = NumberAttribute(range_key=True)
    version = NumberAttribute()
    overrides = UnicodeAttribute()
    logos = UnicodeAttribute(null=True)
    pictures = UnicodeAttribute(null=True)
    changes = UnicodeAttribute(null=True)
    at = UnicodeAttribute(null=True)
    by = UnicodeAttribute(null=True)
    restored = NumberAttribute(null=True)
    expires_at = NumberAttribute(null=True)


class Current(Struct, frozen=True):
    """`at` is when it was last changed, None if it never was."""

    stored: Stored
    logos: tuple[str, ...] = field(default_factory=tuple)
    pictures: frozenset[str] = frozenset()
    at: datetime | None = None


def find() -> Current:
    row = tables.get(SiteRow, KEY, CURRENT)
    if row is None:
        return Current(Stored())
    stored = Stored(int(row.version), json.loads(row.overrides))
    logos, pictures = tuple(json.loads(row.logos or "[]")), frozenset(json.loads(row.pictures or "[]"))
    return Current(stored, logos, pictures, clock.parse(row.at) if row.at else None)


def save_writes(before: Current, logos: tuple[str, ...], pictures: frozenset[str], entry: Entry) -> list[Write]:
    """They fail if somebody else has changed it since `before` was read."""
    unchanged = SiteRow.version == before.stored.version if before.stored.version else SiteRow.id.does_not_exist()
    overrides = json.dumps(entry.overrides, ensure_ascii=False)
    current = SiteRow(
        KEY,
        CURRENT,
        version=entry.version,
        overrides=overrides,
        logos=json.dumps(logos),
        pictures=json.dumps(sorted(pictures)) if pictures else None,
        at=clock.text(entry.at),
    )
    remembered = SiteRow(
        KEY,
        entry.version,
        version=entry.version,
        overrides=overrides,
        changes=json.dumps([to_builtins(change) for change in entry.changes], ensure_ascii=False),
        at=clock.text(entry.at),
        by=entry.by,
        restored=entry.restored,
    )
    return [Put(current, unchanged), Put(remembered, SiteRow.id.does_not_exist())]


def expire_writes(number: int, replaced_at: datetime) -> list[Write]:
    """For a version that is being replaced; none if there is no such version. Nor for 0, the environment: its number
    is that of the current row, which somebody else may just have made."""
    if number == CURRENT or find_entry(number) is None:
        return []
    ending = SiteRow.expires_at.set(clock.epoch(replaced_at + model.HISTORY_LIFE))
    return [Update(SiteRow(KEY, number), [ending], SiteRow.id.exists())]


def list_entries(most: int, now: datetime) -> list[Entry]:
    """The newest first. What has expired may still be there for days."""
    rows = tables.query(
        SiteRow,
        KEY,
        range_key_condition=SiteRow.number > CURRENT,
        filter_condition=SiteRow.expires_at.does_not_exist() | (SiteRow.expires_at > clock.epoch(now)),
        scan_index_forward=False,
        limit=most,
        consistent_read=True,
    )
    return [_entry(row) for row in rows]


def find_entry_at(moment: datetime) -> Entry | None:
    """The version that held then."""
    rows = tables.query(
        SiteRow,
        KEY,
        range_key_condition=SiteRow.number > CURRENT,
        filter_condition=SiteRow.at <= clock.text(moment),
        scan_index_forward=False,
        consistent_read=True,
    )
    row = next(rows, None)
    return _entry(row) if row else None


def find_entry(number: int) -> Entry | None:
    row = tables.get(SiteRow, KEY, number)
    return _entry(row) if row else None


def _entry(row: SiteRow) -> Entry:
    changes: list[dict[str, Any]] = json.loads(row.changes or "[]")
    overrides: Overrides = json.loads(row.overrides)
    return Entry(
        int(row.version),
        clock.parse(row.at or ""),
        row.by or "",
        tuple(Change(**change) for change in changes),
        overrides,
        int(row.restored) if row.restored is not None else None,
    )
