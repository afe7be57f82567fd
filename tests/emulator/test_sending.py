"""The promise of sending, on real tables and queues with a real SES endpoint: whatever happens to SES and to
readers meanwhile, nobody gets a mail twice outside a reported unknown batch, nobody is missed, and the sums are
right."""

import socket
import threading
import time
from collections import Counter
from typing import Any

import pytest

from chalicelib.campaigns import service
from chalicelib.campaigns.model import Counts, Delivery, DeliveryState
from chalicelib.campaigns.sending import deliveries, mailer, pacing, part_store, supervisor, worker
from chalicelib.kernel import clock
from chalicelib.kernel.aws import raw, tables
from chalicelib.kernel.errors import Conflict
from tests.emulator.sending import addresses, created, ended, mails, now, sent
from tests.rooms.campaigns.crowd import gather, leave


def test_throttling_and_an_outage_are_waited_out(short_leases: None, ses: Any, work: Any, tick: Any) -> None:
    everybody = addresses(gather(600))
    back = threading.Timer(1.0, lambda: ses.tell(fail=None))
    ses.tell(throttle=0.3, fail={"code": "ServiceUnavailable", "status": 503})
    back.start()
    over = ended(sent(), work, tick)
    back.join()
    assert (over.state, over.counts) == (DeliveryState.SENT, Counts(600, 600, 0, 0))
    assert mails(ses) == Counter(everybody.values())


def test_while_no_connection_is_taken_nobody_is_unknown(
    short_leases: None, ses: Any, work: Any, tick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    everybody = addresses(gather(60))
    mailer.account_watch().account()  # so that sending meets the closed port, not the question before it
    with socket.socket() as closed, monkeypatch.context() as changed:
        closed.bind(("127.0.0.1", 0))
        changed.setenv("AWS_ENDPOINT_URL_SESV2", f"http://127.0.0.1:{closed.getsockname()[1]}")
        raw._connection.cache_clear()
        delivery = sent()
        work("deliveries")
        work("sending", rounds=1)
        waiting = now(delivery)
        assert (waiting.state, waiting.note) == (DeliveryState.SENDING, worker._BUSY)
        assert supervisor.view_parts(delivery)[0] == Counts()
    raw._connection.cache_clear()
    assert ended(delivery, work, tick).counts == Counts(60, 60, 0, 0)
    assert mails(ses) == Counter(everybody.values())


def test_who_was_at_hand_when_ses_hung_up_is_unknown_and_a_retry_reaches_them(
    short_leases: None, ses: Any, work: Any, tick: Any
) -> None:
    everybody = addresses(gather(500))
    mailer.account_watch().account()
    ses.tell(down=True)
    delivery = sent()
    work("deliveries")
    work("sending", rounds=1)
    lost = supervisor.view_parts(delivery)[0].unknown
    assert 50 <= lost <= 55  # a batch, and after that one at a time
    assert not mails(ses)
    ses.tell(down=False)
    over = ended(delivery, work, tick)
    assert (over.state, over.counts.recipients) == (DeliveryState.FAILED, 500)
    assert mails(ses).total() == over.counts.sent == 500 - over.counts.unknown
    deliveries.retry(delivery.campaign_id, delivery.id)
    assert ended(delivery, work, tick).counts == Counts(500, 500, 0, 0)
    assert mails(ses) == Counter(everybody.values())


def test_lost_answers_are_unknown_and_a_retry_sends_exactly_these(
    short_leases: None, ses: Any, work: Any, tick: Any
) -> None:
    everybody = addresses(gather(500))
    ses.tell(lose_answers=2)
    over = ended(delivery := sent(), work, tick)
    assert over.state is DeliveryState.FAILED
    assert over.counts == Counts(500, 500 - over.counts.unknown, 0, over.counts.unknown)
    assert 0 < over.counts.unknown <= 100
    assert mails(ses) == Counter(everybody.values())
    deliveries.retry(delivery.campaign_id, delivery.id)
    assert ended(delivery, work, tick).counts == Counts(500, 500, 0, 0)
    assert sum(count == 2 for count in mails(ses).values()) == over.counts.unknown


def test_messages_that_come_twice_to_several_workers_at_once_send_once(
    short_leases: None, ses: Any, together: Any, emulator: Any
) -> None:
    everybody = addresses(gather(1_200))
    delivery = sent()
    supervisor.tend(delivery)
    orders = [
        supervisor.Order(delivery.campaign_id, delivery.id, part.name) for part in part_store.list_parts(delivery.id)
    ]
    results = together(*[lambda order=order: supervisor.drive(order, lambda: 60.0) for order in orders * 2])
    assert results == [None] * len(results)
    assert now(delivery).counts == Counts(1_200, 1_200, 0, 0)
    assert mails(ses) == Counter(everybody.values())


def test_people_who_come_go_and_change_their_address_meanwhile(
    short_leases: None, ses: Any, together: Any, work: Any, tick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_PAGE", 100)  # so that they are read while all this happens
    people = gather(1_000)
    before = addresses(people)
    going, changing, staying = people[:60], people[60:120], people[120:]
    ses.tell(delay_ms=20)
    delivery = sent()

    def meanwhile() -> None:
        gather(50, activated_at=clock.now())
        for person, other in zip(going, changing, strict=True):
            leave(person)
            _change(other, f"new-{other}@example.org")

    def deliver() -> Delivery:
        return ended(delivery, work, tick)

    over, _ = together(deliver, meanwhile)
    got = mails(ses)
    assert over.state is DeliveryState.SENT
    assert over.counts.sent == sum(got.values())
    assert max(got.values()) == 1
    assert {before[person] for person in staying} <= set(got)
    for person in changing:
        assert (before[person] in got) + (f"new-{person}@example.org" in got) == 1
    assert set(got) <= set(before.values()) | {f"new-{person}@example.org" for person in changing}


def _change(subscriber_id: str, email: str) -> None:
    update = {
        "TableName": tables.name("subscribers"),
        "Key": {"id": {"S": subscriber_id}},
        "UpdateExpression": "SET email = :email",
        "ExpressionAttributeValues": {":email": {"S": email}},
    }
    raw.dynamodb("UpdateItem", update)


def test_send_pressed_twice_at_once_starts_one_delivery(
    short_leases: None, ses: Any, together: Any, work: Any, tick: Any
) -> None:
    everybody = addresses(gather(120))
    campaign_id = created()
    results = together(*[lambda: service.send_now(campaign_id)] * 4)
    assert sum(isinstance(result, Conflict) for result in results) == 3
    (delivery,) = service.view(campaign_id).deliveries
    ended(delivery, work, tick)
    assert mails(ses) == Counter(everybody.values())


def test_all_workers_together_stay_under_the_account_s_rate(
    short_leases: None, ses: Any, together: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pacing, "_SLICE_SECONDS", 0.4)
    gather(60)
    ses.tell(quota={"MaxSendRate": 300.0})
    mailer.account_watch.cache_clear()
    delivery = sent()
    supervisor.tend(delivery)
    paces = [mailer.Pace(mailer.account_watch().rate) for _ in range(3)]
    started = time.monotonic()
    waits = together(*[lambda pace=pace: [_waited(pace, 50) for _ in range(3)] for pace in paces])
    assert all(isinstance(wait, list) for wait in waits)
    assert 450 / (time.monotonic() - started) < 300 * 1.5


def _waited(pace: Any, mails: int) -> float:
    seconds = pace.reserve(mails)
    time.sleep(max(0.0, seconds))
    return float(seconds)
