"""Events to the EventBridge bus of the account, ten a call."""

import json
import time
from collections.abc import Sequence

from chalicelib.events.model import Event
from chalicelib.events.webhooks import model
from chalicelib.events.webhooks.model import Result
from chalicelib.kernel import log, settings
from chalicelib.kernel.aws import session
from chalicelib.kernel.errors import Unavailable

AT_ONCE = 10


def publish(events: Sequence[Event]) -> Result:
    """If one is not published, all count as not published: a copy is recognised by its id."""
    started = time.monotonic()
    try:
        answer = session.call("events", "put_events", Entries=[_entry(event) for event in events])
    except Unavailable:
        return _failed("the event bus did not respond", started)
    except Exception as failure:
        # The bus or a permission is missing: the events stay owed until the operator repairs it.
        log.exception("events.bus_refused", failure)
        return _failed("the event bus rejected the event", started)
    if answer.get("FailedEntryCount"):
        return _failed("the event bus accepted only some events", started)
    return Result(True, 200, None, int((time.monotonic() - started) * 1000))


def _failed(reason: str, started: float) -> Result:
    return Result(False, None, reason, int((time.monotonic() - started) * 1000))


def _entry(event: Event) -> dict[str, object]:
    return {
        "Source": "gna",
        "DetailType": event.type,
        "Detail": json.dumps(model.envelope(event, None)),
        "EventBusName": settings.current().event_bus,
    }
