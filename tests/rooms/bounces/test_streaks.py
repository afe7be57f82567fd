"""Soft bounces: one is nothing, five campaigns in a row are a mailbox nobody empties."""

import time
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.audience import pausing
from chalicelib.bounces import jobs, service, streak_store
from chalicelib.bounces import sent as begun
from chalicelib.campaigns.model import Targeting, Terms
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import raw, tables
from tests.conftest import received
from tests.rooms.bounces.test_modes import paused
from tests.rooms.bounces.test_service import READER, event
from tests.rooms.campaigns.crowd import write

TEA = Targeting(tags=Terms(any=("tea",)))
COFFEE = Targeting(tags=Terms(any=("coffee",)))


@pytest.fixture(autouse=True)
def reader(aws: None, configure: Any) -> None:
    configure(BOUNCES="pause")
    at = clock.text(clock.now() - timedelta(days=1))
    person = {"id": READER, "email": "Reader@example.org", "status": "activated", "unsubscribe_secret": "s" * 32}
    write("subscribers", [person | {"created_at": at, "activated_at": at, "tags": {"tea"}}])
    write("emails", [{"address": "reader@example.org", "subscriber_id": READER}])


def sent(targeting: Targeting = TEA) -> str:
    return begin(ids.new(), targeting)


def begin(delivery: str, targeting: Targeting = TEA) -> str:
    time.sleep(0.001)  # times are stored to the millisecond
    tables.transact(begun.begin_write(delivery, targeting.resolve("UTC"), clock.now()))
    return delivery


def bounce(delivery: str | None) -> None:
    report = event("event_bounce_transient")
    report["mail"]["tags"] = {"delivery": [delivery]} if delivery else {}
    jobs.handle(report)


def in_a_row() -> int:
    streak = streak_store.find(READER, clock.now())
    return streak.campaigns if streak else 0


def test_five_campaigns_in_a_row_pause() -> None:
    for number in range(1, 5):
        bounce(sent())
        assert (in_a_row(), paused()) == (number, None)
    bounce(sent())
    assert (in_a_row(), paused()) == (0, "soft_bounces")


def test_a_campaign_that_did_not_bounce_starts_again() -> None:
    for _ in range(4):
        bounce(sent())
    sent()
    bounce(sent())
    assert (in_a_row(), paused()) == (1, None)


def test_campaigns_count_in_the_order_they_were_sent_and_not_drafted() -> None:
    drafted = ids.new()
    for _ in range(4):
        bounce(sent())
    begin(drafted)
    bounce(sent())
    assert (in_a_row(), paused()) == (1, None)
    late = [ids.new() for _ in range(4)][::-1]
    for delivery in late:
        begin(delivery)
        bounce(delivery)
    assert paused() == "soft_bounces"


def test_a_campaign_for_other_people_does_not() -> None:
    for _ in range(4):
        bounce(sent())
        sent(COFFEE)
    bounce(sent())
    assert paused() == "soft_bounces"


def test_a_repeated_report_and_a_late_one_are_not_counted() -> None:
    first, second = sent(), sent()
    for delivery in (second, second, first, second):
        bounce(delivery)
    assert in_a_row() == 1
    for delivery in (None, "x", ids.new().upper()):
        bounce(delivery)
    assert in_a_row() == 1


def test_the_address_counts_and_not_the_person() -> None:
    for _ in range(4):
        bounce(sent())
    write("emails", [{"address": "new@example.org", "subscriber_id": READER}])
    report = event("event_bounce_transient")
    report["mail"] |= {"destination": ["new@example.org"], "tags": {"delivery": [sent()]}}
    jobs.handle(report)
    assert (in_a_row(), paused()) == (1, None)


def test_after_a_resume_the_count_begins_again_and_older_campaigns_do_not_count() -> None:
    for _ in range(5):
        bounce(sent())
    assert paused() == "soft_bounces"
    old = sent()
    pausing.resume(READER, "admin")
    bounce(old)
    assert (in_a_row(), paused()) == (0, None)


def test_what_is_kept_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(4):
        bounce(sent())
    later = clock.now() + streak_store.KEPT + timedelta(seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert in_a_row() == 0
    bounce(sent())
    assert (in_a_row(), paused()) == (1, None)


def test_five_in_a_row_may_remove_and_are_erased_with_the_person(configure: Any) -> None:
    configure(BOUNCES="remove")
    for _ in range(5):
        bounce(sent())
    assert [bool(message["bounced"]) for message in received("audience")] == [True]
    assert service.about(READER) == [
        {"soft_bounces_in_a_row": 4, "last": streak_store.find(READER, clock.now()).last}
    ]
    tables.transact(*service.erase_writes(READER))
    assert in_a_row() == 0


def test_no_streak_is_kept_where_nothing_comes_of_it(configure: Any) -> None:
    configure(BOUNCES="keep")
    for _ in range(6):
        bounce(sent())
    kept = raw.dynamodb("Scan", {"TableName": tables.name("bounces")})["Items"]
    assert "streaks" not in {row["shelf"]["S"] for row in kept}
    assert paused() is None


def test_a_row_names_nobody() -> None:
    bounce(sent())
    assert "example.org" not in str(raw.dynamodb("Scan", {"TableName": tables.name("bounces")})["Items"])
