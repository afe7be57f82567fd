"""From the outbox to the destinations: one transaction marks an event as relayed and owes it to every destination.

Nothing outside is called, so no destination can hold it up, and after a crash an event is either pending or owed.
"""

from collections.abc import Iterable
from contextlib import suppress

from chalicelib.events import store
from chalicelib.events.model import Event
from chalicelib.events.webhooks import destinations
from chalicelib.events.webhooks.model import Webhook
from chalicelib.kernel import clock
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.aws.failures import Stale

_WRITES_AT_ONCE = 100


def relay_and_wake(aggregate_ids: Iterable[str]) -> None:
    """Relay what is pending about these, and wake the destinations."""
    for destination in relay(aggregate_ids):
        queues.send("events", {"destination": destination})


def relay(aggregate_ids: Iterable[str]) -> set[str]:
    """Relay what is pending about these, in order; return the destinations that are owed something new."""
    webhooks = destinations.list_webhooks()
    most = _WRITES_AT_ONCE // (len(webhooks) + 2)
    reached: set[str] = set()
    batch: list[Event] = []
    for aggregate_id in aggregate_ids:
        events = store.list_pending(aggregate_id, "0", most)
        if len(batch) + len(events) > most:
            reached |= _relay_together(batch, webhooks, most)
            batch = []
        batch += events
    return reached | _relay_together(batch, webhooks, most)


def _relay_together(batch: list[Event], webhooks: list[Webhook], most: int) -> set[str]:
    """One transaction for events of several aggregates. An aggregate that another relay was quicker with, or that has
    more than one transaction can hold, is relayed on its own."""
    unfinished = {batch[-1].aggregate_id: batch[-1].id} if len(batch) == most else {}
    reached: set[str] = set()
    try:
        reached |= _relay_events(batch, webhooks)
    except Stale:
        unfinished = {event.aggregate_id: "0" for event in batch}
    for aggregate_id, after in unfinished.items():
        reached |= _relay_alone(aggregate_id, after, webhooks, most)
    return reached


def _relay_alone(aggregate_id: str, after: str, webhooks: list[Webhook], most: int) -> set[str]:
    reached: set[str] = set()
    while events := store.list_pending(aggregate_id, after, most):
        try:
            reached |= _relay_events(events, webhooks)
        except Stale:
            break  # another relay is doing this, in the same order
        if len(events) < most:
            break
        after = events[-1].id
    return reached


def _relay_events(events: list[Event], webhooks: list[Webhook]) -> set[str]:
    """All events that some destination wants, or none of them. One that no destination wants is only marked, at half
    the price."""
    now = clock.now()
    wanting = {event.id: destinations.wanting(event, webhooks) for event in events}
    owed = [destinations.owe_write(to, event, now) for event in events for to in wanting[event.id]]
    if owed:
        tables.transact(*(store.process_write(event, now) for event in events if wanting[event.id]), *owed)
    for event in events:
        if not wanting[event.id]:
            with suppress(Stale):  # another relay was quicker
                store.mark_processed(event, now)
    return {to for wanted_by in wanting.values() for to in wanted_by}
