"""Segments in DynamoDB, in the table of campaigns, which no list of campaigns sees.

One more row knows the names of all. It changes in the transaction that creates, renames or deletes one, so that no
two have the same name and there are not too many.
"""

import json

from msgspec import Struct
from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.campaigns import targeting
from chalicelib.campaigns.model import Segment
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

_SEGMENT = "segment"
_NAMES, _ALL = "segment-names", "all"


class SegmentRow(tables.Row):
    class Meta:
        table_name = tables.name("campaigns")

    partition = UnicodeAttribute(hash_key=True, attr_name="shelf")
    id = UnicodeAttribute(range_key=True)
    name = UnicodeAttribute()
    targeting = UnicodeAttribute(attr_name="aim")
    created_at = UnicodeAttribute()
    updated_at = UnicodeAttribute()
    version = NumberAttribute()


class NamesRow(tables.Row):
    """`names` is JSON: ids by folded name."""

    class Meta:
        table_name = tables.name("campaigns")

    partition = UnicodeAttribute(hash_key=True, attr_name="shelf", default=_NAMES)
    id = UnicodeAttribute(range_key=True, default=_ALL)
    names = UnicodeAttribute()
    version = NumberAttribute()


class Names(Struct, frozen=True):
    """The ids of all segments by folded name."""

    ids: dict[str, str]
    version: int = 0


def find(segment_id: str) -> Segment | None:
    row = tables.get(SegmentRow, _SEGMENT, segment_id)
    return _segment(row) if row else None


def list_all() -> list[Segment]:
    """The oldest first."""
    return [_segment(row) for row in tables.query(SegmentRow, _SEGMENT, consistent_read=True)]


def find_names() -> Names:
    row = tables.get(NamesRow, _NAMES, _ALL)
    return Names(json.loads(row.names), int(row.version)) if row else Names({})


def names_write(before: Names, ids: dict[str, str]) -> tables.Write:
    """Holds only if no segment was created, renamed or deleted since `before` was read."""
    row = NamesRow(names=json.dumps(ids), version=before.version + 1)
    same = NamesRow.version == before.version if before.version else NamesRow.id.does_not_exist()
    return tables.Put(row, same)


def create_write(segment: Segment) -> tables.Write:
    return tables.Put(_row(segment), SegmentRow.id.does_not_exist())


def change_write(before: Segment, after: Segment) -> tables.Write:
    return tables.Put(_row(after), SegmentRow.version == before.version)


def delete_write(segment: Segment) -> tables.Write:
    return tables.Delete(SegmentRow(_SEGMENT, segment.id), SegmentRow.id.exists())


def _row(segment: Segment) -> SegmentRow:
    return SegmentRow(
        _SEGMENT,
        segment.id,
        name=segment.name,
        targeting=json.dumps(targeting.to_stored(segment.targeting)),
        created_at=clock.text(segment.created_at),
        updated_at=clock.text(segment.updated_at),
        version=segment.version,
    )


def _segment(row: SegmentRow) -> Segment:
    return Segment(
        id=row.id,
        name=row.name,
        targeting=targeting.from_stored(json.loads(row.targeting)),
        created_at=clock.parse(row.created_at),
        updated_at=clock.parse(row.updated_at),
        version=int(row.version),
    )
