"""What a receiver sees: signed CloudEvents, until it says yes, under the same id; and nobody waits for another."""

import base64
import hashlib
import hmac
import time
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.events import jobs
from chalicelib.events.model import EventType
from chalicelib.events.webhooks import lanes, model, post, replay, service, store
from chalicelib.events.webhooks.model import BUS, Webhook
from chalicelib.kernel import clock, fetch, locks, settings
from chalicelib.kernel.errors import Conflict
from tests.conftest import received
from tests.events.conftest import happen, hook, nobody, run
from tests.events.receiver import Call


@pytest.fixture
def notices(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    from chalicelib.mail import notices

    told: list[str] = []
    monkeypatch.setattr(notices, "notify_admin", lambda subject, text: told.append(text))
    return told


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let so much time pass."""
    real, passed = clock.now, [timedelta()]

    def pass_by(**time: float) -> None:
        passed[0] += timedelta(**time)

    monkeypatch.setattr(clock, "now", lambda: real() + passed[0])
    return pass_by


def verified(call: Call, secret: str) -> bool:
    signed = f"{call.headers['webhook-id']}.{call.headers['webhook-timestamp']}.".encode() + call.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return expected in call.headers["webhook-signature"].split()


def test_a_receiver_gets_a_signed_cloud_event(local: None, receiver: Any) -> None:
    there = receiver()
    revealed = service.add({"url": there.url})
    about = happen()
    run()
    (call,) = there.calls
    assert verified(call, revealed.secret)
    assert call.headers["content-type"] == "application/cloudevents+json"
    assert call.headers["webhook-id"] == call.event["id"]
    assert abs(int(call.headers["webhook-timestamp"]) - time.time()) < 60
    assert call.event | {"id": "", "time": ""} == {
        "specversion": "1.0",
        "id": "",
        "source": settings.current().site_url,
        "type": "SUBSCRIPTION_CREATED",
        "subject": about,
        "time": "",
        "datacontenttype": "application/json",
        "data": {"subscriber_id": about},
    }


def test_while_secrets_overlap_both_sign_and_afterwards_only_the_new_one(
    local: None, receiver: Any, later: Any
) -> None:
    there = receiver()
    first = service.add({"url": there.url})
    second = service.rotate(first.webhook.id)
    assert first.secret != second.secret
    happen()
    run()
    later(hours=25)
    happen()
    run()
    during, after = there.calls
    assert verified(during, first.secret)
    assert verified(during, second.secret)
    assert not verified(after, first.secret)
    assert verified(after, second.secret)


def test_a_failed_event_comes_again_with_the_same_id_and_keeps_its_place(
    local: None, receiver: Any, later: Any
) -> None:
    answers = [500, 500]
    there = receiver(answer=lambda call: answers.pop() if answers else 200)
    webhook = hook(there)
    happen(times=3)
    run()
    assert len(there.ids) == 1
    later(seconds=10)
    run()
    assert len(there.ids) == 2
    later(minutes=10)
    run()
    first = there.ids[0]
    assert there.ids == [first, first, first, *sorted(there.ids[3:])]
    assert len(there.ids) == 5
    assert [attempt.number for attempt in service.attempts(webhook.id)] == [1, 1, 3, 2, 1]


def test_a_new_event_does_not_overtake_one_that_waits(local: None, receiver: Any, later: Any) -> None:
    answers = [500]
    there = receiver(answer=lambda call: answers.pop() if answers else 200)
    hook(there)
    about = happen()
    run()
    happen(about)
    run()
    assert len(there.calls) == 1
    later(seconds=10)
    run()
    assert there.ids == [there.ids[0], there.ids[0], there.ids[2]]
    assert there.ids[2] > there.ids[0]


def test_one_failing_subject_holds_up_no_other(local: None, receiver: Any) -> None:
    poison = happen()
    there = receiver(answer=lambda call: 500 if call.event["subject"] == poison else 200)
    hook(there)
    others = {happen() for _ in range(5)}
    run()
    assert {call.event["subject"] for call in there.calls} == others | {poison}


def test_a_redirect_is_a_failure_and_is_not_followed(local: None, receiver: Any) -> None:
    elsewhere = receiver()
    there = receiver(answer=lambda call: 307, headers={"Location": elsewhere.url})
    webhook = hook(there)
    happen()
    run()
    (attempt,) = service.attempts(webhook.id)
    assert (attempt.result.status, attempt.result.error) == (307, "redirects are not followed")
    assert not elsewhere.calls


def test_a_receiver_that_hangs_is_given_up_in_time(
    local: None, receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post, "_BOUNDS", fetch.Bounds(seconds=0.3, largest=1000, redirects=0))
    webhook = hook(receiver(delay=1))
    happen()
    run()
    (attempt,) = service.attempts(webhook.id)
    assert not attempt.result.ok
    assert attempt.result.error == "no complete answer in time"
    assert attempt.result.milliseconds < 900


def test_a_slow_receiver_is_waited_for(local: None, receiver: Any) -> None:
    webhook = hook(receiver(delay=0.5))
    happen()
    run()
    (attempt,) = service.attempts(webhook.id)
    assert attempt.result.ok
    assert attempt.result.milliseconds >= 500


def test_a_dead_endpoint_delays_no_other(local: None, receiver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each destination is a message of its own, and a drain of one holds nothing another needs."""
    monkeypatch.setattr(post, "_BOUNDS", fetch.Bounds(seconds=0.2, largest=1000, redirects=0))
    dead, well = receiver(delay=1), receiver()
    dead_hook, well_hook = hook(dead), hook(well)
    for _ in range(30):
        happen()
    jobs.sweep()
    assert {message["destination"] for message in received("events")} == {dead_hook.id, well_hook.id}
    with locks.held(f"destination {dead_hook.id}", 60):  # the dead one is being drained all the while
        lanes.drain(well_hook.id, nobody)
    assert len(well.calls) == 30


def test_an_endpoint_that_fails_whatever_it_is_sent_is_left_alone(local: None, receiver: Any, later: Any) -> None:
    there = receiver(answer=lambda call: 503)
    webhook = hook(there)
    for _ in range(50):
        happen()
    run()
    tried = len(there.calls)
    assert tried < 20
    later(seconds=30)
    run()
    assert len(there.calls) == tried
    later(minutes=2)
    there.answer = lambda call: 200
    run()
    later(minutes=10)
    run()
    assert len(set(there.ids)) == 50
    assert service.get(webhook.id).failing_since is None


def test_retry_after_is_heeded(local: None, receiver: Any, later: Any) -> None:
    there = receiver(answer=lambda call: 429, headers={"Retry-After": "3600"})
    hook(there)
    happen()
    run()
    later(minutes=50)
    run()
    assert len(there.calls) == 1
    later(minutes=11)
    run()
    assert len(there.calls) == 2


def test_gone_disables_at_once_and_says_so(local: None, receiver: Any, notices: list[str]) -> None:
    there = receiver(answer=lambda call: 410)
    webhook = hook(there, description="shop")
    happen()
    run()
    happen()
    run()
    assert len(there.calls) == 1
    assert service.get(webhook.id).state == "disabled"
    assert len(notices) == 1
    assert "shop" in notices[0]


def test_failing_for_three_days_disables_and_says_so(
    local: None, receiver: Any, later: Any, notices: list[str]
) -> None:
    there = receiver(answer=lambda call: 500)
    webhook = hook(there)
    happen()
    run()
    for _ in range(32):
        later(hours=3)
        run()
    assert service.get(webhook.id).state == "disabled"
    assert service.get(webhook.id).reason == "it has failed for three days"
    assert len(notices) == 1
    assert 8 <= len(there.calls) <= 10
    assert len(set(there.ids)) == 1


def test_the_waits_span_about_three_days_and_differ() -> None:
    waits = [model.wait(attempts) for attempts in range(1, 10)]
    assert model.wait(10) is None
    assert 3 < sum(wait or 0 for wait in waits) / 86_400 < 3.8
    assert len({model.wait(3) for _ in range(20)}) > 1


def test_a_paused_webhook_waits_and_gets_everything_afterwards(local: None, receiver: Any) -> None:
    there = receiver()
    webhook = hook(there)
    service.change(webhook.id, {"paused": True})
    happen()
    run()
    assert not there.calls
    service.change(webhook.id, {"paused": False})
    run()
    assert len(there.calls) == 1


def test_the_address_goes_to_who_asked_and_only_while_it_exists(local: None, receiver: Any) -> None:
    asked, plain = receiver(), receiver()
    hook(asked, include_address=True)
    hook(plain)
    there, erased = happen(), happen(type=EventType.UNSUBSCRIBED)
    run(address_of={there: "ada@example.org"}.get)
    told = {call.event["subject"]: call.event["data"].get("email") for call in asked.calls}
    assert told == {there: "ada@example.org", erased: None}
    assert not any(b"ada@example.org" in call.body for call in plain.calls)
    assert not any(b"email" in call.body for call in asked.calls if call.event["subject"] == erased)


def test_no_address_is_ever_stored(local: None, receiver: Any) -> None:
    import boto3

    from chalicelib.kernel import queues

    hook(receiver(), include_address=True)
    happen()
    run(address_of=lambda id: "ada@example.org")
    for table in ("events", "dispatches", "webhooks"):
        assert "ada@" not in str(boto3.client("dynamodb").scan(TableName=queues.name(table))["Items"])


def test_a_test_event_is_sent_at_once_and_shown(local: None, receiver: Any) -> None:
    there = receiver()
    webhook = hook(there)
    attempt = service.test(webhook.id)
    assert attempt.result.ok
    assert there.calls[0].event["type"] == "TEST"
    assert service.attempts(webhook.id) == [attempt]


def test_one_event_can_be_replayed_under_its_own_id(local: None, receiver: Any) -> None:
    happen()
    run()
    there = receiver()
    webhook = hook(there)
    late = happen()
    run()
    service.replay_one(webhook.id, there.ids[0])
    run()
    assert len(there.ids) == 2
    assert len(set(there.ids)) == 1
    assert there.calls[0].event["subject"] == late


def test_a_span_can_be_replayed_to_a_webhook_that_is_new(
    local: None, receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "_AT_ONCE", 5)
    happen()
    run()
    time.sleep(0.002)
    start = clock.text(clock.now())
    expected = {happen() for _ in range(40)}
    run()
    there = receiver()
    webhook = hook(there)
    service.replay_span(webhook.id, start, clock.text(clock.now()))
    run()
    assert {call.event["subject"] for call in there.calls} == expected


def test_a_destination_removed_meanwhile_ends_quietly(local: None, receiver: Any) -> None:
    there = receiver(answer=lambda call: 500)
    webhook = hook(there)
    happen()
    jobs.sweep()
    service.remove(webhook.id)
    run()
    assert not there.calls


def test_a_webhook_removed_while_it_fails_ends_quietly(local: None, receiver: Any) -> None:
    removed: list[Webhook] = []
    there = receiver(answer=lambda call: service.remove(removed.pop().id) or 500)
    removed.append(hook(there))
    happen()
    run()
    assert len(there.calls) == 1


def test_the_event_bus_gets_everything_in_tens(local: None, configure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from chalicelib.events.webhooks import bus

    configure(EVENT_BUS="gna-events", GNA_LOCAL="true")
    sent: list[list[dict[str, Any]]] = []

    def call(service: str, operation: str, **given: Any) -> dict[str, Any]:
        sent.append(given["Entries"])
        return {"FailedEntryCount": 0}

    monkeypatch.setattr(bus.aws, "call", _only_events(bus.aws.call, call))
    happen(times=25)
    run()
    assert [len(entries) for entries in sent] == [10, 10, 5]
    assert sent[0][0]["EventBusName"] == "gna-events"
    assert sent[0][0]["DetailType"] == "SUBSCRIPTION_CREATED"
    assert not store.due(BUS, clock.now(), 1)


def _only_events(real: Any, fake: Any) -> Any:
    return lambda service, operation, **given: (fake if service == "events" else real)(service, operation, **given)


def test_a_bus_that_is_missing_keeps_its_events_and_delays_no_webhook(
    local: None, configure: Any, receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chalicelib.events.webhooks import bus

    def refuse(service: str, operation: str, **given: Any) -> dict[str, Any]:
        raise RuntimeError("no such bus")

    configure(EVENT_BUS="missing", GNA_LOCAL="true")
    monkeypatch.setattr(bus.aws, "call", _only_events(bus.aws.call, refuse))
    there = receiver()
    hook(there)
    about = happen()
    run()
    assert len(there.calls) == 1
    assert len(store.owed(BUS, about, 10)) == 1


def test_a_verdict_about_an_old_url_does_not_touch_a_repaired_webhook(
    local: None, receiver: Any, notices: list[str]
) -> None:
    old, new = receiver(answer=lambda call: 410), receiver()
    webhook = hook(old)
    old.answer = lambda call: service.change(webhook.id, {"url": new.url}) and 410
    happen()
    run()
    assert service.get(webhook.id).state == "active"
    assert not notices


def test_of_two_rotations_at_once_one_is_refused(local: None, receiver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    webhook = hook(receiver())
    monkeypatch.setattr(service, "get", lambda id: webhook)
    service.rotate(webhook.id)
    with pytest.raises(Conflict):
        service.rotate(webhook.id)


def test_a_description_can_be_cleared(local: None, receiver: Any) -> None:
    webhook = hook(receiver(), description="shop")
    assert service.change(webhook.id, {"description": ""}).description == ""
    assert service.get(webhook.id).description == ""
