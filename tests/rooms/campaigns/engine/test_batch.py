"""One batch, and of everybody in it exactly what became of their mail."""

from collections.abc import Sequence
from typing import Any

import pytest

from chalicelib.audience.recipients import Recipient
from chalicelib.campaigns.sending import batch
from chalicelib.mail import failures
from chalicelib.mail.failures import Failure, QuotaReached, Rejected, Stopped, Transient, Unanswered

PEOPLE = [Recipient(str(number), f"p{number}@example.org", None, "secret") for number in range(50)]


@pytest.fixture(autouse=True)
def no_naps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)


class Ses:
    """Remembers who got a mail; `says` decides, for each call, what happens to it."""

    def __init__(self, says: Any = None) -> None:
        self.got: list[str] = []
        self.calls = 0
        self._says = says or (lambda call, person: None)

    def __call__(self, people: Sequence[Recipient]) -> Sequence[Failure | None]:
        self.calls += 1
        results = [self._says(self.calls, person) for person in people]
        for result in results:
            if isinstance(result, CallFails):
                raise result.failure
        self.got += [person.id for person, result in zip(people, results, strict=True) if result is None]
        return results


class CallFails:
    """SES fails the call instead of answering for each person."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


def everybody(outcome: batch.Outcome) -> int:
    refused, given_up, unknown, unsent = outcome.refused, outcome.given_up, outcome.unknown, outcome.unsent
    return outcome.sent + len(refused) + len(given_up) + len(unknown) + len(unsent)


def test_all_sent() -> None:
    ses = Ses()
    outcome = batch.send(ses, PEOPLE)
    assert (outcome.sent, outcome.why, ses.calls) == (50, None, 1)


def test_a_throttled_call_is_made_again() -> None:
    ses = Ses(lambda call, _: CallFails(Transient(code="TooManyRequestsException")) if call < 4 else None)
    outcome = batch.send(ses, PEOPLE)
    assert (outcome.sent, outcome.why, ses.calls) == (50, None, 4)


def test_throttling_that_does_not_end_is_left_for_later_and_nobody_failed() -> None:
    outcome = batch.send(Ses(lambda *_: CallFails(Transient(code="ThrottlingException"))), PEOPLE)
    assert (outcome.sent, len(outcome.unsent)) == (0, 50)
    assert isinstance(outcome.why, Transient)


def test_only_throttled_entries_are_sent_again() -> None:
    ses = Ses(lambda call, person: Transient(code="ACCOUNT_THROTTLED") if call == 1 and int(person.id) % 2 else None)
    outcome = batch.send(ses, PEOPLE)
    assert outcome.sent == 50
    assert sorted(ses.got) == sorted(person.id for person in PEOPLE)


def test_one_who_fails_again_and_again_while_others_get_through_is_owed() -> None:
    outcome = batch.send(
        Ses(lambda _, person: Transient(code="TRANSIENT_FAILURE") if person.id == "7" else None), PEOPLE
    )
    assert outcome.sent == 49
    assert [person.id for person in outcome.given_up] == ["7"]
    assert outcome.why is None


def test_a_lost_answer_makes_the_batch_unknown_and_it_is_not_sent_again() -> None:
    ses = Ses(lambda *_: CallFails(Unanswered()))
    outcome = batch.send(ses, PEOPLE)
    assert len(outcome.unknown) == 50
    assert ses.calls == 1


@pytest.mark.parametrize(("code", "status"), [("InternalFailure", 500), ("", 502), ("", 504), ("Novelty", 500)])
def test_an_error_inside_or_in_between_is_unknown_too(code: str, status: int) -> None:
    outcome = batch.send(Ses(lambda *_: CallFails(failures.from_code(code, status=status))), PEOPLE)
    assert len(outcome.unknown) == 50


def test_a_refused_recipient_fails_alone() -> None:
    outcome = batch.send(
        Ses(lambda _, person: Rejected(code="MESSAGE_REJECTED") if person.id == "3" else None), PEOPLE
    )
    assert outcome.sent == 49
    assert [person.id for person, _ in outcome.refused] == ["3"]


def test_a_recipient_who_spoils_the_whole_call_is_found() -> None:
    def says(_: int, person: Recipient) -> Any:
        return CallFails(Rejected(code="BadRequestException")) if person.id == "21" else None

    ses = Ses(says)
    outcome = batch.send(ses, PEOPLE)
    assert outcome.sent == 49
    assert len(set(ses.got)) == len(ses.got) == 49
    assert [person.id for person, _ in outcome.refused] == ["21"]
    assert ses.calls < 25


def test_a_message_that_is_refused_for_everybody_stops_and_nobody_failed() -> None:
    for refusal in (CallFails(Rejected(code="BadRequestException")), Rejected(code="MESSAGE_REJECTED")):
        ses = Ses(lambda *_, refusal=refusal: refusal)
        outcome = batch.send(ses, PEOPLE)
        assert isinstance(outcome.why, Stopped)
        assert (outcome.sent, outcome.refused, len(outcome.unsent)) == (0, [], 50)
        assert ses.calls <= 4


def test_two_bad_addresses_in_a_tiny_audience_are_not_blamed_on_the_message() -> None:
    outcome = batch.send(Ses(lambda *_: Rejected(code="MESSAGE_REJECTED")), PEOPLE[:2])
    assert len(outcome.refused) == 2
    assert outcome.why is None


def test_an_address_is_blamed_only_if_the_same_message_reached_others() -> None:
    bad = failures.from_code("INVALID_PARAMETER", "Illegal address")
    alone = batch.send(Ses(lambda *_: bad), PEOPLE[:2])
    assert {why.reason for _, why in alone.refused} == {Rejected().reason}
    among_others = batch.send(Ses(lambda _, person: bad if person.id == "1" else None), PEOPLE[:2])
    assert [why.reason for _, why in among_others.refused] == [failures.UNSENDABLE]


@pytest.mark.parametrize("failure", [QuotaReached("LimitExceededException"), Stopped("paused")])
def test_the_account_s_limits_leave_everybody_for_later(failure: Failure) -> None:
    for refusal in (failure, CallFails(failure)):
        outcome = batch.send(Ses(lambda _, person, refusal=refusal: refusal if int(person.id) > 9 else None), PEOPLE)
        assert outcome.why is failure
        assert everybody(outcome) == 50
        assert not outcome.refused


def test_a_defect_of_ours_stops_instead_of_losing_count_of_everybody() -> None:
    def broken(_: Sequence[Recipient]) -> Sequence[Failure | None]:
        raise KeyError("oops")

    outcome = batch.send(broken, PEOPLE)
    assert isinstance(outcome.why, Stopped)
    assert len(outcome.unknown) == 50


def test_nobody_is_ever_counted_twice_or_not_at_all() -> None:
    import random

    dice = random.Random(4)
    kinds = [None, None, None, Transient(code="TRANSIENT_FAILURE"), Transient(code="ACCOUNT_THROTTLED"), Rejected()]
    kinds += [QuotaReached(), CallFails(Rejected()), CallFails(Transient(code="Throttling")), CallFails(Unanswered())]
    for _ in range(500):
        weights = [dice.random() ** 4 for _ in kinds]
        ses = Ses(lambda *_, weights=weights: dice.choices(kinds, weights)[0])
        outcome = batch.send(ses, PEOPLE)
        assert everybody(outcome) == 50
        assert len(set(ses.got)) == len(ses.got)
