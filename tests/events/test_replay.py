"""Sending again what was told before, one event or a span of them."""

import time
from typing import Any

import pytest

from chalicelib.events.webhooks import replay, service
from chalicelib.kernel import clock
from tests.events.conftest import happen, hook, run


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
