"""Workers that die, come twice or lose an answer of the tables; and what is owed afterwards."""

import pytest
from msgspec.structs import replace

from chalicelib.campaigns.model import Delivery, DeliveryState
from chalicelib.campaigns.sending import deliveries, part_row_store, part_store, parts, supervisor, worker
from chalicelib.campaigns.sending.parts import Kind, Part, Plan, Progress
from chalicelib.campaigns.sending.supervisor import Order
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import raw
from chalicelib.mail.failures import Rejected
from tests.conftest import received
from tests.rooms.campaigns.crowd import gather, leave
from tests.rooms.campaigns.engine.work import Ses, crash, started, sums, wake_all, work


@pytest.mark.parametrize("sent", [True, False])
def test_a_batch_whose_worker_died_is_unknown_and_only_a_retry_sends_it(ses: Ses, sent: bool) -> None:
    people = gather(120)
    delivery = started(ses)
    dead = crash(ses, delivery, sent=sent)
    wake_all(delivery)
    failed = work(delivery)
    assert failed.state is DeliveryState.FAILED
    assert sums(failed) == (120, 70, 0, 50)
    assert "50 emails may or may not" in (failed.error_detail or "")
    assert all(count == 1 for count in ses.got.values())
    deliveries.retry(delivery.campaign_id, delivery.id)
    again = work(delivery)
    assert (again.state, sums(again)) == (DeliveryState.SENT, (120, 120, 0, 0))
    assert {person for person in people if ses.got[person] == 2} == (dead if sent else set())


def test_who_left_before_a_retry_is_no_recipient_any_more(ses: Ses) -> None:
    gather(120)
    delivery = started(ses)
    dead = crash(ses, delivery, sent=False)
    wake_all(delivery)
    work(delivery)
    for person in list(dead)[:5]:
        leave(person)
    deliveries.retry(delivery.campaign_id, delivery.id)
    assert sums(work(delivery)) == (115, 115, 0, 0)


def test_a_worker_that_dies_in_the_retry_leaves_the_same_people_unknown(ses: Ses) -> None:
    gather(120)
    delivery = started(ses)
    crash(ses, delivery, sent=False)
    wake_all(delivery)
    work(delivery)
    ses.batches = 1
    crash(ses, deliveries.retry(delivery.campaign_id, delivery.id).deliveries[0], sent=True)
    wake_all(delivery)
    assert sums(work(delivery)) == (120, 70, 0, 50)
    deliveries.retry(delivery.campaign_id, delivery.id)
    assert sums(work(delivery)) == (120, 120, 0, 0)


def test_a_leased_part_is_not_taken_by_a_second_worker(ses: Ses) -> None:
    gather(60)
    delivery = started(ses)
    supervisor.tend(delivery)
    (message,) = received("sending")
    moment = worker.now_ms()
    assert part_store.take(delivery.id, message["part"], "first", moment, moment + 60_000)
    supervisor.drive(Order(**message), lambda: 60)
    assert ses.got == {}


def test_a_worker_that_lost_its_lease_can_no_longer_settle(ses: Ses) -> None:
    part = Part("d", "s0/1")
    part_store.begin(Plan("d"), [part])
    first = part_store.take("d", "s0/1", "first", 1, 2)
    second = part_store.take("d", "s0/1", "second", 3, 99)
    assert first
    assert second
    with pytest.raises(part_store.Lost):
        part_store.save(first)
    part_store.save(second)


def test_a_write_whose_answer_was_lost_is_recognised_as_our_own(ses: Ses, monkeypatch: pytest.MonkeyPatch) -> None:
    part_store.begin(Plan("d"), [Part("d", "s0/1")])
    real = raw._exchange
    monkeypatch.setattr(raw, "_exchange", lambda *call: (real(*call), real(*call))[1])
    taken = part_store.take("d", "s0/1", "me", 1, 99)
    assert taken
    assert part_store.save(replace(taken, sent=50)).version == 2


def test_a_part_with_fifty_people_on_it_is_one_write_unit(ses: Ses) -> None:
    people = tuple(ids.new() for _ in range(50))
    part = Part(ids.new(), "s15/16", 3, cursor=people[-1], claim=people, out=True, sent=123_456, failed=4_321)
    part = replace(part, strikes=3, holder="01234567", until=1_799_999_999_999, version=99_999)
    size = 0
    for name, value in part_row_store.part_item(part).items():
        ((kind, content),) = value.items()
        size += len(name) + {"B": lambda c: len(c) * 3 // 4, "N": lambda c: len(c) // 2 + 2}.get(kind, len)(
            str(content)
        )
    assert size < 1024


def test_a_second_message_for_a_finished_delivery_does_nothing(ses: Ses) -> None:
    gather(60)
    delivery = started(ses)
    supervisor.tend(delivery)
    (message,) = received("sending")
    supervisor.drive(Order(**message), lambda: 60)
    supervisor.drive(Order(**message), lambda: 60)
    supervisor.tend(delivery)  # as it was read before it ended
    assert received("sending") == []
    assert set(ses.got.values()) == {1}


def test_what_is_owed_is_known_for_thirty_days_and_never_sent_to_everybody_instead(ses: Ses) -> None:
    gather(120)
    delivery = started(ses)
    crash(ses, delivery, sent=True)
    wake_all(delivery)
    work(delivery)
    part_store.expire(delivery.id, [], clock.epoch(clock.now()) - 1)
    ses.got.clear()
    deliveries.retry(delivery.campaign_id, delivery.id)
    late = work(delivery)
    assert late.state is DeliveryState.FAILED
    assert "can no longer be retried" in (late.error_detail or "")
    assert ses.got == {}


def test_nothing_of_a_retried_delivery_expires_while_it_is_sent(ses: Ses) -> None:
    """The rows of a part that expires would take their people, or their sums, with them."""
    gather(1_100)
    delivery = started(ses)
    supervisor.tend(delivery)
    first, _ = received("sending")
    supervisor.drive(Order(**first), lambda: 60)
    ses.says = lambda people: [Rejected(code="MESSAGE_REJECTED")] * len(people)
    assert work(delivery).state is DeliveryState.FAILED
    assert all(part.expires_at for part in part_store.list_parts(delivery.id))
    supervisor.tend(deliveries.retry(delivery.campaign_id, delivery.id).deliveries[0])
    assert {part.expires_at for part in part_store.list_parts(delivery.id)} == {None}
    ses.says = lambda people: [None] * len(people)
    assert sums(work(delivery)) == (1_100, 1_100, 0, 0)


def test_owed_parts_are_opened_once_for_an_attempt(ses: Ses) -> None:
    owed = replace(parts.owe(Part("d", "s0/1"), Kind.UNKNOWN, [ids.new()]), attempt=1)
    assert owed.progress is Progress.OWED
    delivery = Delivery("d", "c", clock.now(), DeliveryState.SENDING, attempt=1)
    part_store.begin(Plan("d"), [owed])
    supervisor._open_owed_parts(delivery, Plan("d"))
    assert part_store.list_parts("d")[0].progress is Progress.OWED
