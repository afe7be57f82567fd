"""From the outbox to the destinations: one transaction takes an event off the first and puts it on all the others.

It calls nobody outside, so no destination can hold it up, and a crash leaves an event either here or there.
"""

from collections.abc import Iterable
from contextlib import suppress

from chalicelib.events import store
from chalicelib.events.model import Event
from chalicelib.events.webhooks import store as webhook_store
from chalicelib.events.webhooks.model import BUS, Webhook
from chalicelib.kernel import clock, settings
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.aws.failures import Stale

_WRITES_AT_ONCE = 100


def tell(aggregate_ids: Iterable[str]) -> None:
    """Pass on what is pending about these, and wake the destinations."""
    for destination in relay(aggregate_ids):
        queues.send("events", {"destination": destination})


def relay(aggregate_ids: Iterable[str]) -> set[str]:
    """Pass on what is pending about these, in order; answer which destinations are owed something new."""
    webhooks = webhook_store.list_webhooks()
    most = _WRITES_AT_ONCE // (len(webhooks) + 2)
    reached: set[str] = set()
    parcel: list[Event] = []
    for aggregate_id in aggregate_ids:
        events = store.list_pending(aggregate_id, "0", most)
        if len(parcel) + len(events) > most:
            reached |= _together(parcel, webhooks, most)
            parcel = []
        parcel += events
    return reached | _together(parcel, webhooks, most)


def _together(parcel: list[Event], webhooks: list[Webhook], most: int) -> set[str]:
    """One transaction for what is about several things. What another relay was quicker with, and what one
    transaction cannot hold, is gone through by itself."""
    unfinished = {parcel[-1].aggregate_id: parcel[-1].id} if len(parcel) == most else {}
    reached: set[str] = set()
    try:
        reached |= _pass_on(parcel, webhooks)
    except Stale:
        unfinished = {event.aggregate_id: "0" for event in parcel}
    for aggregate_id, after in unfinished.items():
        reached |= _alone(aggregate_id, after, webhooks, most)
    return reached


def _alone(aggregate_id: str, after: str, webhooks: list[Webhook], most: int) -> set[str]:
    reached: set[str] = set()
    while events := store.list_pending(aggregate_id, after, most):
        try:
            reached |= _pass_on(events, webhooks)
        except Stale:
            break  # another relay is at it, and in the same order
        if len(events) < most:
            break
        after = events[-1].id
    return reached


def _pass_on(events: list[Event], webhooks: list[Webhook]) -> set[str]:
    """All that somebody wants to hear, or nothing of it; what nobody does is only marked, at half the price."""
    now = clock.now()
    wanting = {event.id: _destinations(event, webhooks) for event in events}
    owed = [webhook_store.owe_write(to, event, now) for event in events for to in wanting[event.id]]
    if owed:
        tables.transact(*(store.process_write(event, now) for event in events if wanting[event.id]), *owed)
    for event in events:
        if not wanting[event.id]:
            with suppress(Stale):  # another relay was quicker
                store.mark_processed(event, now)
    return {to for destinations in wanting.values() for to in destinations}


def _destinations(event: Event, webhooks: list[Webhook]) -> list[str]:
    wanting = [webhook.id for webhook in webhooks if webhook.wants(event.type)]
    return [*wanting, BUS] if settings.current().event_bus else wanting
