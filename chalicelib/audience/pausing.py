"""Somebody whose mails come back can be paused: they stay subscribed and get the mails they ask for, but no campaign,
until they or an editor say so."""

from datetime import datetime

from chalicelib.audience import model
from chalicelib.audience.model import Subscriber
from chalicelib.audience.stores import listing as listing_store
from chalicelib.audience.stores import pauses, subscribers
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.kernel import addresses, clock, log
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Conflict, NotFound

BY_PERSON, BY_EDITOR, BY_NEW_ADDRESS = "person", "admin", "email_changed"
_NOT_ACTIVATED = "Only activated subscribers can be paused"


def pause_writes(subscriber_id: str, because: str, since: datetime, address_key: str | None = None) -> list[Write]:
    """What pauses the person for something that happened then, and says so in an event. Nothing if they have left,
    are paused already, have confirmed or resumed since, or (with `address_key`) have another address now."""
    subscriber = subscribers.find(subscriber_id)
    if not subscriber or not subscriber.may_pause(since):
        return []
    if address_key is not None and addresses.key(subscriber.email) != address_key:
        return []
    return _pause_writes(subscriber, because)


def pause(subscriber_id: str) -> None:
    """By an editor. Changes nothing for somebody who is paused already."""
    retry_stale(lambda: _pause(subscriber_id))


def resume(subscriber_id: str, by: str) -> None:
    """Changes nothing for somebody who is not paused."""
    retry_stale(lambda: _resume(subscriber_id, by))


def event_writes(subscriber: Subscriber, by: str) -> list[Write]:
    """For a change that ends a pause by the way: the event that says so. None for somebody who is not paused."""
    if not subscriber.paused_at:
        return []
    payload = {"subscriber_id": subscriber.id, "reason": by}
    return [outbox.event_write(EventType.SUBSCRIBER_RESUMED, subscriber.id, payload)]


def resume_writes(subscriber: Subscriber, by: str, now: datetime) -> list[Write]:
    if not subscriber.paused_at:
        return []
    return [pauses.resume_write(subscriber, now), *event_writes(subscriber, by)]


def count() -> int:
    return listing_store.count_paused()


def _pause(subscriber_id: str) -> None:
    subscriber = _find(subscriber_id)
    if not subscriber.activated:
        raise Conflict(_NOT_ACTIVATED)
    if not subscriber.paused_at:
        tables.transact(*_pause_writes(subscriber, model.EDITOR))
        outbox.relay_soon(subscriber_id)


def _resume(subscriber_id: str, by: str) -> None:
    subscriber = _find(subscriber_id)
    if subscriber.paused_at:
        tables.transact(*resume_writes(subscriber, by, clock.now()))
        outbox.relay_soon(subscriber_id)
        log.metric("Resumed")


def _pause_writes(subscriber: Subscriber, because: str) -> list[Write]:
    payload = {"subscriber_id": subscriber.id, "reason": because}
    event = outbox.event_write(EventType.SUBSCRIBER_PAUSED, subscriber.id, payload)
    return [pauses.pause_write(subscriber, because, clock.now()), event]


def _find(subscriber_id: str) -> Subscriber:
    subscriber = subscribers.find(subscriber_id)
    if not subscriber:
        raise NotFound("No such subscriber")
    return subscriber
