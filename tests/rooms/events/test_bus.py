"""The event bus of the account as a destination."""

from typing import Any

import pytest

from chalicelib.events.webhooks import store
from chalicelib.events.webhooks.model import BUS
from chalicelib.kernel import clock
from tests.rooms.events.conftest import happen, hook, run


def test_the_event_bus_gets_everything_in_tens(local: None, configure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from chalicelib.events.webhooks import bus

    configure(EVENT_BUS="gna-events", GNA_LOCAL="true")
    sent: list[list[dict[str, Any]]] = []

    def call(service: str, operation: str, **given: Any) -> dict[str, Any]:
        sent.append(given["Entries"])
        return {"FailedEntryCount": 0}

    monkeypatch.setattr(bus.session, "call", _only_events(bus.session.call, call))
    happen(times=25)
    run()
    assert [len(entries) for entries in sent] == [10, 10, 5]
    assert sent[0][0]["EventBusName"] == "gna-events"
    assert sent[0][0]["DetailType"] == "SUBSCRIPTION_CREATED"
    assert not store.list_due(BUS, clock.now(), 1)


def _only_events(real: Any, fake: Any) -> Any:
    return lambda service, operation, **given: (fake if service == "events" else real)(service, operation, **given)


def test_a_bus_that_is_missing_keeps_its_events_and_delays_no_webhook(
    local: None, configure: Any, receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chalicelib.events.webhooks import bus

    def refuse(service: str, operation: str, **given: Any) -> dict[str, Any]:
        raise RuntimeError("no such bus")

    configure(EVENT_BUS="missing", GNA_LOCAL="true")
    monkeypatch.setattr(bus.session, "call", _only_events(bus.session.call, refuse))
    there = receiver()
    hook(there)
    about = happen()
    run()
    assert len(there.calls) == 1
    assert len(store.list_owed(BUS, about, 10)) == 1
