"""Background work: messages of the `events` queue, the sweep every minute, the clean-up every night."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any

from chalicelib.events import relay, store
from chalicelib.events.model import KEPT
from chalicelib.events.webhooks import destinations, dispatch, replay
from chalicelib.kernel import clock, log
from chalicelib.kernel.aws import queues

_CHUNK = 50
_CHUNKS_A_SWEEP = 200
_DELETED_AT_ONCE = 1000
_PAUSE = 0.2
_MISSED_NIGHTS = 6


def worker(address_of: dispatch.AddressOf) -> Callable[[Mapping[str, Any]], None]:
    """`work` for an app that can look up a subscriber's address; this room cannot."""
    return lambda message: work(message, address_of)


def work(message: Mapping[str, Any], address_of: dispatch.AddressOf) -> None:
    """Process one message. Any message may come twice or never: the tables say what is owed."""
    match message:
        case {"aggregates": [*aggregate_ids]}:
            relay.relay_and_wake(aggregate_ids)
        case {"destination": str(destination)}:
            dispatch.drain(destination, address_of)
        case {"replay": str()}:
            replay.replay_page(message)
        case _:
            log.error("events.unknown_message")


def sweep() -> None:
    """The guarantee behind the queue: relay whatever is pending, and wake every destination that is owed events."""
    chunks = islice(_chunks(store.list_pending_aggregates()), _CHUNKS_A_SWEEP)
    first = next(chunks, [])
    reached = relay.relay(first) if first else set()
    for chunk in chunks:
        queues.send("events", {"aggregates": chunk})
    for destination in destinations.list_waiting(reached):
        queues.send("events", {"destination": destination})


def clean_up(time_left: Callable[[], bool]) -> int:
    """Remove events 30 days after they were relayed. The table's own expiry does so too, but days late. The next
    night makes up for a run that was cut short."""
    limit = clock.now() - KEPT
    days = [(limit - timedelta(days=nights)).date() for nights in range(_MISSED_NIGHTS)]
    removed = sum(_remove(day, shard, limit, time_left) for day in days for shard in range(store.SHARDS))
    log.info("events.cleaned", removed=removed)
    return removed


def _remove(day: date, shard: int, limit: datetime, time_left: Callable[[], bool]) -> int:
    removed = 0
    while time_left() and (batch := store.remove_done_on(day, shard, clock.text(limit), _DELETED_AT_ONCE)):
        removed += batch
        time.sleep(_PAUSE)  # leaves capacity for other writers
    return removed


def _chunks(ids: Iterable[str]) -> Iterator[list[str]]:
    iterator = iter(ids)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk
