"""What an editor does with a webhook: rotate the secret, pause, test, change the description."""

from typing import Any

import pytest

from chalicelib.events.webhooks import model, service
from chalicelib.events.webhooks.model import NewWebhook, WebhookEdits
from chalicelib.kernel.errors import Conflict
from tests.rooms.events.conftest import happen, happen_to, hook, run


def test_while_secrets_overlap_both_sign_and_afterwards_only_the_new_one(
    local: None, receiver: Any, later: Any
) -> None:
    there = receiver()
    first = service.add(NewWebhook(url=there.url))
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


def test_a_secret_that_is_rotated_again_keeps_its_day(local: None, receiver: Any, later: Any) -> None:
    """The receiver of somebody who clicked twice, or lost the new secret, still has the first."""
    there = receiver()
    given = [service.add(NewWebhook(url=there.url))]
    webhook_id = given[0].webhook.id
    for _ in range(2):
        later(hours=6)
        given.append(service.rotate(webhook_id))
    happen()
    run()
    assert all(there.calls[0].is_signed_with(revealed.secret) for revealed in given)
    later(hours=19)
    happen()
    run()
    assert [there.calls[1].is_signed_with(revealed.secret) for revealed in given] == [False, True, True]


def test_only_so_many_secrets_sign_at_once(local: None, receiver: Any, later: Any) -> None:
    webhook = hook(receiver())
    for _ in range(model.MOST_PREVIOUS):
        service.rotate(webhook.id)
    with pytest.raises(Conflict):
        service.rotate(webhook.id)
    later(hours=25)
    assert len(service.rotate(webhook.id).webhook.previous) == 1


def test_another_url_starts_with_a_clean_slate(local: None, receiver: Any, later: Any) -> None:
    dead, well = receiver(answer=lambda call: 500), receiver()
    webhook = hook(dead)
    happen_to(6)
    run()
    assert service.get(webhook.id).resume_at
    changed = service.change(webhook.id, WebhookEdits(url=well.url))
    assert (changed.failing_since, changed.resume_at) == (None, None)
    run()
    assert well.calls


def test_of_two_rotations_at_once_one_is_refused(local: None, receiver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    webhook = hook(receiver())
    monkeypatch.setattr(service, "get", lambda id: webhook)
    service.rotate(webhook.id)
    with pytest.raises(Conflict):
        service.rotate(webhook.id)


def test_a_paused_webhook_waits_and_gets_everything_afterwards(local: None, receiver: Any) -> None:
    there = receiver()
    webhook = hook(there)
    service.change(webhook.id, WebhookEdits(paused=True))
    happen()
    run()
    assert not there.calls
    service.change(webhook.id, WebhookEdits(paused=False))
    run()
    assert len(there.calls) == 1


def test_a_test_event_is_sent_at_once_and_shown(local: None, receiver: Any) -> None:
    there = receiver()
    webhook = hook(there)
    attempt = service.test(webhook.id)
    assert attempt.result.ok
    assert there.calls[0].event["type"] == "TEST"
    assert service.list_attempts(webhook.id) == [attempt]


def test_attempts_are_shown_for_seven_days(local: None, receiver: Any, later: Any) -> None:
    webhook = hook(receiver())
    service.test(webhook.id)
    later(days=6, hours=23)
    assert len(service.list_attempts(webhook.id)) == 1
    later(hours=2)
    assert service.list_attempts(webhook.id) == []


def test_a_description_can_be_cleared(local: None, receiver: Any) -> None:
    webhook = hook(receiver(), description="shop")
    assert service.change(webhook.id, WebhookEdits(description="")).description == ""
    assert service.get(webhook.id).description == ""
