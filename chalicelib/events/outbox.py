"""Telling what happened: an event is one more write of the very transaction that makes it true.

Whatever commits is told at least once; what does not commit is never told.
"""

import threading
import time
import uuid
from functools import lru_cache

from chalicelib.events import model, store
from chalicelib.events.model import Event, EventType, Payload
from chalicelib.events.webhooks import store as webhook_store
from chalicelib.kernel import clock, ids, log, settings
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.errors import Unavailable

_lock = threading.Lock()
_last = uuid.UUID(int=0)


def event_write(type: EventType, aggregate_id: str, payload: Payload) -> tables.Put:
    """The write to add to the change's transaction. Events of one `aggregate_id` are told in order."""
    told = model.checked(type, payload)
    event = Event(_next_id(), aggregate_id, type, told, clock.text(clock.now()))
    return tables.Put(store.create_pending(event))


def relay_soon(aggregate_id: str) -> None:
    """After the commit: have it told now. It may fail or be left out; the sweep tells it within a minute."""
    try:
        if settings.current().event_bus or _webhooks_exist(int(time.monotonic() // 60)):
            queues.send("events", {"aggregates": [aggregate_id]})
    except Unavailable:
        log.warning("events.not_hurried", aggregate_id=aggregate_id)


@lru_cache(maxsize=1)
def _webhooks_exist(minute: int) -> bool:
    """Asked once a minute: where nobody listens, hurrying costs nothing."""
    return bool(webhook_store.list_webhooks())


def _next_id() -> str:
    """Later than every id given before by this process: two events of one transaction keep their order."""
    global _last
    with _lock:
        _last = max(uuid.UUID(ids.new()), uuid.UUID(int=_last.int + 1))
        return str(_last)
