"""Events about a reader are relayed at once where somebody listens, and cost nothing where nobody does."""

from typing import Any

import pytest

from chalicelib.audience import jobs, mails
from chalicelib.audience.stores.subscribers import SubscriberRow
from chalicelib.events import outbox
from tests.conftest import received


@pytest.fixture
def listening(http: Any, configure: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    configure(EVENT_BUS="default")
    monkeypatch.setattr(mails, "confirm", lambda subscriber_id, network: None)
    return http


def test_the_worker_that_mails_the_link_has_the_sign_up_relayed(listening: Any) -> None:
    assert listening.post("/api/subscribe", json={"email": "ada@example.org"}).status == 201
    (message,) = received("audience")
    assert received("events") == [], "the reader does not wait for it"
    jobs.handle(message)
    (subscriber,) = SubscriberRow.scan()
    assert received("events") == [{"aggregates": [subscriber.id]}]


def test_where_nobody_listens_nothing_is_sent(listening: Any, configure: Any) -> None:
    configure(EVENT_BUS="")
    outbox._webhooks_exist.cache_clear()
    listening.post("/api/subscribe", json={"email": "ada@example.org"})
    (message,) = received("audience")
    jobs.handle(message)
    assert received("events") == []
