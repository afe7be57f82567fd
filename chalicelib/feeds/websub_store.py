"""Subscriptions with hubs, one row each beside the feed's other rows. There is one, or two while a feed moves."""

from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace
from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.feeds.store import FEED
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
    token: str
    hub: str
    topic: str
    standing: Standing
    asked_at: datetime
    leased_until: datetime | None

    def asked_again(self, now: datetime) -> "Subscription":
        return replace(self, asked_at=now)

    def left(self, now: datetime) -> "Subscription":
        return replace(self, standing=Standing.LEAVING, asked_at=now)


class SubscriptionRow(tables.Row):
    class Meta:
        table_name = tables.name("feeds")

    feed = UnicodeAttribute(hash_key=True, default=FEED)
    part = UnicodeAttribute(range_key=True)
    hub = UnicodeAttribute()
    topic = UnicodeAttribute()
    standing = UnicodeAttribute()
    asked_at = UnicodeAttribute()
    leased_until = UnicodeAttribute(null=True)
    expires_at = NumberAttribute(null=True)


def get(token: str) -> Subscription | None:
    row = tables.get(SubscriptionRow, FEED, _PART + token[:100])
    return _subscription(row) if row else None


def list_subscriptions() -> list[Subscription]:
    rows = tables.query(
        SubscriptionRow,
        FEED,
        range_key_condition=SubscriptionRow.part.startswith(_PART),
        consistent_read=True,
    )
    return [_subscription(row) for row in rows]


def save(one: Subscription) -> None:
    leaves = one.standing is Standing.LEAVING
    tables.put(
        SubscriptionRow(
            FEED,
            _PART + one.token,
            hub=one.hub,
            topic=one.topic,
            standing=one.standing.value,
            asked_at=clock.text(one.asked_at),
            leased_until=clock.text(one.leased_until) if one.leased_until else None,
            expires_at=clock.epoch(one.asked_at + _LEAVING_KEPT) if leaves else None,
        )
    )


def activate(one: Subscription, until: datetime) -> None:
    """A hub that asks back after we have left finds nothing to activate."""
    actions = [
        SubscriptionRow.standing.set(Standing.ACTIVE.value),
        SubscriptionRow.leased_until.set(clock.text(until)),
    ]
    row = SubscriptionRow(FEED, _PART + one.token)
    try:
        tables.update(row, actions, SubscriptionRow.standing.is_in(Standing.ASKED.value, Standing.ACTIVE.value))
    except Stale:
        return


def remove(one: Subscription) -> None:
    tables.delete(SubscriptionRow(FEED, _PART + one.token))


def _subscription(row: SubscriptionRow) -> Subscription:
    return Subscription(
        token=row.part.removeprefix(_PART),
        hub=row.hub,
        topic=row.topic,
        standing=Standing(row.standing),
        asked_at=clock.parse(row.asked_at),
        leased_until=clock.parse(row.leased_until) if row.leased_until else None,
    )
