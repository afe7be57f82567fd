"""The contents of campaigns in DynamoDB, compressed: what was written under the campaign's id, with the list of its
versions; the body of a corrected web version, and each older version, in rows of their own."""

import zlib
from collections.abc import Iterable

from msgspec import json
from pynamodb.attributes import BinaryAttribute, NumberAttribute, UnicodeAttribute, UnicodeSetAttribute

from chalicelib.campaigns.history import SLOTS, History, Past
from chalicelib.campaigns.model import Campaign, CampaignDetail, Content
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Invalid

# DynamoDB's 400 KB, less room for names, keys and the shortest list of versions.
_LARGEST_ITEM = 390_000
_SHORTEST_LIST = 2_000


class ContentRow(tables.Row):
    class Meta:
        table_name = tables.name("campaign-contents")

    id = UnicodeAttribute(hash_key=True)
    body = BinaryAttribute(legacy_encoding=False)
    text = BinaryAttribute(legacy_encoding=False, null=True)
    pictures = UnicodeSetAttribute(null=True)
    versions = BinaryAttribute(legacy_encoding=False, null=True)

    # Only in the rows of older versions:
    campaign = BinaryAttribute(legacy_encoding=False, null=True)
    ordinal = NumberAttribute(null=True)
    expires_at = NumberAttribute(null=True)


def web_id(campaign_id: str) -> str:
    return f"{campaign_id}/web"


def build_row(id: str, content: Content, history: History | None = None) -> ContentRow:
    body, text = _pack(content.body), _pack(content.text) if content.text is not None else None
    size = len(body) + len(text or b"")
    if size > _LARGEST_ITEM:
        raise Invalid("The content is too large to store, even compressed: link to images instead of embedding them")
    versions = _pack_history(history, _LARGEST_ITEM - size + _SHORTEST_LIST) if history else None
    return ContentRow(id, body=body, text=text, pictures=set(content.pictures) or None, versions=versions)


def parse_content(row: ContentRow) -> Content:
    text = _unpack(row.text) if row.text is not None else None
    return Content(_unpack(row.body), text, frozenset(row.pictures or ()))


def parse_history(row: ContentRow) -> History:
    return json.decode(zlib.decompress(row.versions), type=History) if row.versions is not None else History()


def snapshot_write(before: CampaignDetail, past: Past) -> tables.Write:
    """The content as it was. The oldest version, if there are that many, has to leave its place."""
    row = build_row(_slot_id(before.campaign.id, past.slot), before.content)
    row.pictures = None  # an older version does not use its pictures
    row.campaign = zlib.compress(json.encode(before.campaign), 6)
    row.ordinal, row.expires_at = past.ordinal, clock.epoch(past.expires_at)
    return tables.Put(row)


def find_snapshot(campaign_id: str, past: Past) -> CampaignDetail | None:
    """The campaign and its content as of that version; None if another one has its place."""
    row = tables.get(ContentRow, _slot_id(campaign_id, past.slot))
    return _snapshot(row) if row and int(row.ordinal or 0) == past.ordinal else None


def list_snapshots(campaign_id: str) -> dict[int, CampaignDetail]:
    """All there are, by ordinal, in any order."""
    keys = [_slot_id(campaign_id, slot) for slot in range(SLOTS)]
    return {int(row.ordinal): _snapshot(row) for row in tables.get_many(ContentRow, keys)}


def delete_snapshot_writes(campaign_id: str, ordinals: Iterable[int]) -> list[tables.Write]:
    """Each fails if another version has the place."""
    return [
        tables.Delete(
            ContentRow(_slot_id(campaign_id, ordinal % SLOTS)),
            ContentRow.id.does_not_exist() | (ContentRow.ordinal == ordinal),
        )
        for ordinal in ordinals
    ]


def delete_snapshots(campaign_id: str, slots: Iterable[int]) -> None:
    """Of a campaign that is gone: nobody writes one any more."""
    tables.write_all(ContentRow, delete=[ContentRow(_slot_id(campaign_id, slot)) for slot in slots])


def _slot_id(campaign_id: str, slot: int) -> str:
    return f"{campaign_id}/v/{slot}"


def _snapshot(row: ContentRow) -> CampaignDetail:
    campaign = json.decode(zlib.decompress(row.campaign or b""), type=Campaign)
    return CampaignDetail(campaign, parse_content(row), ())


def _pack_history(history: History, most: int) -> bytes:
    """Content that barely fits leaves less room for the list: then it forgets the oldest."""
    for kept in range(len(history.past), -1, -1):
        packed = zlib.compress(json.encode(History(history.current, history.past[:kept], history.withdrawn)), 6)
        if len(packed) <= most:
            break
    return packed


def _pack(text: str) -> bytes:
    return zlib.compress(text.encode(), 6)


def _unpack(packed: bytes) -> str:
    return zlib.decompress(packed).decode()
