"""Which page each entry of a feed was taken for, beside its creator's row. It outlives a creator that nobody follows:
who follows again must find the same items. But not for ever: anybody can have a feed followed and left."""

from collections.abc import Mapping
from datetime import timedelta

from msgspec import Struct
from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

_PART = "short links"
_KEPT = timedelta(days=400)


class PagesRow(tables.Row):
    class Meta:
        table_name = tables.name("creators")

    id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True, default=_PART)
    pages = JSONAttribute()
    version = NumberAttribute()
    expires_at = NumberAttribute()


class Pages(Struct, frozen=True):
    """Pages by entry, the latest first; empty where the short link itself was taken."""

    pages: Mapping[str, str]
    version: int = 0


def find(creator_id: str) -> Pages:
    row = tables.get(PagesRow, creator_id, _PART)
    return Pages(dict(row.pages), int(row.version)) if row else Pages({})


def save(creator_id: str, before: Pages, pages: Mapping[str, str]) -> None:
    """Raises `Stale` if somebody else has written since `before` was read."""
    expires_at = clock.epoch(clock.now() + _KEPT)
    row = PagesRow(creator_id, _PART, pages=list(pages.items()), version=before.version + 1, expires_at=expires_at)
    is_unchanged = PagesRow.version == before.version if before.version else PagesRow.id.does_not_exist()
    tables.put(row, is_unchanged)
