"""Removing people, and keeping the wish not to be contacted."""

from chalicelib.audience import counts, model, personal_data
from chalicelib.audience.model import Subscriber
from chalicelib.audience.stores import emails, subscribers, suppressions
from chalicelib.audience.stores import sign_ups as sign_up_store
from chalicelib.events import outbox
from chalicelib.events import service as events
from chalicelib.events.model import EventType
from chalicelib.kernel import clock, log
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import NotFound, Unavailable

REMOVE = "remove"
_TURN = 60
_ATTEMPTS = 4


def erase(subscriber: Subscriber, event: EventType, reason: str, *also: Write) -> None:
    """All that is stored about a person, in one transaction with the event that says so by id only."""
    counted = [counts.left_write(clock.now())] if subscriber.activated else []
    told = outbox.event_write(event, subscriber.id, {"subscriber_id": subscriber.id, "reason": reason})
    elsewhere = personal_data.erase_writes(subscriber.id)
    tables.transact(*subscribers.erase_writes(subscriber), *elsewhere, *counted, *also, told)
    outbox.relay_soon(subscriber.id)


def remove(subscriber_id: str) -> bool:
    """By the operator. False if events about the person are still to be told: then it is done once they are."""
    for _ in range(_ATTEMPTS):
        subscriber = subscribers.find(subscriber_id)
        if not subscriber:
            raise NotFound("No such subscriber")
        if not events.ensure_relayed(subscriber_id):
            queues.send("audience", {"kind": REMOVE, "subscriber_id": subscriber_id}, delay_seconds=_TURN)
            return False
        try:
            erase(subscriber, EventType.UNSUBSCRIBED, "admin")
        except Stale:
            continue
        log.metric("Removed")
        return True
    raise Unavailable


def expire(subscriber_id: str) -> bool:
    """By the clean-up, when nobody confirmed in time. False if there turned out to be nothing to do."""
    now = clock.now()
    subscriber = subscribers.find(subscriber_id)
    if not subscriber or subscriber.activated or not subscriber.expired(now):
        return False
    if not events.ensure_relayed(subscriber_id):
        return False  # the next clean-up finds it again
    told = outbox.event_write(
        EventType.SUBSCRIPTION_EXPIRED,
        subscriber.id,
        {"subscriber_id": subscriber.id, "source": ",".join(sorted(subscriber.asked_sources))},
    )
    try:
        tables.transact(*subscribers.expire_writes(subscriber, now), told)
    except Stale:
        return False  # confirmed, prolonged or removed by a twin just now
    return True


def suppress(address_key: str, set_by: str) -> None:
    """Never write to this address again; whoever has it is erased in the same transaction."""
    mark = model.address_pseudonym(address_key)
    for _ in range(_ATTEMPTS):
        now = clock.now()
        owner = emails.find_owner(address_key, now)
        subscriber = subscribers.find(owner) if owner else None
        wish = suppressions.suppress_write(mark, set_by, now)
        try:
            if subscriber:
                erase(subscriber, EventType.DO_NOT_CONTACT_SET, set_by, wish)
            else:
                told = {"subscriber_id": None, "reason": set_by}
                event = outbox.event_write(EventType.DO_NOT_CONTACT_SET, mark, told)
                nobody = [] if owner else [emails.check_free_write(address_key, now)]
                tables.transact(wish, sign_up_store.delete_write(mark), *nobody, event)
            return
        except Stale:
            continue
    raise Unavailable


def lift(address_key: str, set_by: str, *also: Write) -> None:
    """Nothing happens when there was no such wish."""
    mark = model.address_pseudonym(address_key)
    told = outbox.event_write(EventType.DO_NOT_CONTACT_LIFTED, mark, {"subscriber_id": None, "reason": set_by})
    try:
        tables.transact(suppressions.lift_write(mark), *also, told)
    except Stale:
        return
