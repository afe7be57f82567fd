"""Subscriptions with hubs, one row each beside the feed's other rows. A feed has one, or two while it moves."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale

_PART = "websub "
_LEAVING_KEPT = timedelta(days=3)


class Standing(StrEnum):
    ASKED = "asked"
    ACTIVE = "active"
    LEAVING = "leaving"


class Subscription(Struct, frozen=True):
    feed_id: str
    token: str
    hub: str
    topic: str
    standing: Standing
    asked_at: datetime
    leased_until: datetime | None

    @property
    def is_leaving(self) -> bool:
        return self.standing is Standing.LEAVING

    def renewed(self, now: datetime) -> "Subscription":
        return replace(self, asked_at=now)

    def leaving(self, now: datetime) -> "Subscription":
        return replace(self, standing=Standing.LEAVING, asked_at=now)


class SubscriptionRow(tables.Row):
    class Meta:
        table_name = tables.name("feeds")

    feed_id = UnicodeAttribute(hash_key=True, attr_name="feed")
    part = UnicodeAttribute(range_key=True)
    hub = UnicodeAttribute()
    topic = UnicodeAttribute()
    standing = UnicodeAttribute()
    asked_at = UnicodeAttribute()
    leased_until = UnicodeAttribute(null=True)
    expires_at = NumberAttribute(null=True)


def find(feed_id: str, token: str) -> Subscription | None:
    row = tables.get(SubscriptionRow, feed_id, _PART + token[:100])
    return _subscription(row) if row else None


def list_subscriptions(feed_id: str) -> list[Subscription]:
    rows = tables.query(
        SubscriptionRow,
        feed_id,
        range_key_condition=SubscriptionRow.part.startswith(_PART),
        consistent_read=True,
    )
    return [_subscription(row) for row in rows]


def save(subscription: Subscription) -> None:
    leased_until = subscription.leased_until
    values = {
        "hub": subscription.hub,
        "topic": subscription.topic,
        "standing": subscription.standing.value,
        "asked_at": clock.text(subscription.asked_at),
        "leased_until": clock.text(leased_until) if leased_until else None,
        "expires_at": clock.epoch(subscription.asked_at + _LEAVING_KEPT) if subscription.is_leaving else None,
    }
    tables.put(_row(subscription, **values))


def activate(subscription: Subscription, until: datetime) -> None:
    """Does nothing if we have unsubscribed since the hub was asked."""
    actions = [
        SubscriptionRow.standing.set(Standing.ACTIVE.value),
        SubscriptionRow.leased_until.set(clock.text(until)),
    ]
    wanted = SubscriptionRow.standing.is_in(Standing.ASKED.value, Standing.ACTIVE.value)
    try:
        tables.update(_row(subscription), actions, wanted)
    except Stale:
        return


def remove(subscription: Subscription) -> None:
    tables.delete(_row(subscription))


def _row(subscription: Subscription, **values: Any) -> SubscriptionRow:
    return SubscriptionRow(subscription.feed_id, _PART + subscription.token, **values)


def _subscription(row: SubscriptionRow) -> Subscription:
    return Subscription(
        feed_id=row.feed_id,
        token=row.part.removeprefix(_PART),
        hub=row.hub,
        topic=row.topic,
        standing=Standing(row.standing),
        asked_at=clock.parse(row.asked_at),
        leased_until=clock.parse(row.leased_until) if row.leased_until else None,
    )
