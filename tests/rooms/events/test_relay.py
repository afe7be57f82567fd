"""Events go from the outbox to the destinations: in order, once each, whatever is repeated."""

from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from chalicelib.events import jobs, outbox, relay, service, store
from chalicelib.events.model import EventType
from chalicelib.events.webhooks import dispatch
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.aws.failures import Stale
from tests.conftest import received
from tests.rooms.events.conftest import happen, happen_to, hook, run


def rows(table: str) -> list[dict[str, Any]]:
    return boto3.client("dynamodb").scan(TableName=queues.name(table))["Items"]


def test_an_event_nobody_listens_to_is_processed_and_kept_thirty_days(aws: None) -> None:
    happen()
    run()
    (row,) = rows("events")
    assert "pending" not in row
    processed = clock.parse(row["processed_at"]["S"])
    assert int(row["expires_at"]["N"]) == clock.epoch(processed + timedelta(days=30))
    assert not list(store.list_pending_aggregates())


def test_a_pending_event_has_no_expiry_and_is_not_cleaned_up(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    happen()
    monkeypatch.setattr(clock, "now", lambda: datetime.now(UTC) + timedelta(days=400))
    assert jobs.clean_up(lambda: True) == 0
    assert len(rows("events")) == 1


def test_clean_up_takes_what_is_due_in_batches_with_a_pause_and_leaves_the_rest(
    aws: None, later: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (jobs._DELETED_AT_ONCE, jobs._PAUSE > 0) == (1000, True)
    pauses: list[float] = []
    monkeypatch.setattr(jobs.time, "sleep", pauses.append)
    monkeypatch.setattr(jobs, "_DELETED_AT_ONCE", 2)
    happen(times=5)
    run()
    later(days=29, hours=23)
    assert jobs.clean_up(lambda: True) == 0
    later(hours=1, minutes=1)
    happen()
    assert jobs.clean_up(lambda: True) == 5
    assert pauses == [jobs._PAUSE] * 3
    assert len(rows("events")) == 1


def test_clean_up_makes_up_for_missed_nights(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    happen()
    run()
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(days=34))
    assert jobs.clean_up(lambda: True) == 1


def test_relaying_twice_owes_once(local: None, receiver: Any) -> None:
    hook(receiver())
    about = happen()
    assert len(relay.relay([about])) == 1
    assert relay.relay([about]) == set()
    assert len([row for row in rows("dispatches") if "due_at" in row]) == 1


def test_what_is_about_several_goes_in_one_transaction_and_a_quicker_relay_costs_nobody_else_theirs(
    local: None, receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = receiver()
    hook(there)
    about = happen_to(6)
    real, sizes = tables.transact, []

    def transact(*writes: tables.Write) -> None:
        sizes.append(len(writes))
        if len(sizes) == 1:
            relay.relay(about[2:3])  # the twin, between our reading and our writing
        real(*writes)

    monkeypatch.setattr(tables, "transact", transact)
    relay.relay(about)
    assert sizes == [12, 2, *[2] * 5], "all at once; the twin; then each of the other five by itself"
    monkeypatch.undo()
    assert not list(store.list_pending_aggregates())
    assert len([row for row in rows("dispatches") if "due_at" in row]) == 6


def test_a_webhook_for_some_types_gets_no_others(local: None, receiver: Any) -> None:
    picky = receiver()
    hook(picky, types=["UNSUBSCRIBED"])
    happen()
    happen(type=EventType.UNSUBSCRIBED)
    run()
    assert [call.event["type"] for call in picky.calls] == ["UNSUBSCRIBED"]


def test_what_is_about_one_subscriber_arrives_in_order(
    local: None, receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of it than one transaction, or one look at the lane, can hold."""
    monkeypatch.setattr(relay, "_WRITES_AT_ONCE", 12)
    monkeypatch.setattr(dispatch, "_LANE", 5)
    there = receiver()
    hook(there)
    about = happen(times=13)
    run()
    assert len(there.ids) == 13
    assert there.ids == sorted(there.ids)
    assert {call.event["subject"] for call in there.calls} == {about}


def test_hurrying_asks_the_queue_only_where_somebody_listens(local: None, receiver: Any) -> None:
    about = happen()
    outbox.relay_soon(about)
    assert received("events") == []
    hook(receiver())
    outbox._webhooks_exist.cache_clear()
    outbox.relay_soon(about)
    assert received("events") == [{"aggregates": [about]}]


def test_a_message_of_the_queue_relays_and_wakes_the_destination(local: None, receiver: Any) -> None:
    there = receiver()
    webhook = hook(there)
    about = happen()
    jobs.work({"aggregates": [about]}, lambda id: None)
    assert received("events") == [{"destination": webhook.id}]
    jobs.work({"destination": webhook.id}, lambda id: None)
    assert len(there.calls) == 1


def test_removal_waits_until_nothing_is_pending(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    about = happen()
    assert service.has_pending(about)
    monkeypatch.setattr(relay, "relay_and_wake", lambda ids: None)
    assert not service.ensure_relayed(about)
    monkeypatch.undo()
    assert service.ensure_relayed(about)
    assert not service.has_pending(about)


def test_many_aggregates_are_handed_to_the_queue_in_chunks(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_CHUNK", 5)
    happen_to(12)
    jobs.sweep()
    messages = received("events")
    assert sorted(len(message["aggregates"]) for message in messages) == [2, 5]
    for message in messages:
        jobs.work(message, lambda id: None)
    assert not list(store.list_pending_aggregates())


def test_the_change_and_its_event_are_written_together_or_not_at_all(aws: None) -> None:
    about = ids.new()
    first = outbox.event_write(EventType.EMAIL_CHANGED, about, {})
    refused = tables.Put(store.EventRow(about, "x", type="x", payload={}, created_at="x"), store.EventRow.id.exists())
    with pytest.raises(Stale):
        tables.transact(first, refused)
    assert not service.has_pending(about)
