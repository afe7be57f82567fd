"""Recording what happened: an event is one more write in the transaction that makes the change.

Whatever commits is sent at least once; what does not commit is never sent.
"""

import threading
import time
import uuid
from collections.abc import Iterable
from functools import lru_cache

from chalicelib.events import model, store
from chalicelib.events.model import Event, EventType, Payload
from chalicelib.events.webhooks import destinations
from chalicelib.kernel import clock, ids, log, settings
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.errors import Unavailable

_lock = threading.Lock()
_last = uuid.UUID(int=0)


def event_write(type: EventType, aggregate_id: str, payload: Payload) -> tables.Put:
    """The write to add to the change's transaction. Events of one `aggregate_id` are sent in order."""
    checked = model.check_payload(type, payload)
    return store.create_write(Event(_next_id(), aggregate_id, type, checked, clock.text(clock.now())))


def relay_soon(*aggregate_ids: str) -> None:
    """After the commit: have events sent now. It may fail or be left out, because the sweep comes every minute."""
    try:
        if settings.current().event_bus or _webhooks_exist(int(time.monotonic() // 60)):
            queues.send("events", {"aggregates": list(aggregate_ids)})
    except Unavailable:
        log.warning("events.not_hurried", aggregate_id=aggregate_ids[0])


def relay_written(writes: Iterable[tables.Write]) -> None:
    """The same for the events among the writes that were committed. Without any, nothing is sent."""
    if found := store.list_aggregates(writes):
        relay_soon(*found)


@lru_cache(maxsize=1)
def _webhooks_exist(minute: int) -> bool:
    """Looked up once a minute, so that hurrying costs nothing where nobody listens."""
    return bool(destinations.list_webhooks())


def _next_id() -> str:
    """Greater than every id this process gave before, so that two events of one transaction keep their order."""
    global _last
    with _lock:
        _last = max(uuid.UUID(ids.new()), uuid.UUID(int=_last.int + 1))
        return str(_last)
