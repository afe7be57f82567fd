"""What the admin does with a webhook: a new secret, a pause, a test, another description."""

from typing import Any

import pytest

from chalicelib.events.webhooks import service
from chalicelib.kernel.errors import Conflict
from tests.events.conftest import happen, hook, run


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
    assert during.is_signed_with(first.secret)
    assert during.is_signed_with(second.secret)
    assert not after.is_signed_with(first.secret)
    assert after.is_signed_with(second.secret)


def test_of_two_rotations_at_once_one_is_refused(local: None, receiver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    webhook = hook(receiver())
    monkeypatch.setattr(service, "get", lambda id: webhook)
    service.rotate(webhook.id)
    with pytest.raises(Conflict):
        service.rotate(webhook.id)


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


def test_a_test_event_is_sent_at_once_and_shown(local: None, receiver: Any) -> None:
    there = receiver()
    webhook = hook(there)
    attempt = service.test(webhook.id)
    assert attempt.result.ok
    assert there.calls[0].event["type"] == "TEST"
    assert service.attempts(webhook.id) == [attempt]


def test_a_description_can_be_cleared(local: None, receiver: Any) -> None:
    webhook = hook(receiver(), description="shop")
    assert service.change(webhook.id, {"description": ""}).description == ""
    assert service.get(webhook.id).description == ""
