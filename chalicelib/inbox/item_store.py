"""Items in DynamoDB, one row each, whoever has them.

The words are those of the most trusted source (`model.Trust`), and nothing older is written over what it told later.
`stale` is there only while the row has details that the provider wants refreshed or deleted. `version` grows with
every write, also when the item is delivered unchanged: whoever takes something away because nobody has it must not
have missed that.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from msgspec import Struct
from pynamodb.attributes import Attribute, BooleanAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.inbox import model
from chalicelib.inbox.model import ContentType, Item, Provider, Trust
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Delete, Update, Write
from chalicelib.media import service as media

_DETAILS = (
    "creator",
    "image",
    "excerpt",
    "duration_seconds",
    "stale",
    "picture",
    "picture_of",
    "picture_tries",
)
_TOLD_BY_ANYBODY = (Provider.RSS.value, Provider.LINK.value)


class _ByAge(GlobalSecondaryIndex["ItemRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_age"
        projection = KeysOnlyProjection()

    stale = UnicodeAttribute(hash_key=True)
    refreshed_at = UnicodeAttribute(range_key=True)


class ItemRow(tables.Row):
    class Meta:
        table_name = tables.name("items")

    id = UnicodeAttribute(hash_key=True)
    provider = UnicodeAttribute()
    provider_item_id = UnicodeAttribute()
    content_type = UnicodeAttribute()
    title = UnicodeAttribute()
    canonical_url = UnicodeAttribute()
    refreshed_at = UnicodeAttribute()
    creator = UnicodeAttribute(null=True)
    creator_id = UnicodeAttribute(null=True)
    image = UnicodeAttribute(null=True)
    excerpt = UnicodeAttribute(null=True)
    duration_seconds = NumberAttribute(null=True)
    published_at = UnicodeAttribute(null=True)
    unavailable = BooleanAttribute(null=True)
    problem = UnicodeAttribute(null=True)
    trust = NumberAttribute(null=True)
    stale = UnicodeAttribute(null=True)
    picture = UnicodeAttribute(null=True)
    picture_of = UnicodeAttribute(null=True)
    picture_tries = NumberAttribute(null=True)
    version = NumberAttribute()
    by_age = _ByAge()


class Version(Struct, frozen=True):
    """How a row was when it was read. With `has_details` there is more to it than title and link. `picture` is the
    public copy it used."""

    id: str
    number: int
    has_details: bool
    picture: str = ""


def find(id: str) -> Item | None:
    row = tables.get(ItemRow, id)
    return _item(row) if row else None


def find_many(ids: Iterable[str]) -> dict[str, Item]:
    """By id; those that are stored."""
    return {row.id: _item(row) for row in tables.get_many(ItemRow, ids)}


def find_versions(ids: Iterable[str]) -> dict[str, Version]:
    """By id; of those that are stored."""
    return {row.id: _version(row) for row in tables.get_many(ItemRow, ids)}


def list_stale(provider: Provider, before: datetime, limit: int) -> Iterator[str]:
    """Ids of items whose provider told about them before that moment, oldest first."""
    older = ItemRow.refreshed_at < clock.text(before)
    for row in tables.query(ItemRow, provider.value, index_name="by_age", range_key_condition=older, limit=limit):
        yield row.id


def save_write(item: Item) -> Update:
    """Holds if nothing is stored, or what `model.replaces` says is to be replaced."""
    is_newer = ItemRow.refreshed_at <= clock.text(item.refreshed_at)
    same = ItemRow.creator_id == item.creator_id if item.creator_id else ItemRow.creator_id.does_not_exist()
    may = _is_below(item.trust) | (_is_below(item.trust + 1) & is_newer & (same | ItemRow.problem.exists()))
    return Update(ItemRow(item.id), _actions(item), ItemRow.id.does_not_exist() | may, show=True)


def replace_write(item: Item) -> Update:
    """Whatever is stored: for who alone knows what the item is."""
    return Update(ItemRow(item.id), _actions(item))


def delete_write(id: str) -> Delete:
    """Of an item without a public copy."""
    return Delete(ItemRow(id))


def touch_write(id: str) -> Update:
    """For who delivers an item as it is stored."""
    return Update(ItemRow(id), [ItemRow.version.add(1)], ItemRow.id.exists())


def save(item: Item) -> bool:
    """Says whether it was written: not if something later is stored, or another source is trusted as much or more."""
    write = save_write(item)
    return _update(item.id, write.actions, write.condition)


def refresh(item: Item) -> ItemRow | None:
    """Only if it is still stored with its details: then as it is stored now."""
    has_details = ItemRow.stale.exists() if item.provider in model.PERISHABLE else ItemRow.id.exists()
    is_newer = ItemRow.refreshed_at <= clock.text(item.refreshed_at)
    with suppress(Stale):
        return tables.update(ItemRow(item.id), _actions(item), has_details & is_newer & _is_below(item.trust + 1))
    return None


def mark_unavailable(id: str, now: datetime) -> bool:
    """Says whether there is such an item."""
    actions = [ItemRow.unavailable.set(True), ItemRow.refreshed_at.set(clock.text(now)), ItemRow.version.add(1)]
    return _update(id, actions, ItemRow.id.exists())


def strip(version: Version) -> bool:
    """Leave title and link. Only if nothing was written since; says whether it was done."""
    actions = [*(getattr(ItemRow, name).remove() for name in _DETAILS), ItemRow.version.add(1)]
    is_unchanged = ItemRow.version == version.number
    if version.picture:
        return _release_picture(version, Update(ItemRow(version.id), actions, is_unchanged))
    return _update(version.id, actions, is_unchanged)


def delete(version: Version) -> bool:
    """Only if nothing was written since; says whether it was done."""
    is_unchanged = ItemRow.version == version.number
    if version.picture:
        return _release_picture(version, Delete(ItemRow(version.id), is_unchanged))
    with suppress(Stale):
        tables.delete(ItemRow(version.id), is_unchanged)
        return True
    return False


def _release_picture(version: Version, write: Write) -> bool:
    """Together with what takes it from the item, so that every copy knows how many use it."""
    with suppress(Stale):
        tables.transact(write, media.release_write(version.picture))
        return True
    return False


def _update(id: str, actions: Sequence[Action], condition: Condition | None) -> bool:
    with suppress(Stale):
        tables.update(ItemRow(id), actions, condition)
        return True
    return False


def _is_below(trust: int) -> Condition:
    """What was stored before rows had this is trusted as `_trust` says."""
    is_below: Condition = ItemRow.trust < trust
    is_old: Condition = ItemRow.trust.does_not_exist()
    if trust <= Trust.PROVIDER:
        is_old &= ItemRow.provider.is_in(*_TOLD_BY_ANYBODY)
    either: Condition = is_below | is_old
    return either if trust > Trust.CLAIMED else is_below


def _trust(row: ItemRow) -> Trust:
    if row.trust is None:
        return Trust.CLAIMED if row.provider in _TOLD_BY_ANYBODY else Trust.PROVIDER
    return Trust(int(row.trust))


def _actions(item: Item) -> list[Action]:
    """An update, not a put: what else is stored in the row stays."""
    published_at = clock.text(item.published_at) if item.published_at else None
    return [
        ItemRow.provider.set(item.provider.value),
        ItemRow.provider_item_id.set(item.provider_item_id),
        ItemRow.content_type.set(item.content_type.value),
        ItemRow.title.set(item.title),
        ItemRow.canonical_url.set(item.canonical_url),
        ItemRow.refreshed_at.set(clock.text(item.refreshed_at)),
        ItemRow.trust.set(int(item.trust)),
        ItemRow.version.add(1),
        _set_or_remove(ItemRow.creator, item.creator or None),
        _set_or_remove(ItemRow.creator_id, item.creator_id or None),
        _set_or_remove(ItemRow.image, item.image or None),
        _set_or_remove(ItemRow.excerpt, item.excerpt or None),
        _set_or_remove(ItemRow.duration_seconds, item.duration_seconds),
        _set_or_remove(ItemRow.published_at, published_at),
        _set_or_remove(ItemRow.unavailable, None if item.available else True),
        _set_or_remove(ItemRow.problem, item.problem or None),
        _set_or_remove(ItemRow.stale, item.provider.value if item.provider in model.PERISHABLE else None),
    ]


def _set_or_remove(attribute: Attribute[Any], value: Any) -> Action:
    return attribute.remove() if value is None else attribute.set(value)


def _version(row: ItemRow) -> Version:
    has_details = any(getattr(row, name) is not None for name in _DETAILS)
    return Version(row.id, int(row.version), has_details, row.picture or "")


def _item(row: ItemRow) -> Item:
    return Item(
        id=row.id,
        provider=Provider(row.provider),
        provider_item_id=row.provider_item_id,
        content_type=ContentType(row.content_type),
        title=row.title,
        canonical_url=row.canonical_url,
        refreshed_at=clock.parse(row.refreshed_at),
        creator=row.creator or "",
        creator_id=row.creator_id or "",
        image=row.image or "",
        excerpt=row.excerpt or "",
        duration_seconds=None if row.duration_seconds is None else int(row.duration_seconds),
        published_at=clock.parse(row.published_at) if row.published_at else None,
        available=not row.unavailable,
        picture=row.picture or "",
        problem=row.problem or "",
        trust=_trust(row),
    )
