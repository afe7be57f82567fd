"""The row of an item, and how it becomes one. `item_store` says when it is written."""

from typing import Any

from pynamodb.attributes import Attribute, BooleanAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.inbox import model
from chalicelib.inbox.model import ContentType, Item, Provider, Trust
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

# Of these, anybody may say anything.
TOLD_BY_ANYBODY = (Provider.RSS.value, Provider.LINK.value)


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


def to_actions(item: Item) -> list[Action]:
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


def to_item(row: ItemRow) -> Item:
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


def _trust(row: ItemRow) -> Trust:
    if row.trust is None:
        return Trust.CLAIMED if row.provider in TOLD_BY_ANYBODY else Trust.PROVIDER
    return Trust(int(row.trust))
