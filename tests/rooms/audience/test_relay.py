"""What happens to a reader is told at once where somebody listens, and costs nothing where nobody does."""

from typing import Any

import pytest

from chalicelib.audience import jobs, mails
from chalicelib.audience.stores.subscribers import SubscriberRow
from chalicelib.events import outbox
from tests.conftest import received


@pytest.fixture
def listened(http: Any, configure: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    configure(EVENT_BUS="default")
    monkeypatch.setattr(mails, "send", lambda kind, subscriber_id: None)
    return http


def test_the_worker_that_mails_the_link_has_the_sign_up_told(listened: Any) -> None:
    assert listened.post("/api/subscribe", json={"email": "ada@example.org"}).status == 201
    (message,) = received("audience")
    assert received("events") == [], "the reader does not wait for it"
    jobs.handle(message)
    (subscriber,) = SubscriberRow.scan()
    assert received("events") == [{"aggregates": [subscriber.id]}]


def test_where_nobody_listens_nothing_is_sent(listened: Any, configure: Any) -> None:
    configure(EVENT_BUS="")
    outbox._webhooks_exist.cache_clear()
    listened.post("/api/subscribe", json={"email": "ada@example.org"})
    (message,) = received("audience")
    jobs.handle(message)
    assert received("events") == []
