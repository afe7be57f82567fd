"""A receiver that fails: retried in order and less and less often, left alone, disabled; and none waits for it."""

from typing import Any

import pytest

from chalicelib.events import jobs
from chalicelib.events.webhooks import dispatch, health, model, service
from chalicelib.events.webhooks.model import WebhookEdits
from chalicelib.kernel import locks
from tests.conftest import received
from tests.rooms.events.conftest import happen, happen_to, hook, nobody, run


def test_a_failed_event_comes_again_with_the_same_id_and_keeps_its_place(
    local: None, receiver: Any, later: Any
) -> None:
    answers = [500, 500]
    there = receiver(answer=lambda call: answers.pop() if answers else 200)
    webhook = hook(there)
    happen(times=3)
    run()
    assert len(there.ids) == 1
    later(seconds=10)
    run()
    assert len(there.ids) == 2
    later(minutes=10)
    run()
    first = there.ids[0]
    assert there.ids == [first, first, first, *sorted(there.ids[3:])]
    assert len(there.ids) == 5
    assert [attempt.number for attempt in service.list_attempts(webhook.id)] == [1, 1, 3, 2, 1]


def test_a_new_event_does_not_overtake_one_that_waits(local: None, receiver: Any, later: Any) -> None:
    answers = [500]
    there = receiver(answer=lambda call: answers.pop() if answers else 200)
    hook(there)
    about = happen()
    run()
    happen(about)
    run()
    assert len(there.calls) == 1
    later(seconds=10)
    run()
    assert there.ids == [there.ids[0], there.ids[0], there.ids[2]]
    assert there.ids[2] > there.ids[0]


def test_one_failing_subject_holds_up_no_other(local: None, receiver: Any) -> None:
    poison = happen()
    there = receiver(answer=lambda call: 500 if call.event["subject"] == poison else 200)
    hook(there)
    others = {happen() for _ in range(5)}
    run()
    assert {call.event["subject"] for call in there.calls} == others | {poison}


def test_a_dead_endpoint_delays_no_other(local: None, receiver: Any) -> None:
    """Each destination has its own message, and a drain holds nothing that another drain needs."""
    dead, well = receiver(), receiver()
    dead_hook, well_hook = hook(dead), hook(well)
    happen_to(8)
    jobs.sweep()
    assert {message["destination"] for message in received("events")} == {dead_hook.id, well_hook.id}
    with locks.held(f"destination {dead_hook.id}", 60):  # the dead one is being drained all the while
        dispatch.drain(dead_hook.id, nobody)
        dispatch.drain(well_hook.id, nobody)
    assert not dead.calls
    assert len(well.calls) == 8


def test_an_endpoint_that_fails_whatever_it_is_sent_is_left_alone(local: None, receiver: Any, later: Any) -> None:
    there = receiver(answer=lambda call: 503)
    webhook = hook(there)
    happen_to(15)
    run()
    tried = len(there.calls)
    assert tried == dispatch._FAILURES_IN_A_ROW
    later(seconds=30)
    run()
    assert len(there.calls) == tried
    later(minutes=2)
    there.answer = lambda call: 200
    run()
    later(minutes=10)
    run()
    assert len(set(there.ids)) == 15
    assert service.get(webhook.id).failing_since is None


def test_retry_after_is_heeded(local: None, receiver: Any, later: Any) -> None:
    there = receiver(answer=lambda call: 429, headers={"Retry-After": "3600"})
    hook(there)
    happen()
    run()
    later(minutes=50)
    run()
    assert len(there.calls) == 1
    later(minutes=11)
    run()
    assert len(there.calls) == 2


def test_gone_disables_at_once_and_says_so(local: None, receiver: Any, notices: list[str]) -> None:
    there = receiver(answer=lambda call: 410)
    webhook = hook(there, description="shop")
    happen()
    run()
    happen()
    run()
    assert len(there.calls) == 1
    assert service.get(webhook.id).state == "disabled"
    assert len(notices) == 1
    assert "shop" in notices[0]


def test_the_next_sweep_mails_that_a_webhook_was_disabled_if_the_first_mail_was_cut_short(
    local: None, receiver: Any, notices: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = hook(receiver(answer=lambda call: 410))
    happen()
    with monkeypatch.context() as crash:
        crash.setattr(health, "notify_admin", lambda webhook: None)
        run()
    assert service.get(webhook.id).state == "disabled"
    assert not notices
    run()
    run()
    assert len(notices) == 1
    assert "it returned 410 Gone" in notices[0]


def test_failing_for_three_days_disables_and_says_so(
    local: None, receiver: Any, later: Any, notices: list[str]
) -> None:
    there = receiver(answer=lambda call: 500)
    webhook = hook(there)
    happen()
    run()
    for _ in range(12):
        later(hours=8)
        run()
    assert service.get(webhook.id).state == "disabled"
    assert service.get(webhook.id).reason == "it has failed for three days"
    assert len(notices) == 1
    assert len(there.calls) == 8
    assert len(set(there.ids)) == 1


def test_the_waits_span_about_three_days_and_differ() -> None:
    waits = [model.next_wait(attempts) for attempts in range(1, 10)]
    assert model.next_wait(10) is None
    assert 3 < sum(wait or 0 for wait in waits) / 86_400 < 3.8
    assert len({model.next_wait(3) for _ in range(20)}) > 1


def test_a_result_for_an_old_url_does_not_touch_a_repaired_webhook(
    local: None, receiver: Any, notices: list[str]
) -> None:
    old, new = receiver(answer=lambda call: 410), receiver()
    webhook = hook(old)
    old.answer = lambda call: service.change(webhook.id, WebhookEdits(url=new.url)) and 410
    happen()
    run()
    assert service.get(webhook.id).state == "active"
    assert not notices
