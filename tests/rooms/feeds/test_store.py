"""What is stored of a feed keeps its keys and attribute names, and each feed has its own rows."""

from datetime import UTC, datetime

import boto3
import pytest

from chalicelib.feeds import store, websub_store
from chalicelib.feeds.model import Memory
from chalicelib.feeds.state import WATCHED, Check, Result, State, Trigger
from chalicelib.feeds.websub_store import Standing, Subscription
from chalicelib.kernel.aws import tables

pytestmark = pytest.mark.usefixtures("aws")

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
SECOND = "second"


def save(feed_id: str, summary: str) -> None:
    before = State(feed_id, f"https://{feed_id}.example.org/")
    after = State(feed_id, before.url, version=1, result=Result.FIRST, summary=summary, checked_at=NOW)
    check = Check(NOW, Trigger.SCHEDULE, Result.FIRST, summary)
    memory = Memory(NOW, (feed_id[:6].encode(),))
    writes = [store.memory_write(feed_id, memory), store.latest_write(feed_id, [])]
    tables.transact(store.state_write(before, after), store.check_write(feed_id, check), *writes)
    asked = Subscription(feed_id, "mac", "https://hub.example.org/", "topic", Standing.ASKED, NOW, None)
    websub_store.save(asked, None)


def test_the_watched_feed_keeps_its_keys_and_attributes():
    save(WATCHED, "A summary")
    store.record_call(WATCHED, "call")
    rows = boto3.client("dynamodb").scan(TableName=tables.name("feeds"))["Items"]
    parts = {row["part"]["S"].partition(" ")[0]: row for row in rows}
    assert {row["feed"]["S"] for row in rows} == {"feed"}
    assert set(parts) == {"state", "marks", "latest", "check", "call", "websub"}
    assert parts["state"]["said"] == parts["check"]["said"] == {"S": "A summary"}


def test_a_second_feed_is_a_second_id():
    save(WATCHED, "Of the first")
    save(SECOND, "Of the second")
    assert [store.find_state(feed_id).summary for feed_id in (WATCHED, SECOND)] == ["Of the first", "Of the second"]
    assert [check.summary for check in store.list_checks(SECOND, 10)] == ["Of the second"]
    assert store.load_memory(SECOND, NOW).fingerprints == (b"second",)
    assert websub_store.find(SECOND, "mac").subject == SECOND
    assert len(websub_store.list_subscriptions(WATCHED)) == 1
