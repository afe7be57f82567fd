"""Subscriptions with hubs, one row each, beside the other rows of the feed. A feed has one, or two while it moves."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.feeds.state import WATCHED
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale

_PART = "websub "
_LEAVING_KEPT = timedelta(days=3)
# A subscription that nobody renews any more, after the end of its lease.
LAPSED_KEPT = timedelta(days=30)


class Standing(StrEnum):
    ASKED = "asked"
    ACTIVE = "active"
    LEAVING = "leaving"


class Subscription(Struct, frozen=True):
    """`subject` is the watched feed or a creator's id. `mac` is derived from subject, hub and topic."""

    subject: str
    mac: str
    hub: str
    topic: str
    standing: Standing
    asked_at: datetime
    leased_until: datetime | None

    @property
    def token(self) -> str:
        """The end of the callback's URL. The watched feed's names no subject, as when there was no other."""
        return self.mac if self.subject == WATCHED else f"{self.subject}.{self.mac}"

    @property
    def is_leaving(self) -> bool:
        return self.standing is Standing.LEAVING

    def is_active(self, now: datetime) -> bool:
        return self.standing is Standing.ACTIVE and self.leased_until is not None and self.leased_until > now

    @property
    def expires_at(self) -> datetime:
        """When the row has no use any more, whatever became of its feed."""
        if self.is_leaving:
            return self.asked_at + _LEAVING_KEPT
        return max(self.asked_at, self.leased_until or self.asked_at) + LAPSED_KEPT

    def renewed(self, now: datetime) -> "Subscription":
        return replace(self, asked_at=now)

    def leaving(self, now: datetime) -> "Subscription":
        return replace(self, standing=Standing.LEAVING, asked_at=now)


class SubscriptionRow(tables.Row):
    class Meta:
        table_name = tables.name("feeds")

    subject = UnicodeAttribute(hash_key=True, attr_name="feed")
    part = UnicodeAttribute(range_key=True)
    hub = UnicodeAttribute()
    topic = UnicodeAttribute()
    standing = UnicodeAttribute()
    asked_at = UnicodeAttribute()
    leased_until = UnicodeAttribute(null=True)
    expires_at = NumberAttribute(null=True)


def find(subject: str, mac: str) -> Subscription | None:
    row = tables.get(SubscriptionRow, subject, _PART + mac)
    return _subscription(row) if row else None


def list_subscriptions(subject: str) -> list[Subscription]:
    rows = tables.query(
        SubscriptionRow,
        subject,
        range_key_condition=SubscriptionRow.part.startswith(_PART),
        consistent_read=True,
    )
    return [_subscription(row) for row in rows]


def save(subscription: Subscription, before: Subscription | None) -> None:
    """`Stale` if the row is no longer what it was `before`."""
    leased_until = subscription.leased_until
    values = {
        "hub": subscription.hub,
        "topic": subscription.topic,
        "standing": subscription.standing.value,
        "asked_at": clock.text(subscription.asked_at),
        "leased_until": clock.text(leased_until) if leased_until else None,
        "expires_at": clock.epoch(subscription.expires_at),
    }
    tables.put(_row(subscription, **values), _is_unchanged(before))


def activate(subscription: Subscription, until: datetime) -> None:
    """Does nothing if we have unsubscribed since the hub was asked."""
    active = replace(subscription, standing=Standing.ACTIVE, leased_until=until)
    actions = [
        SubscriptionRow.standing.set(active.standing.value),
        SubscriptionRow.leased_until.set(clock.text(until)),
        SubscriptionRow.expires_at.set(clock.epoch(active.expires_at)),
    ]
    wanted = SubscriptionRow.standing.is_in(Standing.ASKED.value, Standing.ACTIVE.value)
    try:
        tables.update(_row(subscription), actions, wanted)
    except Stale:
        return


def remove(subscription: Subscription) -> None:
    """Does nothing if we have subscribed again since the hub was asked to end it."""
    try:
        tables.delete(_row(subscription), SubscriptionRow.standing == Standing.LEAVING.value)
    except Stale:
        return


def _is_unchanged(before: Subscription | None) -> Condition:
    if not before:
        return SubscriptionRow.part.does_not_exist()
    asked_at = clock.text(before.asked_at)
    unchanged: Condition = (SubscriptionRow.standing == before.standing.value) & (
        SubscriptionRow.asked_at == asked_at
    )
    return unchanged


def _row(subscription: Subscription, **values: Any) -> SubscriptionRow:
    return SubscriptionRow(subscription.subject, _PART + subscription.mac, **values)


def _subscription(row: SubscriptionRow) -> Subscription:
    return Subscription(
        subject=row.subject,
        mac=row.part.removeprefix(_PART),
        hub=row.hub,
        topic=row.topic,
        standing=Standing(row.standing),
        asked_at=clock.parse(row.asked_at),
        leased_until=clock.parse(row.leased_until) if row.leased_until else None,
    )
