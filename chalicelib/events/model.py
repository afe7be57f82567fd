"""Events that other systems may want to know of: their types, the fields of each, and how long they are kept."""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from chalicelib.kernel import clock

KEPT = timedelta(days=30)

Value = str | int | None
Payload = Mapping[str, Value]


class EventType(StrEnum):
    SUBSCRIPTION_CREATED = "SUBSCRIPTION_CREATED"
    SUBSCRIPTION_CONFIRMED = "SUBSCRIPTION_CONFIRMED"
    SUBSCRIPTION_EXPIRED = "SUBSCRIPTION_EXPIRED"
    UNSUBSCRIBED = "UNSUBSCRIBED"
    EMAIL_CHANGED = "EMAIL_CHANGED"
    SUBSCRIBER_PAUSED = "SUBSCRIBER_PAUSED"
    SUBSCRIBER_RESUMED = "SUBSCRIBER_RESUMED"
    DO_NOT_CONTACT_SET = "DO_NOT_CONTACT_SET"
    DO_NOT_CONTACT_LIFTED = "DO_NOT_CONTACT_LIFTED"
    CAMPAIGN_SCHEDULED = "CAMPAIGN_SCHEDULED"
    CAMPAIGN_PUBLISHED = "CAMPAIGN_PUBLISHED"
    DELIVERY_FINISHED = "DELIVERY_FINISHED"
    BOUNCE_RECORDED = "BOUNCE_RECORDED"
    FEED_FAILING = "FEED_FAILING"
    FEED_RECOVERED = "FEED_RECOVERED"
    ITEM_RECEIVED = "ITEM_RECEIVED"
    ITEM_USED = "ITEM_USED"
    IMPORT_FINISHED = "IMPORT_FINISHED"
    IMPORT_UNDONE = "IMPORT_UNDONE"


# The fields each type may have. Ids, counts and fixed words only: nothing here names a person, so that an event may
# outlive the person's data. The documentation shows these examples.
_SUBSCRIBER = {"subscriber_id": "0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4e"}
_CAMPAIGN = {"campaign_id": "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"}
_DELIVERY = {**_CAMPAIGN, "delivery_id": "0193a5c4-9e2d-7f10-a3b4-c5d6e7f80910"}
_IMPORT = {"import_id": "0193a5c9-3c4d-7e5f-8a6b-7c8d9e0f1a2b"}
_CAPTURE = {**_SUBSCRIBER, "source": "blog"}

EXAMPLES: Mapping[EventType, Payload] = {
    EventType.SUBSCRIPTION_CREATED: _CAPTURE,
    EventType.SUBSCRIPTION_CONFIRMED: _CAPTURE,
    EventType.SUBSCRIPTION_EXPIRED: _CAPTURE,
    EventType.UNSUBSCRIBED: {**_SUBSCRIBER, "reason": "link"},
    EventType.EMAIL_CHANGED: _SUBSCRIBER,
    EventType.SUBSCRIBER_PAUSED: {**_SUBSCRIBER, "reason": "hard_bounce"},
    EventType.SUBSCRIBER_RESUMED: {**_SUBSCRIBER, "reason": "person"},
    EventType.DO_NOT_CONTACT_SET: {**_SUBSCRIBER, "reason": "admin"},
    EventType.DO_NOT_CONTACT_LIFTED: {**_SUBSCRIBER, "reason": "admin"},
    EventType.CAMPAIGN_SCHEDULED: {**_CAMPAIGN, "scheduled_at": "2026-11-20T08:00:00.000Z"},
    EventType.CAMPAIGN_PUBLISHED: _DELIVERY,
    EventType.DELIVERY_FINISHED: {
        **_DELIVERY,
        "state": "sent",
        "recipients": 1200,
        "sent": 1198,
        "failed": 2,
        "unknown": 0,
    },
    EventType.BOUNCE_RECORDED: {**_SUBSCRIBER, "delivery_id": _DELIVERY["delivery_id"], "reason": "permanent"},
    EventType.FEED_FAILING: {"feed_id": "feed", "failures": 3, "reason": "timeout"},
    EventType.FEED_RECOVERED: {"feed_id": "feed"},
    EventType.ITEM_RECEIVED: {
        "entry_id": "9c1185a5c5e9fc54612808977ee8f548",
        "provider": "YOUTUBE",
        "content_type": "VIDEO",
    },
    EventType.ITEM_USED: {"entry_id": "9c1185a5c5e9fc54612808977ee8f548", **_CAMPAIGN},
    EventType.IMPORT_FINISHED: {
        **_IMPORT,
        "state": "done",
        "rows": 1210,
        "imported": 1100,
        "asked": 0,
        "already": 40,
        "duplicate": 10,
        "invalid": 5,
        "unconfirmed": 20,
        "left_elsewhere": 30,
        "suppressed": 5,
    },
    EventType.IMPORT_UNDONE: {**_IMPORT, "removed": 1090},
}


class Event(Struct, frozen=True):
    id: str
    aggregate_id: str
    type: str
    payload: Payload
    created_at: str
    processed_at: str | None = None


def check_payload(type: EventType, payload: Payload) -> dict[str, Value]:
    """An undocumented field is a defect: it would reach other systems unnoticed. What looks like an address becomes
    None, because anybody may write one where a form names its source."""
    unknown = set(payload) - set(EXAMPLES[type])
    if unknown:
        raise ValueError(f"{type} has no field {', '.join(sorted(unknown))}: add it to events.model.EXAMPLES")
    return {name: None if isinstance(value, str) and "@" in value else value for name, value in payload.items()}


def expiry(processed_at: str) -> int:
    return clock.epoch(clock.parse(processed_at) + KEPT)
