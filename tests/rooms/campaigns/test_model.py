from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from chalicelib.audience.matching import Rule
from chalicelib.campaigns import model
from chalicelib.campaigns.model import Action, Counts, Delivery, DeliveryState, State, Targeting, Terms
from chalicelib.kernel.errors import Conflict

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)

ALLOWED = {
    Action.UPDATE: {State.DRAFT, State.SCHEDULED},
    Action.DELETE: {State.DRAFT},
    Action.SEND: {State.DRAFT, State.SCHEDULED},
    Action.SCHEDULE: {State.DRAFT, State.SCHEDULED},
    Action.CANCEL: {State.SCHEDULED},
}


def delivery(state: DeliveryState) -> Delivery:
    return Delivery("d", "c", NOW, state=state)


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("state", State)
def test_what_may_be_done_in_which_state(action, state):
    if state in ALLOWED[action]:
        model.permit(action, state)
    else:
        with pytest.raises(Conflict, match="Operation not allowed in current state"):
            model.permit(action, state)
    assert (action in model.permitted_actions(state)) == (state in ALLOWED[action])


@pytest.mark.parametrize("before", DeliveryState)
@pytest.mark.parametrize("after", DeliveryState)
def test_the_steps_a_delivery_may_take(before, after):
    allowed = {("pending", "sending"), ("sending", "sent"), ("sending", "failed"), ("failed", "sending")}
    if (before, after) in allowed:
        assert model.step(delivery(before), after, NOW).state is after
    else:
        with pytest.raises(Conflict):
            model.step(delivery(before), after, NOW)


@pytest.mark.parametrize(
    ("states", "scheduled", "expected"),
    [
        (["pending"], False, "draft"),
        (["pending"], True, "scheduled"),
        (["sending"], False, "publishing"),
        (["sending"], True, "publishing"),
        (["sent"], True, "published"),
        (["failed"], False, "published"),
        (["sent", "failed"], False, "published"),
        (["sent", "sending"], False, "publishing"),
        (["failed", "sending"], False, "publishing"),
        ([], False, "draft"),
        ([], True, "scheduled"),
    ],
)
def test_a_campaign_is_in_the_state_its_deliveries_put_it_in(states, scheduled, expected):
    deliveries = [delivery(DeliveryState(state)) for state in states]
    assert model.derive_state(deliveries, NOW if scheduled else None) == expected


def test_a_retry_keeps_the_start_and_counts_the_attempt():
    failed = replace(
        delivery(DeliveryState.FAILED), started_at=NOW, finished_at=NOW, error_detail="SES said no", attempt=1
    )
    again = model.step(failed, DeliveryState.SENDING, NOW + timedelta(hours=1))
    assert (again.started_at, again.finished_at, again.error_detail, again.attempt) == (NOW, None, None, 2)


@pytest.mark.parametrize(
    ("counts", "error", "expected"),
    [
        (Counts(10, 10), None, "sent"),
        (Counts(0), None, "sent"),
        (Counts(10, 8, 2), None, "sent"),
        (Counts(10, 9, 0, 1), None, "failed"),
        (Counts(10, 0, 10), None, "failed"),
        (Counts(10, 10), "stopped", "failed"),
    ],
)
def test_how_a_delivery_ends(counts, error, expected):
    assert model.final_state(counts, error) == expected


@pytest.mark.parametrize(
    ("aim", "sources", "tags", "reached"),
    [
        (Targeting(), set(), set(), True),
        (Targeting(sources=Terms(any=("blog", "shop"))), {"shop"}, set(), True),
        (Targeting(sources=Terms(any=("blog", "shop"))), set(), set(), False),
        (Targeting(tags=Terms(all=("a", "b"))), set(), {"a", "b", "c"}, True),
        (Targeting(tags=Terms(all=("a", "b"))), set(), {"a"}, False),
        (Targeting(tags=Terms(none=("x",))), set(), {"x", "y"}, False),
        (Targeting(tags=Terms(none=("x",))), set(), set(), True),
        (Targeting(sources=Terms(any=("blog",)), tags=Terms(none=("x",))), {"blog"}, {"x"}, False),
    ],
)
def test_whom_an_aim_reaches(aim, sources, tags, reached):
    assert Rule(aim.resolve("UTC")).matches(sources, tags, "2026-11-18T10:00:00.000Z") is reached


def test_six_hours_late_is_late_and_more_is_overdue():
    assert not model.is_overdue(NOW, NOW + timedelta(hours=6))
    assert model.is_overdue(NOW, NOW + timedelta(hours=6, seconds=1))
