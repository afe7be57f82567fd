"""What SES can say, and what becomes of a delivery then."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from chalicelib.audience.recipients import Recipient
from chalicelib.campaigns import service
from chalicelib.campaigns.model import Delivery, DeliveryState
from chalicelib.campaigns.sending import batch, deliveries, supervisor
from chalicelib.campaigns.sending.worker import Job
from chalicelib.campaigns.service import Draft
from chalicelib.kernel.errors import Unavailable
from chalicelib.mail.failures import Failure, QuotaReached, Rejected, Stopped, Transient, Unanswered
from tests.rooms.campaigns.crowd import gather
from tests.rooms.campaigns.engine.work import Ses, now, started, sums, work


def test_a_message_fault_stops_at_the_first_batch_and_nobody_failed(ses: Ses) -> None:
    gather(120)
    ses.says = lambda people: [Rejected(code="MESSAGE_REJECTED")] * len(people)
    delivery = work(started(ses))
    assert (delivery.state, ses.batches) == (DeliveryState.FAILED, 1)
    assert "SES cannot send this message" in (delivery.error_detail or "")
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


def test_what_was_said_of_a_set_back_is_taken_back_once_sending_goes_on(ses: Ses) -> None:
    gather(160)
    ses.left_today = 0
    delivery = started(ses)
    work(delivery, rounds=1)
    assert "quota" in (now(delivery).note or "")
    ses.left_today, ses.stops_after = 1e9, 2
    work(delivery, rounds=1)
    assert (now(delivery).note, supervisor.view_parts(delivery)[0].sent) == (None, 100)


def test_a_refusal_that_cannot_be_kept_makes_nobody_unknown(ses: Ses, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: str) -> None:
        raise Unavailable("the tables are busy")

    people = gather(60)
    ses.says = lambda batch: [Rejected() if person.id == people[0] else None for person in batch]
    monkeypatch.setattr(supervisor, "_job", lambda *given: replace(ses.job(*given), refused=refused))
    assert sums(work(started(ses))) == (60, 59, 1, 0)


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

    monkeypatch.setattr(supervisor, "_job", job)
    delivery = started(ses)
    assert work(delivery, rounds=1).note == "SES is slow or busy; sending continues automatically"
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
    assert supervisor.view_parts(delivery)[0].unknown < 60
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


@pytest.mark.parametrize(
    ("body", "settings", "reason"),
    [
        ("<p>" + "漢" * 160_000 + "</p>", {}, "larger than 500 KB"),
        ("<p>Hi</p>", {"FROM_EMAIL": ""}, "FROM_EMAIL is missing"),
    ],
)
def test_a_campaign_that_cannot_be_rendered_stops_with_the_reason(
    aws: None, configure: Any, body: str, settings: dict[str, str], reason: str
) -> None:
    gather(3)
    delivery = service.send_now(service.create(Draft("Hello", body)).campaign.id).deliveries[0]
    configure(**settings)
    over = work(delivery, rounds=2)
    assert over.state is DeliveryState.FAILED
    assert reason in (over.error_detail or "")


def test_a_defect_in_rendering_stops_too(ses: Ses, monkeypatch: pytest.MonkeyPatch) -> None:
    def job(*_: Any) -> Job:
        raise ZeroDivisionError

    gather(3)
    monkeypatch.setattr(supervisor, "_job", job)
    over = work(started(ses), rounds=2)
    assert (over.state, over.error_detail) == (DeliveryState.FAILED, batch.DEFECT)
