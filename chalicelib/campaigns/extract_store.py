"""What the archive shows and searches of a campaign's text, beside the contents. It can be made again at any time."""

import zlib
from collections.abc import Iterable

from msgspec import Struct
from pynamodb.attributes import BinaryAttribute, UnicodeAttribute

from chalicelib.kernel.aws import tables


class Extract(Struct, frozen=True):
    """The beginning of a campaign's text, and each of its words once, folded; all of it from the version `stamp`."""

    stamp: str
    excerpt: str
    words: str


class ExtractRow(tables.Row):
    class Meta:
        table_name = tables.name("campaign-contents")

    id = UnicodeAttribute(hash_key=True)
    stamp = UnicodeAttribute()
    excerpt = UnicodeAttribute(null=True)
    words = BinaryAttribute(legacy_encoding=False)


def find_many(campaign_ids: Iterable[str]) -> dict[str, Extract]:
    """By the campaign's id; those that were made."""
    ids = {_id(campaign_id): campaign_id for campaign_id in campaign_ids}
    return {ids[row.id]: _extract(row) for row in tables.get_many(ExtractRow, ids)}


def put_all(extracts: dict[str, Extract]) -> None:
    """Without a condition: whoever finds one of an older version makes it again."""
    tables.write_all(ExtractRow, put=[_row(id, extract) for id, extract in extracts.items()])


def _id(campaign_id: str) -> str:
    return f"{campaign_id}/extract"


def _row(campaign_id: str, extract: Extract) -> ExtractRow:
    words = zlib.compress(extract.words.encode(), 6)
    return ExtractRow(_id(campaign_id), stamp=extract.stamp, excerpt=extract.excerpt or None, words=words)


def _extract(row: ExtractRow) -> Extract:
    return Extract(row.stamp, row.excerpt or "", zlib.decompress(row.words).decode())
