"""Sending from the first batch to the end, on real tables with an SES that does what it is told."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.audience.recipients import Recipient
from chalicelib.campaigns import deliveries, engine, part_store, parts, sending, service
from chalicelib.campaigns.engine import Job
from chalicelib.campaigns.model import Aim, Delivery, DeliveryState, Terms
from chalicelib.campaigns.pacing import Pace
from chalicelib.campaigns.parts import Kind, Part, Plan, Progress
from chalicelib.campaigns.sending import Order
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock, ids, wire
from chalicelib.mail.failures import Failure, QuotaReached, Rejected, Stopped, Transient, Unanswered
from tests.campaigns.crowd import gather, leave
from tests.conftest import received


class Ses:
    """Counts mails a person; `says` may raise, or answer for each person why not. `stops_after` ends our time."""

    def __init__(self) -> None:
        self.got: dict[str, int] = {}
        self.says: Callable[[Sequence[Recipient]], Sequence[Failure | None]] = lambda people: [None] * len(people)
        self.aim = Aim()
        self.rate = 10_000.0
        self.left_today = 1e9
        self.refused: list[str] = []
        self.batches = 0
        self.stops_after = 10**9

    def post(self, people: Sequence[Recipient]) -> Sequence[Failure | None]:
        self.batches += 1
        answers = self.says(people)
        for person, answer in zip(people, answers, strict=True):
            if answer is None:
                self.got[person.id] = self.got.get(person.id, 0) + 1
        return answers

    def job(self, delivery: Delivery, _: Any) -> Job:
        return Job(
            delivery=delivery,
            aim=self.aim,
            post=self.post,
            refused=lambda person, reason: self.refused.append(person),
            left_today=lambda: self.left_today,
            pace=Pace(lambda: self.rate),
            time_left=lambda: 0 if self.batches >= self.stops_after else 60,
        )


@pytest.fixture
def ses(aws: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ses]:
    ses = Ses()
    monkeypatch.setattr(sending, "_job", ses.job)
    monkeypatch.setattr("chalicelib.campaigns.batch.time.sleep", lambda _: None)
    return ses


def started(ses: Ses) -> Delivery:
    whole = service.create(Draft("Hello", "<p>Hi</p>", aim=ses.aim))
    delivery = service.send_now(whole.campaign.id).deliveries[0]
    received("deliveries")
    return delivery


def now(delivery: Delivery) -> Delivery:
    return deliveries.get(delivery.campaign_id, delivery.id)


def work(delivery: Delivery, rounds: int = 50) -> Delivery:
    """What queue and sweeper do until nothing is left to do; rests are slept through at once."""
    for _ in range(rounds):
        current = now(delivery)
        if current.state is not DeliveryState.SENDING:
            return current
        sending.tend(current)
        for message in received("sending"):
            sending.drive(Order(**message), lambda: 60)
        wake_all(delivery)
    return now(delivery)


def wake_all(delivery: Delivery) -> None:
    """As if the time had passed for which parts rest, or are leased by somebody who is gone."""
    for part in part_store.of(delivery.id):
        if part.until:
            part_store.save(replace(part, until=0))


def sums(delivery: Delivery) -> tuple[int, int, int, int]:
    counts = delivery.counts
    assert counts.sent + counts.failed + counts.unknown == counts.recipients
    return counts.recipients, counts.sent, counts.failed, counts.unknown


def test_everybody_gets_it_once_and_nothing_is_kept(ses: Ses) -> None:
    people = gather(1_050)
    delivery = work(started(ses))
    assert delivery.state is DeliveryState.SENT
    assert ses.got == dict.fromkeys(people, 1)
    assert sums(delivery) == (1_050, 1_050, 0, 0)
    assert part_store.of(delivery.id) == []
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


def test_an_aim_is_kept(ses: Ses) -> None:
    ses.aim = Aim(sources=Terms(any=("blog", "shop")), tags=Terms(all=("new",), none=("angry",)))
    aimed_at = gather(3, sources=frozenset({"blog"}), tags=frozenset({"new"}))
    gather(3, sources=frozenset({"fair"}), tags=frozenset({"new"}))
    gather(3, sources=frozenset({"shop"}), tags=frozenset({"new", "angry"}))
    gather(3)
    work(started(ses))
    assert set(ses.got) == set(aimed_at)


def test_who_leaves_before_their_batch_is_not_written_to(ses: Ses, monkeypatch: pytest.MonkeyPatch) -> None:
    people = gather(120)
    monkeypatch.setattr(engine, "_FRESH_SECONDS", -1.0)
    gone: list[str] = []

    def says(batch: Sequence[Recipient]) -> Sequence[None]:
        if not gone:
            gone.extend(set(people) - {person.id for person in batch})
            for one in gone[:10]:
                leave(one)
        return [None] * len(batch)

    ses.says = says
    assert sums(work(started(ses))) == (110, 110, 0, 0)
    assert not set(gone[:10]) & set(ses.got)


def test_work_that_takes_longer_than_a_worker_lives_goes_on_at_its_cursor(ses: Ses) -> None:
    people = gather(160)
    delivery = started(ses)
    sending.tend(delivery)
    (message,) = received("sending")
    ses.stops_after = 2
    sending.drive(Order(**message), lambda: 60)
    assert sending.progress(delivery.id).sent == 100
    (again,) = received("sending")
    assert again == message
    ses.stops_after = 10**9
    sending.drive(Order(**again), lambda: 60)
    assert ses.got == dict.fromkeys(people, 1)
    assert now(delivery).state is DeliveryState.SENT


def test_a_campaign_shows_how_far_it_has_come(ses: Ses, admin: Any) -> None:
    gather(120)
    delivery = started(ses)
    sending.tend(delivery)
    ses.stops_after = 1
    for message in received("sending"):
        sending.drive(Order(**message), lambda: 60)
    shown = admin.get(f"/admin/api/campaigns/{delivery.campaign_id}").json
    assert shown["state"] == "publishing"
    assert shown["deliveries"][0]["sent_count"] == shown["delivery"]["sent_count"] == 50


class Killed(BaseException):
    pass


def crash(ses: Ses, delivery: Delivery, *, sent: bool) -> set[str]:
    """A worker dies with its second batch, before or after SES had it."""
    dead: set[str] = set()

    def says(people: Sequence[Recipient]) -> Sequence[None]:
        if ses.batches == 2:
            dead.update(person.id for person in people)
            if sent:
                ses.got |= dict.fromkeys(dead, 1)
            raise Killed
        return [None] * len(people)

    ses.says = says
    sending.tend(delivery)
    for message in received("sending"):
        with pytest.raises(Killed):
            sending.drive(Order(**message), lambda: 60)
    ses.says = lambda people: [None] * len(people)
    return dead


@pytest.mark.parametrize("sent", [True, False])
def test_a_batch_whose_worker_died_is_unknown_and_only_a_retry_sends_it(ses: Ses, sent: bool) -> None:
    people = gather(120)
    delivery = started(ses)
    dead = crash(ses, delivery, sent=sent)
    wake_all(delivery)
    failed = work(delivery)
    assert failed.state is DeliveryState.FAILED
    assert sums(failed) == (120, 70, 0, 50)
    assert "50 mails may or may not" in (failed.error_detail or "")
    assert all(count == 1 for count in ses.got.values())
    deliveries.retry(delivery.campaign_id, delivery.id)
    again = work(delivery)
    assert (again.state, sums(again)) == (DeliveryState.SENT, (120, 120, 0, 0))
    assert {one for one in people if ses.got[one] == 2} == (dead if sent else set())


def test_who_left_before_a_retry_is_no_recipient_any_more(ses: Ses) -> None:
    gather(120)
    delivery = started(ses)
    dead = crash(ses, delivery, sent=False)
    wake_all(delivery)
    work(delivery)
    for one in list(dead)[:5]:
        leave(one)
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
    sending.tend(delivery)
    (message,) = received("sending")
    moment = engine.now_ms()
    assert part_store.take(delivery.id, message["part"], "first", moment, moment + 60_000)
    sending.drive(Order(**message), lambda: 60)
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
    real = wire._exchange
    monkeypatch.setattr(wire, "_exchange", lambda *call: (real(*call), real(*call))[1])
    taken = part_store.take("d", "s0/1", "me", 1, 99)
    assert taken
    assert part_store.save(replace(taken, sent=50)).version == 2


def test_a_part_with_fifty_people_on_it_is_one_write_unit(ses: Ses) -> None:
    people = tuple(ids.new() for _ in range(50))
    part = Part(ids.new(), "s15/16", 3, cursor=people[-1], claim=people, out=True, sent=123_456, failed=4_321)
    part = replace(part, strikes=3, holder="01234567", until=1_799_999_999_999, version=99_999)
    size = 0
    for name, value in part_store._item(part).items():
        ((kind, content),) = value.items()
        size += len(name) + {"B": lambda c: len(c) * 3 // 4, "N": lambda c: len(c) // 2 + 2}.get(kind, len)(
            str(content)
        )
    assert size < 1024


def test_a_second_message_for_a_finished_delivery_does_nothing(ses: Ses) -> None:
    gather(60)
    delivery = started(ses)
    sending.tend(delivery)
    (message,) = received("sending")
    sending.drive(Order(**message), lambda: 60)
    sending.drive(Order(**message), lambda: 60)
    sending.tend(delivery)  # as it was read before it ended
    assert received("sending") == []
    assert set(ses.got.values()) == {1}


def test_a_message_fault_stops_at_the_first_batch_and_nobody_failed(ses: Ses) -> None:
    gather(120)
    ses.says = lambda people: [Rejected(code="MESSAGE_REJECTED")] * len(people)
    delivery = work(started(ses))
    assert (delivery.state, ses.batches) == (DeliveryState.FAILED, 1)
    assert "SES refuses this message" in (delivery.error_detail or "")
    assert sums(delivery) == (0, 0, 0, 0)
    ses.says = lambda people: [None] * len(people)
    deliveries.retry(delivery.campaign_id, delivery.id)
    assert sums(work(delivery)) == (120, 120, 0, 0)
    assert set(ses.got.values()) == {1}


def test_a_paused_account_stops_with_what_there_is_to_do(ses: Ses) -> None:
    def says(_: Sequence[Recipient]) -> Sequence[None]:
        raise Stopped("Sending is paused in SES: resume it in the SES console")

    gather(60)
    ses.says = says
    delivery = work(started(ses))
    assert delivery.state is DeliveryState.FAILED
    assert "resume it" in (delivery.error_detail or "")


def test_a_spent_quota_waits_says_so_and_goes_on(ses: Ses) -> None:
    people = gather(120)

    def says(batch: Sequence[Recipient]) -> Sequence[Failure | None]:
        room = max(0, 70 - len(ses.got))
        return [None if at < room else QuotaReached("ACCOUNT_DAILY_QUOTA_EXCEEDED") for at in range(len(batch))]

    ses.says = says
    delivery = started(ses)
    work(delivery, rounds=1)
    waiting = now(delivery)
    assert waiting.state is DeliveryState.SENDING
    assert "quota" in (waiting.note or "")
    assert len(ses.got) == 70
    ses.says = lambda people: [None] * len(people)
    assert sums(work(delivery)) == (120, 120, 0, 0)
    assert ses.got == dict.fromkeys(people, 1)


def test_no_call_is_made_when_the_quota_is_known_to_be_spent(ses: Ses) -> None:
    gather(60)
    ses.left_today = 0
    work(started(ses), rounds=2)
    assert ses.batches == 0


def test_an_account_that_cannot_be_asked_is_asked_later_or_stops(ses: Ses, monkeypatch: pytest.MonkeyPatch) -> None:
    gather(60)
    why: list[Failure] = [Transient(), Stopped("check the function's role")]

    def job(delivery: Delivery, time_left: Any) -> Job:
        def left_today() -> float:
            raise why[0]

        return replace(ses.job(delivery, time_left), left_today=left_today)

    monkeypatch.setattr(sending, "_job", job)
    delivery = started(ses)
    assert work(delivery, rounds=1).note == "SES is slow or busy; sending goes on by itself"
    why.pop(0)
    assert work(delivery).error_detail == "check the function's role"
    assert ses.batches == 0


def test_a_refused_recipient_is_a_failure_and_a_bounce_and_is_not_owed(ses: Ses) -> None:
    people = gather(60)
    ses.says = lambda batch: [Rejected() if person.id == people[0] else None for person in batch]
    delivery = work(started(ses))
    assert (delivery.state, sums(delivery)) == (DeliveryState.SENT, (60, 59, 1, 0))
    assert ses.refused == [people[0]]


def test_one_who_could_not_be_sent_to_for_now_is_owed(ses: Ses) -> None:
    people = gather(60)
    ses.says = lambda batch: [
        Transient(code="TRANSIENT_FAILURE") if person.id == people[0] else None for person in batch
    ]
    delivery = work(started(ses))
    assert (delivery.state, sums(delivery)) == (DeliveryState.FAILED, (60, 59, 1, 0))
    ses.says = lambda batch: [None] * len(batch)
    deliveries.retry(delivery.campaign_id, delivery.id)
    assert sums(work(delivery)) == (60, 60, 0, 0)
    assert ses.got == dict.fromkeys(people, 1)


def test_a_silent_ses_costs_one_batch_and_then_single_mails(ses: Ses) -> None:
    def says(_: Sequence[Recipient]) -> Sequence[None]:
        raise Unanswered

    gather(120)
    ses.says = says
    delivery = started(ses)
    work(delivery, rounds=3)
    assert sending.progress(delivery.id).unknown < 60
    ses.says = lambda people: [None] * len(people)
    assert sums(work(delivery))[0] == 120


def test_throttling_is_waiting(ses: Ses) -> None:
    def says(people: Sequence[Recipient]) -> Sequence[None]:
        if ses.batches % 20:
            raise Transient(code="TooManyRequestsException")
        return [None] * len(people)

    people = gather(120)
    ses.says = says
    assert sums(work(started(ses))) == (120, 120, 0, 0)
    assert ses.got == dict.fromkeys(people, 1)


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
    assert "no longer known" in (late.error_detail or "")
    assert ses.got == {}


def test_owed_parts_are_opened_once_for_an_attempt(ses: Ses) -> None:
    owed = replace(parts.owe(Part("d", "s0/1"), Kind.UNKNOWN, [ids.new()]), attempt=1)
    assert owed.progress is Progress.OWED
    delivery = Delivery("d", "c", clock.now(), DeliveryState.SENDING, attempt=1)
    part_store.begin(Plan("d"), [owed])
    sending._open_again(delivery, Plan("d"))
    assert part_store.of("d")[0].progress is Progress.OWED
