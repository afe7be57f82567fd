"""The row of a creator, and how it becomes one. Every poll writes it, so it stays small."""

from datetime import datetime
from typing import Any

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.feeds.reading.reader import Validators
from chalicelib.following.model import Creator
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

CREATOR = "creator"
# In place of a provider: nobody follows it, and it is deleted when its time comes.
UNFOLLOWED = "UNFOLLOWED"

_MOMENTS = (
    *("created_at", "refreshed_at", "updated_at", "last_published_at", "last_polled_at", "next_poll_at"),
    *("attempted_at", "not_before", "floor", "push_until", "hub_since"),
)
_NUMBERS = ("total_items", "interval_seconds", "failures", "found_by_push", "found_by_poll")
_TEXTS = (
    *("channel_id", "name", "description", "image_url", "external_url", "handle", "problem", "latest_item", "url"),
    *("hub", "topic"),
)


class _ByDue(GlobalSecondaryIndex["CreatorRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "by_due"
        projection = KeysOnlyProjection()

    due = UnicodeAttribute(hash_key=True)
    next_poll_at = UnicodeAttribute(range_key=True)


class CreatorRow(tables.Row):
    class Meta:
        table_name = tables.name("creators")

    id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True, default=CREATOR)
    provider = UnicodeAttribute()
    channel_id = UnicodeAttribute()
    name = UnicodeAttribute(null=True)
    description = UnicodeAttribute(null=True)
    image_url = UnicodeAttribute(null=True)
    external_url = UnicodeAttribute(null=True)
    handle = UnicodeAttribute(null=True)
    problem = UnicodeAttribute(null=True)
    latest_item = UnicodeAttribute(null=True)
    url = UnicodeAttribute(null=True)
    hub = UnicodeAttribute(null=True)
    topic = UnicodeAttribute(null=True)
    etag = UnicodeAttribute(null=True)
    last_modified = UnicodeAttribute(null=True)
    body_hash = UnicodeAttribute(null=True)
    created_at = UnicodeAttribute()
    refreshed_at = UnicodeAttribute()
    updated_at = UnicodeAttribute()
    last_published_at = UnicodeAttribute(null=True)
    last_polled_at = UnicodeAttribute(null=True)
    attempted_at = UnicodeAttribute(null=True)
    next_poll_at = UnicodeAttribute(null=True)
    not_before = UnicodeAttribute(null=True)
    floor = UnicodeAttribute(null=True)
    push_until = UnicodeAttribute(null=True)
    hub_since = UnicodeAttribute(null=True)
    total_items = NumberAttribute(null=True)
    interval_seconds = NumberAttribute(null=True)
    failures = NumberAttribute(null=True)
    found_by_push = NumberAttribute(null=True)
    found_by_poll = NumberAttribute(null=True)
    due = UnicodeAttribute(null=True)
    leased_by = UnicodeAttribute(null=True)
    leased_until = UnicodeAttribute(null=True)
    by_due = _ByDue()


def set_or_remove(name: str, value: Any) -> Action:
    attribute = getattr(CreatorRow, name)
    return attribute.set(value) if value not in (None, "") else attribute.remove()  # type: ignore[no-any-return]


def to_row(creator: Creator, **also: Any) -> CreatorRow:
    return CreatorRow(creator.id, CREATOR, provider=creator.provider.value, **values_of(creator), **also)


def values_of(creator: Creator) -> dict[str, Any]:
    moments = {name: _text(getattr(creator, name)) for name in _MOMENTS}
    validators = creator.validators
    return {
        **moments,
        **{name: getattr(creator, name) for name in _NUMBERS},
        **{name: getattr(creator, name) or None for name in _TEXTS},
        "etag": validators.etag or None,
        "last_modified": validators.last_modified or None,
        "body_hash": validators.body_hash or None,
    }


def to_creator(row: CreatorRow) -> Creator:
    moments: dict[str, Any] = {name: _parse(getattr(row, name)) for name in _MOMENTS}
    numbers: dict[str, Any] = {name: int(value) for name in _NUMBERS if (value := getattr(row, name)) is not None}
    texts: dict[str, Any] = {name: getattr(row, name) or "" for name in _TEXTS}
    validators = Validators(row.etag or "", row.last_modified or "", row.body_hash or "")
    provider, is_polled = Provider(row.provider), row.due == row.provider
    return Creator(row.id, provider, validators=validators, is_polled=is_polled, **moments, **numbers, **texts)


def _text(moment: datetime | None) -> str | None:
    return clock.text(moment) if moment else None


def _parse(stored: str | None) -> datetime | None:
    return clock.parse(stored) if stored else None
