"""Receivers, webhooks and events for the tests of this room."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.events import jobs, outbox
from chalicelib.events.model import EventType
from chalicelib.events.webhooks import dispatch, service
from chalicelib.events.webhooks.model import NewWebhook, Webhook
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from tests.conftest import received
from tests.fixtures.receiver import Receiver


@pytest.fixture
def local(aws: None, configure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback may be reached, as on a developer's machine. One lane at a time: moto is not made for threads."""
    configure(GNA_LOCAL="true")
    monkeypatch.setattr(dispatch, "_LANES_AT_ONCE", 1)
    outbox._webhooks_exist.cache_clear()


@pytest.fixture
def notices(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    from chalicelib.mail import notices

    texts: list[str] = []
    monkeypatch.setattr(notices, "notify_admin", lambda subject, text: texts.append(text))
    return texts


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let so much time pass."""
    real, passed = clock.now, [timedelta()]

    def pass_by(**time: float) -> None:
        passed[0] += timedelta(**time)

    monkeypatch.setattr(clock, "now", lambda: real() + passed[0])
    return pass_by


def hook(receiver: Receiver, **fields: Any) -> Webhook:
    return service.add(NewWebhook(url=receiver.url, **fields)).webhook


def happen(aggregate_id: str | None = None, type: EventType = EventType.SUBSCRIPTION_CREATED, times: int = 1) -> str:
    """Something happened to this subscriber, so many times."""
    about = aggregate_id or ids.new()
    tables.transact(*(outbox.event_write(type, about, {"subscriber_id": about}) for _ in range(times)))
    return about


def happen_to(people: int) -> list[str]:
    """Something happened to so many subscribers."""
    about = [ids.new() for _ in range(people)]
    tables.transact(*(outbox.event_write(EventType.SUBSCRIPTION_CREATED, id, {"subscriber_id": id}) for id in about))
    return about


def nobody(subscriber_id: str) -> None:
    return None


def run(address_of: Any = nobody) -> None:
    """Sweep, then work until the queue is empty (delayed messages are not waited for)."""
    jobs.sweep()
    while messages := received("events"):
        for message in messages:
            jobs.work(message, address_of)
