"""Everybody whose address does not work, at once: counted, warned about, paused or removed in portions."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.audience import jobs as audience_jobs
from chalicelib.audience import pausing, recipients
from chalicelib.bounces import failing, jobs, store
from chalicelib.bounces.failing import Failing
from chalicelib.bounces.model import Bounce
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from tests.conftest import received
from tests.rooms.campaigns.crowd import gather, leave

pytestmark = pytest.mark.usefixtures("aws")
LISTED = "permanent: OnAccountSuppressionList"


def bounced(people: list[str], reason: str = "permanent", **ago: float) -> None:
    at = clock.now() - timedelta(**ago or {"hours": 1})
    for number, person in enumerate(people):
        tables.transact(store.create_write(Bounce(person, reason, at, f"{person}{reason}{number}")))


def run() -> int:
    """What the queue does: how many messages it took."""
    handled = 0
    while messages := received("mail-events"):
        for message in messages:
            jobs.handle(message)
            handled += 1
    return handled


def paused(people: list[str]) -> list[str]:
    return [person.id for person in recipients.look_up(people).values() if person.paused_at]


def test_who_would_bounce_again_is_counted_once() -> None:
    a, b, c, d, e, f = gather(6)
    bounced([a, a, b])
    bounced([c], LISTED)
    bounced([d], "rejected")
    bounced([d], "refused: SES rejected the message")
    bounced([e, f])
    leave(e)
    pausing.pause(f)
    assert failing.count() == Failing(people=3, suppressed=1)
    assert failing.count(paused=True) == Failing(people=4, suppressed=1)
    assert failing.count(most=2).complete is False


def test_who_resumed_since_is_left_alone() -> None:
    (a,) = gather(1)
    bounced([a])
    pausing.pause(a)
    pausing.resume(a, "person")
    assert failing.count().people == 0
    for action in failing.ACTIONS:
        failing.start(action)
    run()
    assert paused([a]) == []
    assert received("audience") == []


def test_all_are_paused_however_many_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "_PORTION", 50)
    people = gather(103)
    bounced(people)
    failing.start(failing.PAUSE)
    assert run() == 3
    assert len(paused(people)) == 103
    assert failing.count().people == 0


def test_all_are_removed_through_the_queue_that_removes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "_PORTION", 10)
    people, others = gather(25), gather(3)
    bounced(people)
    bounced(others, "rejected")
    failing.start(failing.REMOVE)
    run()
    messages = received("audience")
    assert all(message["bounced"] for message in messages)
    assert {message["subscriber_id"] for message in messages} == set(people)


def test_a_portion_that_is_repeated_or_interrupted_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "_PORTION", 10)
    people = gather(25)
    bounced(people)
    failing.start(failing.PAUSE)
    (first,) = received("mail-events")
    with monkeypatch.context() as dying:
        real = failing._pause
        calls: list[Bounce] = []

        def die_at_the_fifth(bounce: Bounce) -> None:
            calls.append(bounce)
            if len(calls) == 5:
                raise RuntimeError("the worker dies")
            real(bounce)

        dying.setattr(failing, "_pause", die_at_the_fifth)
        with pytest.raises(RuntimeError):
            jobs.handle(first)
    assert len(paused(people)) == 4
    jobs.handle(first)
    jobs.handle(first)
    run()
    assert len(paused(people)) == 25


def test_who_bounces_after_the_word_was_given_is_not_meant() -> None:
    (a,) = gather(1)
    failing.start(failing.PAUSE)
    bounced([a], seconds=-5)
    run()
    assert paused([a]) == []


def test_a_finding_says_what_ses_does_and_how_close_it_is() -> None:
    people = gather(10)
    assert list(failing.check(10)) == []
    bounced(people[:1])
    (finding,) = failing.check(10)
    assert finding.text == (
        "1 person whose email bounced permanently this week is still a recipient: SES reviews an account when 5% of "
        "its emails bounce, and may pause it at 10%; here 10.0% of the recipients would bounce. Pause or remove them."
    )
    bounced(people[1:3], LISTED)
    (finding,) = failing.check(10)
    assert finding.message == "3 people whose email bounced permanently this week are still recipients"
    assert finding.why.endswith(
        "it does not count those on its suppression list (2 of 3); without them, 10.0% of the recipients would bounce"
    )
    (finding,) = failing.check()
    assert "of the recipients" not in finding.why


def test_a_finding_counts_nobody_whom_ses_does_not_count() -> None:
    people = gather(10)
    bounced(people[:1], LISTED)
    (finding,) = failing.check(10)
    assert finding.why.endswith("; it does not count those on its suppression list (1 of 1)")
    bounced(people[1:3])
    (finding,) = failing.check(10)
    assert finding.why.endswith("(1 of 3); without them, 20.0% of the recipients would bounce")


def test_the_api_starts_both(admin: Any) -> None:
    people = gather(3)
    bounced(people)
    pausing.pause(people[0])
    for action, counted in (("pause", 2), ("remove", 3)):
        answer = admin.post(f"/admin/api/bounces/{action}")
        assert (answer.status, answer.json) == (202, {"people": counted})
    assert [message["action"] for message in received("mail-events")] == ["pause", "remove"]


def test_a_removal_by_the_queue_erases(admin: Any) -> None:
    (a,) = gather(1)
    bounced([a])
    failing.start(failing.REMOVE)
    run()
    (message,) = received("audience")
    person = recipients.look_up([a])[a]
    tables.put(_email_row(person.email, a))
    audience_jobs.handle(message)
    assert recipients.look_up([a]) == {}


def _email_row(email: str, id: str) -> Any:
    from chalicelib.audience.stores.emails import EmailRow

    return EmailRow(email, subscriber_id=id)
