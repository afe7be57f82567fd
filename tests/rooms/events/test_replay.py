"""Sending again what was sent before: one event, or all events of a time range."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.events import jobs, store
from chalicelib.events.webhooks import replay, service
from chalicelib.kernel import clock
from chalicelib.kernel.errors import NotFound
from tests.conftest import received
from tests.rooms.events.conftest import happen, happen_to, hook, nobody, run


def test_one_event_can_be_replayed_under_its_own_id(local: None, receiver: Any) -> None:
    happen()
    run()
    there = receiver()
    webhook = hook(there)
    late = happen()
    run()
    service.replay_event(webhook.id, there.ids[0])
    run()
    assert len(there.ids) == 2
    assert len(set(there.ids)) == 1
    assert there.calls[0].event["subject"] == late


def test_an_id_from_long_ago_is_looked_for_no_longer_than_events_are_kept(
    local: None, receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Any] = []
    monkeypatch.setattr(store, "list_done", lambda *where: looked.append(where) or [])
    with pytest.raises(NotFound):
        service.replay_event(hook(receiver()).id, "00000000-0000-7000-8000-000000000000")
    assert len(looked) == 31 * store.SHARDS


def test_a_time_range_is_replayed_in_order_also_to_a_webhook_that_is_new(
    local: None, receiver: Any, later: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over several pages and days, with nothing from before or after the range."""
    monkeypatch.setattr(replay, "_AT_ONCE", 2)
    happen()
    run()
    start = _now()
    about = [*happen_to(4), happen(times=5)]
    run()
    later(days=2)
    for aggregate_id in about:
        happen(aggregate_id)
    run()
    end = _now()
    happen()
    run()
    there = receiver()
    service.replay_range(hook(there).id, start, end)
    run()
    received_ids: dict[str, list[str]] = {}
    for call in there.calls:
        received_ids.setdefault(call.event["subject"], []).append(call.event["id"])
    assert {subject: len(found) for subject, found in received_ids.items()} == dict(
        zip(about, [2, 2, 2, 2, 6], strict=True)
    )
    assert all(found == sorted(found) for found in received_ids.values())


def _now() -> str:
    """The time by which ids are made, which nothing shifts; none is made in the same millisecond."""
    time.sleep(0.002)
    now = clock.text(datetime.now(UTC))
    time.sleep(0.002)
    return now


def test_days_on_which_nothing_happened_take_no_messages(local: None, receiver: Any, later: Any) -> None:
    start = clock.text(clock.now())
    happen()
    run()
    later(days=20)
    service.replay_range(hook(receiver()).id, start, clock.text(clock.now()))
    messages = 0
    while found := received("events"):
        messages += len(found)
        for message in found:
            jobs.work(message, nobody)
    assert messages == 3, "the range, its destination, and the rest of the range"
