"""What a receiver gets: signed CloudEvents under a stable id, sent to the URL of the webhook and nowhere else."""

import socket
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from chalicelib.events import jobs
from chalicelib.events.model import EventType
from chalicelib.events.webhooks import post, service
from chalicelib.events.webhooks.model import NewWebhook, Webhook
from chalicelib.kernel import settings
from chalicelib.kernel.http import client
from tests.rooms.events.conftest import happen, hook, run


def test_a_receiver_gets_a_signed_cloud_event(local: None, receiver: Any) -> None:
    there = receiver()
    revealed = service.add(NewWebhook(url=there.url))
    about = happen()
    run()
    (call,) = there.calls
    assert call.is_signed_with(revealed.secret)
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


def test_a_redirect_is_a_failure_and_is_not_followed(local: None, receiver: Any) -> None:
    elsewhere = receiver()
    there = receiver(answer=lambda call: 307, headers={"Location": elsewhere.url})
    webhook = hook(there)
    happen()
    run()
    (attempt,) = service.list_attempts(webhook.id)
    assert (attempt.result.status, attempt.result.error) == (307, "redirects are not followed")
    assert not elsewhere.calls


def test_a_name_that_leads_into_our_network_later_is_not_followed_there(
    local: None, receiver: Any, configure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, known = receiver(), ["93.184.215.14"]
    port = urlsplit(there.url).port
    real = socket.getaddrinfo

    def resolve(host: str, *given: Any, **named: Any) -> Any:
        return real(known[0] if host == "hook.example.org" else host, *given, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    configure(GNA_LOCAL="false")
    webhook = service.add(NewWebhook(url=f"https://hook.example.org:{port}/")).webhook
    known[0] = "127.0.0.1"
    happen()
    run()
    (attempt,) = service.list_attempts(webhook.id)
    assert (attempt.result.ok, attempt.result.error) == (False, "the host is not on the public internet")
    assert not there.calls


def test_a_receiver_that_hangs_is_given_up(local: None, receiver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post, "_BOUNDS", client.Bounds(seconds=0.3, largest=1000, redirects=0))
    released = threading.Event()
    webhook = hook(receiver(answer=lambda call: released.wait(60) and 204))
    happen()
    run()
    released.set()
    (attempt,) = service.list_attempts(webhook.id)
    assert not attempt.result.ok
    assert attempt.result.error == "no complete response in time"
    assert attempt.result.milliseconds >= 300


def test_a_slow_receiver_is_waited_for(local: None, receiver: Any) -> None:
    webhook = hook(receiver(delay=0.2))
    happen()
    run()
    (attempt,) = service.list_attempts(webhook.id)
    assert attempt.result.ok
    assert attempt.result.milliseconds >= 200


def test_the_address_is_sent_only_to_webhooks_that_asked_and_only_while_it_exists(local: None, receiver: Any) -> None:
    asked, plain = receiver(), receiver()
    hook(asked, include_address=True)
    hook(plain)
    there, erased = happen(), happen(type=EventType.UNSUBSCRIBED)
    run(address_of={there: "ada@example.org"}.get)
    emails = {call.event["subject"]: call.event["data"].get("email") for call in asked.calls}
    assert emails == {there: "ada@example.org", erased: None}
    assert not any(b"ada@example.org" in call.body for call in plain.calls)
    assert not any(b"email" in call.body for call in asked.calls if call.event["subject"] == erased)


def test_no_address_is_ever_stored(local: None, receiver: Any) -> None:
    import boto3

    from chalicelib.kernel.aws import queues

    hook(receiver(), include_address=True)
    happen()
    run(address_of=lambda id: "ada@example.org")
    for table in ("events", "dispatches", "webhooks"):
        assert "ada@" not in str(boto3.client("dynamodb").scan(TableName=queues.name(table))["Items"])


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
