"""Nobody is removed while events about them are pending; a person who unsubscribes is erased at once."""

from collections.abc import Callable
from typing import Any

import boto3
import pytest

from chalicelib.audience import jobs
from chalicelib.audience.stores.subscribers import SubscriberRow
from chalicelib.events import relay, store
from chalicelib.kernel.aws import queues
from chalicelib.kernel.aws.failures import Stale
from tests.conftest import received
from tests.rooms.audience.reader import Reader
from tests.rooms.events.conftest import run


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """The relay can relay nothing until this is called."""

    def busy(*given: Any) -> set[str]:
        raise Stale

    real = relay._relay_events
    monkeypatch.setattr(relay, "_relay_events", busy)
    return lambda: monkeypatch.setattr(relay, "_relay_events", real)


def sign_up(http: Any, ses: Any, stays: bool = True) -> Reader:
    def deliver() -> None:
        for message in received("audience"):
            jobs.handle(message)

    ada = Reader(http, ses, deliver, "ada@example.net")
    return ada.join() if stays else ada.subscribe() and ada


def people() -> list[str]:
    return [row.id for row in SubscriberRow.scan()]


def test_the_admin_is_told_that_a_removal_waits_and_it_is_done_in_its_turn(
    admin: Any, ses: Any, free: Callable[[], None]
) -> None:
    ada = sign_up(admin, ses)
    (subscriber_id,) = people()
    answer = admin.delete(f"/admin/api/subscribers/{subscriber_id}")
    assert (answer.status, answer.json) == (202, {"status": "removal_pending"})
    assert people() == [subscriber_id]
    jobs.handle({"kind": "remove", "subscriber_id": subscriber_id})
    assert people() == [subscriber_id], "still not its turn"
    free()
    jobs.handle({"kind": "remove", "subscriber_id": subscriber_id})
    assert people() == []
    assert ada.http.get(ada.link()).status != 303
    jobs.handle({"kind": "remove", "subscriber_id": subscriber_id})  # the first message comes at last


def test_the_clean_up_leaves_people_with_pending_events_to_the_next_one(
    http: Any, ses: Any, free: Callable[[], None], later: Any
) -> None:
    sign_up(http, ses, stays=False)
    later(hours=25)
    jobs.clean_up(lambda: True)
    assert len(people()) == 1
    free()
    jobs.clean_up(lambda: True)
    assert people() == []


def test_a_person_who_unsubscribes_is_erased_at_once_and_pending_events_keep_only_the_id(
    http: Any, ses: Any, free: Callable[[], None]
) -> None:
    sign_up(http, ses)
    (row,) = SubscriberRow.scan()
    http.post(f"/api/unsubscribe?token={row.id}.{row.unsubscribe_secret}")
    assert people() == []
    stored = boto3.client("dynamodb").scan(TableName=queues.name("events"))["Items"]
    assert len(stored) == 3
    assert all("pending" in item for item in stored)
    assert "ada@" not in str(stored)
    free()
    run()
    assert not list(store.list_pending_aggregates())
