"""From the outbox to the destinations: one transaction takes an event off the first and puts it on all the others.

It calls nobody outside, so no destination can hold it up, and a crash leaves an event either here or there.
"""

from collections.abc import Iterable

from chalicelib.events import store
from chalicelib.events.model import Event
from chalicelib.events.webhooks import store as webhook_store
from chalicelib.events.webhooks.model import BUS, Webhook
from chalicelib.kernel import clock, queues, settings, tables

_WRITES_AT_ONCE = 100


def tell(aggregate_ids: Iterable[str]) -> None:
    """Pass on what is pending about these, and wake the destinations."""
    for destination in relay(aggregate_ids):
        queues.send("events", {"destination": destination})


def relay(aggregate_ids: Iterable[str]) -> set[str]:
    """Pass on what is pending about these, in order; answer which destinations are owed something new."""
    webhooks = webhook_store.everyone()
    reached: set[str] = set()
    for aggregate_id in aggregate_ids:
        reached |= _relay(aggregate_id, webhooks)
    return reached


def _relay(aggregate_id: str, webhooks: list[Webhook]) -> set[str]:
    reached: set[str] = set()
    after = "0"
    most = _WRITES_AT_ONCE // (len(webhooks) + 2)
    while events := store.pending_of(aggregate_id, after, most):
        try:
            reached |= _pass_on([(event, _destinations(event, webhooks)) for event in events])
        except tables.Stale:
            break  # another relay is at it, and in the same order
        if len(events) < most:
            break
        after = events[-1].id
    return reached


def _pass_on(events: list[tuple[Event, list[str]]]) -> set[str]:
    now = clock.now()
    if len(events) == 1 and not events[0][1]:
        store.mark(events[0][0], now)
        return set()
    done = [store.processed(event, now) for event, _ in events]
    owed = [webhook_store.owe(to, event, now) for event, destinations in events for to in destinations]
    tables.transact(*done, *owed)
    return {to for _, destinations in events for to in destinations}


def _destinations(event: Event, webhooks: list[Webhook]) -> list[str]:
    wanting = [webhook.id for webhook in webhooks if webhook.wants(event.type)]
    return [*wanting, BUS] if settings.current().event_bus else wanting
