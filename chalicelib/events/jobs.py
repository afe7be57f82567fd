"""The relay's work: messages of the `events` queue, the sweep each minute, the clean-up each night."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any

from chalicelib.events import relay, store
from chalicelib.events.model import KEPT
from chalicelib.events.webhooks import dispatch, replay
from chalicelib.events.webhooks import store as webhook_store
from chalicelib.events.webhooks.model import BUS
from chalicelib.kernel import clock, log, settings
from chalicelib.kernel.aws import queues

_CHUNK = 50
_CHUNKS_A_SWEEP = 200
_DELETED_AT_ONCE = 1000
_PAUSE = 0.2
_MISSED_NIGHTS = 6


def worker(address_of: dispatch.AddressOf) -> Callable[[Mapping[str, Any]], None]:
    """`work` for an app that knows whose address an id stands for; this room does not."""
    return lambda message: work(message, address_of)


def work(message: Mapping[str, Any], address_of: dispatch.AddressOf) -> None:
    """One message. Any of them may come twice or never: the tables know what is owed."""
    match message:
        case {"aggregates": [*aggregate_ids]}:
            relay.tell(aggregate_ids)
        case {"destination": str(destination)}:
            dispatch.drain(destination, address_of)
        case {"replay": str()}:
            replay.replay_page(message)
        case _:
            log.error("events.unknown_message")


def sweep() -> None:
    """The guarantee behind the queue: pass on whatever is pending, and wake every destination that is owed."""
    chunks = islice(_chunks(store.list_pending_aggregates()), _CHUNKS_A_SWEEP)
    first = next(chunks, [])
    reached = relay.relay(first) if first else set()
    for chunk in chunks:
        queues.send("events", {"aggregates": chunk})
    for destination in _waiting(reached):
        queues.send("events", {"destination": destination})


def clean_up(time_left: Callable[[], bool]) -> int:
    """Remove events 30 days after they were relayed. The table's own expiry does it too, but days late. A run that
    is cut short is made up for the next night."""
    limit = clock.now() - KEPT
    days = [(limit - timedelta(days=nights)).date() for nights in range(_MISSED_NIGHTS)]
    removed = sum(_remove(day, shard, limit, time_left) for day in days for shard in range(store.SHARDS))
    log.info("events.cleaned", removed=removed)
    return removed


def _remove(day: date, shard: int, limit: datetime, time_left: Callable[[], bool]) -> int:
    removed = 0
    while time_left() and (batch := store.remove_done_on(day, shard, clock.text(limit), _DELETED_AT_ONCE)):
        removed += batch
        time.sleep(_PAUSE)  # leaves room for whoever writes meanwhile
    return removed


def _waiting(reached: set[str]) -> list[str]:
    """The destinations that can be sent something and are owed it, and those whose end is still to be told."""
    now = clock.now()
    webhooks = webhook_store.list_webhooks()
    ready = [webhook.id for webhook in webhooks if webhook.ready(now)] + [BUS] * bool(settings.current().event_bus)
    owed = [id for id in ready if id in reached or webhook_store.list_due(id, now, 1)]
    return owed + [webhook.id for webhook in webhooks if webhook.untold]


def _chunks(ids: Iterable[str]) -> Iterator[list[str]]:
    iterator = iter(ids)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk
