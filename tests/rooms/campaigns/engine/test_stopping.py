"""A delivery that an editor stops: nothing leaves but the batch at hand, and a retry sends the rest."""

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from chalicelib.audience.recipients import Recipient
from chalicelib.campaigns import service
from chalicelib.campaigns.model import STOPPED, Delivery, DeliveryState, State
from chalicelib.campaigns.sending import deliveries, part_store, stopping, supervisor, worker
from chalicelib.campaigns.sending.parts import Part, Plan, Progress
from chalicelib.campaigns.sending.supervisor import Order
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import raw
from chalicelib.kernel.errors import Conflict, NotFound
from chalicelib.mail.failures import Transient
from tests.conftest import received
from tests.rooms.campaigns.crowd import gather, leave
from tests.rooms.campaigns.engine.work import Ses, now, started, sums, wake_all, work


def stop(delivery: Delivery) -> Delivery:
    found = stopping.stop(delivery.campaign_id, delivery.id).delivery(delivery.id)
    assert found
    return found


def in_batch(ses: Ses, number: int, act: Callable[[], object]) -> None:
    """Do this while SES has the given batch."""

    def says(people: Sequence[Recipient]) -> list[None]:
        if ses.batches == number:
            act()
        return [None] * len(people)

    ses.says = says


def drive(delivery: Delivery) -> None:
    supervisor.tend(now(delivery))
    for message in received("sending"):
        supervisor.drive(Order(**message), lambda: 60)


def test_nothing_leaves_after_the_batch_at_hand_and_a_retry_sends_the_rest(ses: Ses) -> None:
    people = gather(300)
    delivery = started(ses)
    answers: list[Delivery] = []
    in_batch(ses, 2, lambda: answers.append(stop(delivery)))
    drive(delivery)
    over = now(delivery)
    assert (answers[0].state, answers[0].note) == (DeliveryState.SENDING, stopping.STOPPING)
    assert (over.state, over.error_detail, over.note) == (DeliveryState.FAILED, STOPPED, None)
    assert sums(over) == (100, 100, 0, 0)
    assert len(ses.got) == 100
    assert service.view(delivery.campaign_id).campaign.state is State.PUBLISHED
    deliveries.retry(delivery.campaign_id, delivery.id)
    again = work(delivery)
    assert (again.state, again.error_detail, sums(again)) == (DeliveryState.SENT, None, (300, 300, 0, 0))
    assert ses.got == dict.fromkeys(people, 1)


def test_a_delivery_that_nobody_works_on_yet_is_stopped_and_can_be_retried(ses: Ses) -> None:
    people = gather(120)
    delivery = started(ses)
    over = stop(delivery)
    assert (over.state, over.error_detail, sums(over)) == (DeliveryState.FAILED, STOPPED, (0, 0, 0, 0))
    supervisor.tend(delivery)  # the message of the start, late
    assert received("sending") == []
    deliveries.retry(delivery.campaign_id, delivery.id)
    assert sums(work(delivery)) == (120, 120, 0, 0)
    assert ses.got == dict.fromkeys(people, 1)


def test_neither_a_late_message_nor_the_sweep_starts_it_again(ses: Ses) -> None:
    gather(120)
    delivery = started(ses)
    supervisor.tend(delivery)
    (message,) = received("sending")
    stop(delivery)
    supervisor.drive(Order(**message), lambda: 60)
    supervisor._work(Order(**message), delivery, part_store.list_parts(delivery.id)[0], lambda: 60)
    supervisor.tend(delivery)
    assert deliveries.list_sending() == []
    assert ses.got == {}
    assert received("sending") == []


def test_a_second_stop_answers_what_the_first_did(ses: Ses) -> None:
    gather(10)
    delivery = started(ses)
    first = stop(delivery)
    assert stop(delivery) == first
    assert stop(delivery).error_detail == STOPPED


def test_only_what_is_being_sent_can_be_stopped(ses: Ses) -> None:
    gather(10)
    draft = service.create(service.Draft("Hello", "<p>Hi</p>")).deliveries[0]
    delivery = started(ses)
    assert work(delivery).state is DeliveryState.SENT
    for other in (draft, delivery):
        with pytest.raises(Conflict, match="Operation not allowed in current state"):
            stop(other)
    with pytest.raises(NotFound, match="Delivery not found"):
        stopping.stop(delivery.campaign_id, ids.new())
    with pytest.raises(NotFound, match="Campaign not found"):
        stopping.stop("nonsense", delivery.id)
    assert now(delivery).state is DeliveryState.SENT


def test_a_delivery_that_failed_for_another_reason_is_not_stopped(ses: Ses) -> None:
    gather(10)
    delivery = started(ses)
    deliveries.finish(delivery, delivery.counts, "Sending is paused in SES")
    with pytest.raises(Conflict):
        stop(delivery)


def test_a_stop_during_the_last_batch_leaves_a_delivery_that_is_complete(ses: Ses) -> None:
    gather(50)
    delivery = started(ses)
    in_batch(ses, 1, lambda: stop(delivery))
    drive(delivery)
    assert (now(delivery).state, sums(now(delivery))) == (DeliveryState.SENT, (50, 50, 0, 0))


def test_a_stop_that_finds_it_finished_is_a_conflict(ses: Ses, monkeypatch: pytest.MonkeyPatch) -> None:
    gather(10)
    delivery = started(ses)
    real = supervisor.stop

    def late(before: Delivery, reason: str) -> None:
        work(before)
        real(before, reason)

    monkeypatch.setattr(supervisor, "stop", late)
    with pytest.raises(Conflict):
        stop(delivery)
    assert now(delivery).state is DeliveryState.SENT


def test_a_stop_of_the_last_attempt_that_comes_late_does_not_stop_the_next(
    ses: Ses, monkeypatch: pytest.MonkeyPatch
) -> None:
    gather(120)
    delivery = started(ses)
    stop(delivery)
    deliveries.retry(delivery.campaign_id, delivery.id)
    supervisor.tend(now(delivery))
    supervisor.stop(delivery, STOPPED)  # as it was read before the retry
    part_store.recall(part_store.list_parts(delivery.id)[0])  # and from its last step
    assert sums(work(delivery)) == (120, 120, 0, 0)
    assert set(ses.got.values()) == {1}


def test_a_late_twin_of_the_retry_does_not_undo_a_stop(ses: Ses) -> None:
    gather(120)
    delivery = started(ses)
    stop(delivery)
    plan = part_store.find_plan(delivery.id)
    assert plan
    again = deliveries.retry(delivery.campaign_id, delivery.id).deliveries[0]
    supervisor.tend(again)
    assert stop(again).error_detail == STOPPED
    supervisor._open_owed_parts(again, plan)
    stored = part_store.find_plan(delivery.id)
    assert stored
    assert stored.stopped == STOPPED


def test_whoever_stops_it_may_die_before_the_parts_are_recalled(ses: Ses, monkeypatch: pytest.MonkeyPatch) -> None:
    gather(300)
    delivery = started(ses)
    monkeypatch.setattr(worker, "_CHECK_SECONDS", -1)
    in_batch(ses, 2, lambda: part_store.stop(delivery.id, 0, STOPPED))
    drive(delivery)
    over = now(delivery)
    assert (over.state, over.error_detail, sums(over)) == (DeliveryState.FAILED, STOPPED, (100, 100, 0, 0))


def test_a_batch_whose_worker_died_before_the_stop_is_unknown(ses: Ses) -> None:
    gather(300)
    delivery = started(ses)

    def die() -> None:
        raise KeyboardInterrupt

    in_batch(ses, 2, die)
    with pytest.raises(KeyboardInterrupt):
        drive(delivery)
    ses.says = lambda people: [None] * len(people)
    assert stop(delivery).state is DeliveryState.SENDING  # until the lease ends
    wake_all(delivery)
    supervisor.tend(now(delivery))
    over = now(delivery)
    assert (over.state, over.error_detail, sums(over)) == (DeliveryState.FAILED, STOPPED, (100, 50, 0, 50))
    deliveries.retry(delivery.campaign_id, delivery.id)
    assert sums(work(delivery)) == (300, 300, 0, 0)


def test_a_worker_that_pauses_while_it_is_stopped_ends_it(ses: Ses) -> None:
    people = gather(120)
    delivery = started(ses)

    def says(batch: Sequence[Recipient]) -> list[None]:
        if now(delivery).state is DeliveryState.SENDING:
            stop(delivery)
        raise Transient(code="Throttled")

    ses.says = says
    drive(delivery)
    over = now(delivery)
    assert (over.state, over.error_detail, sums(over)) == (DeliveryState.FAILED, STOPPED, (0, 0, 0, 0))
    assert received("sending") == []
    ses.says = lambda batch: [None] * len(batch)
    for gone in people[:7]:  # some of them on the claim that waits
        leave(gone)
    deliveries.retry(delivery.campaign_id, delivery.id)
    assert sums(work(delivery)) == (113, 113, 0, 0)
    assert ses.got == dict.fromkeys(people[7:], 1)


def test_a_recall_does_not_keep_a_worker_from_settling(ses: Ses) -> None:
    part_store.begin(Plan("d"), [Part("d", "s0/1")])
    taken = part_store.take("d", "s0/1", "me", 1, 99)
    assert taken
    part_store.recall(taken)
    claimed = replace(taken, claim=(ids.new(),), out=True)
    with pytest.raises(part_store.Recalled):
        part_store.save(claimed, unless_recalled=True)
    settled = part_store.save(replace(taken, sent=50))
    assert part_store.list_parts("d") == [settled]
    assert part_store.save(replace(claimed, version=2), unless_recalled=True).out


def test_a_claim_whose_answer_was_lost_and_that_was_recalled_then_is_our_own(
    ses: Ses, monkeypatch: pytest.MonkeyPatch
) -> None:
    part_store.begin(Plan("d"), [Part("d", "s0/1")])
    taken = part_store.take("d", "s0/1", "me", 1, 99)
    assert taken
    real = raw._exchange

    def twice(*call: object) -> object:
        monkeypatch.setattr(raw, "_exchange", real)
        real(*call)
        part_store.recall(taken)
        return real(*call)

    monkeypatch.setattr(raw, "_exchange", twice)
    claimed = part_store.save(replace(taken, claim=(ids.new(),), out=True), unless_recalled=True)
    assert claimed.version == 2


def test_a_part_that_is_done_is_not_recalled(ses: Ses) -> None:
    part_store.begin(Plan("d"), [Part("d", "s0/1", progress=Progress.DONE)])
    (part,) = part_store.list_parts("d")
    part_store.recall(part)
    assert part_store.save(part, unless_recalled=True).version == 1


def test_a_stop_after_everything_that_was_owed_has_expired_says_so(ses: Ses) -> None:
    gather(10)
    delivery = started(ses)
    stop(delivery)
    part_store.expire(delivery.id, [], clock.epoch(clock.now()) - 1)
    deliveries.retry(delivery.campaign_id, delivery.id)
    assert "can no longer be retried" in (stop(delivery).error_detail or "")
