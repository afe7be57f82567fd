"""Who gets a mail, how often, and how far it has come."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.audience import recipients
from chalicelib.audience.recipients import Recipient
from chalicelib.campaigns.model import DeliveryState, Targeting, Terms
from chalicelib.campaigns.sending import part_store, supervisor, worker
from chalicelib.campaigns.sending.supervisor import Order
from chalicelib.kernel import clock
from chalicelib.kernel.aws import raw
from tests.conftest import received
from tests.rooms.campaigns.crowd import gather, leave
from tests.rooms.campaigns.engine.work import Ses, now, started, sums, work


def test_everybody_gets_it_once_and_nothing_is_kept(ses: Ses) -> None:
    people = gather(1_050)
    delivery = work(started(ses))
    assert delivery.state is DeliveryState.SENT
    assert ses.got == dict.fromkeys(people, 1)
    assert sums(delivery) == (1_050, 1_050, 0, 0)
    assert part_store.list_parts(delivery.id) == []
    assert ses.batches <= 1_050 / 50 + 3


def test_an_empty_audience_is_done_at_once(ses: Ses) -> None:
    delivery = work(started(ses))
    assert (delivery.state, sums(delivery)) == (DeliveryState.SENT, (0, 0, 0, 0))


def test_who_is_pending_or_joined_after_the_start_is_not_written_to(ses: Ses) -> None:
    people = gather(60)
    gather(3, status="pending")
    delivery = started(ses)
    gather(3, activated_at=clock.now() + timedelta(seconds=5))
    assert work(delivery).counts.sent == 60
    assert set(ses.got) == set(people)


def test_targeting_is_respected(ses: Ses) -> None:
    ses.targeting = Targeting(sources=Terms(any=("blog", "shop")), tags=Terms(all=("new",), none=("angry",)))
    aimed_at = gather(3, sources=frozenset({"blog"}), tags=frozenset({"new"}))
    gather(3, sources=frozenset({"fair"}), tags=frozenset({"new"}))
    gather(3, sources=frozenset({"shop"}), tags=frozenset({"new", "angry"}))
    gather(3)
    work(started(ses))
    assert set(ses.got) == set(aimed_at)


def test_who_leaves_before_their_batch_is_not_written_to(ses: Ses, monkeypatch: pytest.MonkeyPatch) -> None:
    people = gather(120)
    monkeypatch.setattr(worker, "_FRESH_SECONDS", -1.0)
    gone: list[str] = []

    def says(batch: Sequence[Recipient]) -> Sequence[None]:
        if not gone:
            gone.extend(set(people) - {person.id for person in batch})
            for person in gone[:10]:
                leave(person)
        return [None] * len(batch)

    ses.says = says
    assert sums(work(started(ses))) == (110, 110, 0, 0)
    assert not set(gone[:10]) & set(ses.got)


def test_work_that_takes_longer_than_a_worker_lives_goes_on_at_its_cursor(ses: Ses) -> None:
    people = gather(160)
    delivery = started(ses)
    supervisor.tend(delivery)
    (message,) = received("sending")
    ses.stops_after = 2
    supervisor.drive(Order(**message), lambda: 60)
    assert supervisor.view_parts(delivery)[0].sent == 100
    (again,) = received("sending")
    assert again == message
    ses.stops_after = 10**9
    supervisor.drive(Order(**again), lambda: 60)
    assert ses.got == dict.fromkeys(people, 1)
    assert now(delivery).state is DeliveryState.SENT


def test_a_campaign_shows_how_far_it_has_come(ses: Ses, admin: Any) -> None:
    gather(120)
    delivery = started(ses)
    supervisor.tend(delivery)
    ses.stops_after = 1
    for message in received("sending"):
        supervisor.drive(Order(**message), lambda: 60)
    detail = admin.get(f"/admin/api/campaigns/{delivery.campaign_id}").json
    assert detail["state"] == "publishing"
    assert detail["deliveries"][0]["sent_count"] == detail["delivery"]["sent_count"] == 50


def test_a_large_audience_is_counted_beyond_the_first_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """DynamoDB ends a page after a megabyte, whatever the limit says."""
    asked: list[dict[str, Any]] = []

    def dynamodb(_: str, scan: dict[str, Any]) -> dict[str, Any]:
        asked.append(dict(scan))
        return {"Count": 3_000, "LastEvaluatedKey": {"id": {"S": str(len(asked))}}}

    monkeypatch.setattr(raw, "dynamodb", dynamodb)
    assert recipients.count_up_to(8_000) == 9_000
    assert [scan["Limit"] for scan in asked] == [8_000, 5_000, 2_000]
    assert [scan.get("ExclusiveStartKey") for scan in asked] == [None, {"id": {"S": "1"}}, {"id": {"S": "2"}}]
