"""What becomes of somebody whose mail bounces: kept, paused or removed, as `BOUNCES` says."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.audience import erasure, pausing, recipients
from chalicelib.audience import jobs as audience_jobs
from chalicelib.bounces import jobs, service, store
from chalicelib.events import store as events_store
from chalicelib.kernel import clock
from chalicelib.kernel.aws import raw, tables
from chalicelib.mail.failures import SANDBOXED, UNSENDABLE
from tests.conftest import received
from tests.rooms.bounces.test_service import READER, event
from tests.rooms.campaigns.crowd import write

pytestmark = pytest.mark.usefixtures("reader")
DELIVERY = "0193a5c4-9e2d-7f10-a3b4-c5d6e7f80910"
PERMANENT = "event_bounce_permanent"


@pytest.fixture
def reader(aws: None) -> None:
    at = clock.text(clock.now() - timedelta(days=1))
    person = {"id": READER, "email": "Reader@example.org", "status": "activated", "unsubscribe_secret": "s" * 32}
    write("subscribers", [person | {"created_at": at, "activated_at": at}])
    write("emails", [{"address": "reader@example.org", "subscriber_id": READER}])


def paused() -> str | None:
    person = recipients.look_up([READER]).get(READER)
    assert person
    return person.paused_because


def happened(type: str) -> list[Any]:
    return [row.payload for row in tables.scan(events_store.EventRow) if row.type == type]


@pytest.mark.parametrize(
    ("name", "because"),
    [
        (PERMANENT, "hard_bounce"),
        ("notification_bounce", "hard_bounce"),
        ("event_bounce_suppressed", "suppressed"),
        ("event_reject", None),
        ("event_bounce_transient", None),
        ("event_bounce_undetermined", None),
    ],
)
def test_only_an_address_that_does_not_work_pauses(configure: Any, name: str, because: str | None) -> None:
    configure(BOUNCES="pause")
    for _ in range(2):
        jobs.handle(event(name))
    assert paused() == because
    assert len(happened("SUBSCRIBER_PAUSED")) == (1 if because else 0)


def test_by_default_nobody_is_paused() -> None:
    jobs.handle(event(PERMANENT))
    assert paused() is None
    assert received("audience") == []


def test_who_resumed_is_not_paused_again_by_the_same_event_or_an_older_one(configure: Any) -> None:
    configure(BOUNCES="pause")
    bounce = event(PERMANENT)
    jobs.handle(bounce)
    pausing.resume(READER, "person")
    jobs.handle(bounce)
    jobs.handle(event("notification_bounce"))  # another event, dated five minutes ago
    assert paused() is None
    later = event("event_bounce_suppressed")
    later["bounce"]["timestamp"] = clock.text(clock.now() + timedelta(seconds=1))
    jobs.handle(later)
    assert paused() == "suppressed"


def test_a_bounce_and_its_pause_are_written_together(configure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(BOUNCES="pause")
    real = tables.transact

    def crash(*writes: Any) -> None:
        raise RuntimeError("the worker dies")

    monkeypatch.setattr(tables, "transact", crash)
    with pytest.raises(RuntimeError):
        jobs.handle(event(PERMANENT))
    monkeypatch.setattr(tables, "transact", real)
    assert not list(tables.query(store.BounceRow, "bounces"))
    jobs.handle(event(PERMANENT))
    assert paused() == "hard_bounce"


@pytest.mark.parametrize(
    ("reason", "because"), [(UNSENDABLE, "hard_bounce"), (SANDBOXED, None), ("SES rejected the message", None)]
)
def test_a_refused_mail_pauses_only_if_the_address_is_why(configure: Any, reason: str, because: str | None) -> None:
    configure(BOUNCES="pause")
    service.record_refusal(READER, DELIVERY, reason)
    assert paused() == because


def test_somebody_may_be_removed_instead(configure: Any) -> None:
    configure(BOUNCES="remove")
    jobs.handle(event("event_reject"))
    assert received("audience") == []
    jobs.handle(event(PERMANENT))
    (message,) = received("audience")
    assert "example.org" not in str(message)
    audience_jobs.handle(message)
    assert not recipients.look_up([READER])
    assert [payload["reason"] for payload in happened("UNSUBSCRIBED")] == ["bounce"]
    audience_jobs.handle(message)  # delivered twice


def test_a_repeated_event_removes_if_the_worker_died_before_it_did(configure: Any, monkeypatch: Any) -> None:
    configure(BOUNCES="remove")
    with monkeypatch.context() as crash:
        crash.setattr(erasure, "remove_bounced", lambda *_: 1 / 0)
        bounce = event(PERMANENT)
        with pytest.raises(ZeroDivisionError):
            jobs.handle(bounce)
    assert received("audience") == []
    jobs.handle(bounce)
    assert len(received("audience")) == 1
    assert len(happened("BOUNCE_RECORDED")) == 1


def test_nobody_is_removed_who_has_another_address_by_then(configure: Any) -> None:
    configure(BOUNCES="remove")
    jobs.handle(event(PERMANENT))
    change = {"UpdateExpression": "SET email = :new", "ExpressionAttributeValues": {":new": {"S": "new@example.org"}}}
    raw.dynamodb("UpdateItem", {"TableName": tables.name("subscribers"), "Key": {"id": {"S": READER}}} | change)
    for message in received("audience"):
        audience_jobs.handle(message)
    assert recipients.look_up([READER])


def test_an_event_repeated_after_somebody_signed_up_again_does_not_remove_them(configure: Any) -> None:
    configure(BOUNCES="remove")
    bounce = event(PERMANENT)
    jobs.handle(bounce)
    received("audience")
    again = "0193a5c2-7b1e-7c3a-9d52-6f0a1b2c3d4f"
    write("emails", [{"address": "reader@example.org", "subscriber_id": again}])
    jobs.handle(bounce)
    assert received("audience") == []


@pytest.mark.parametrize("field", ["activated_at", "resumed_at"])
@pytest.mark.parametrize("before", [True, False])
def test_nobody_is_removed_who_has_confirmed_or_resumed_since(configure: Any, field: str, before: bool) -> None:
    configure(BOUNCES="remove")
    change = {"UpdateExpression": f"SET {field} = :now", "ExpressionAttributeValues": {":now": {"S": _text_now()}}}
    change |= {"TableName": tables.name("subscribers"), "Key": {"id": {"S": READER}}}
    if before:
        raw.dynamodb("UpdateItem", change)
    jobs.handle(event(PERMANENT))
    raw.dynamodb("UpdateItem", change)
    for message in received("audience"):
        audience_jobs.handle(message)
    assert recipients.look_up([READER])


def _text_now() -> str:
    return clock.text(clock.now())
