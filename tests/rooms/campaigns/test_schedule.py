"""Schedules: what is due, and what is so late that it is held back."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.campaigns import service, store
from chalicelib.campaigns.model import CampaignDetail, DeliveryState, State
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid, Unavailable
from tests.rooms.campaigns.examples import events, in_state, new_campaign, soon

pytestmark = pytest.mark.usefixtures("aws")


def test_a_schedule_is_kept_in_utc_with_its_zone_and_announced():
    for state in (State.DRAFT, State.SCHEDULED):
        detail = in_state(state)
        at = clock.now().replace(microsecond=0) + timedelta(days=3)
        service.schedule(detail.campaign.id, at.isoformat(), "Asia/Tokyo")
        read = service.view(detail.campaign.id).campaign
        assert (read.state, read.scheduled_at, read.time_zone) == (State.SCHEDULED, at, "Asia/Tokyo")
    assert events() == ["CAMPAIGN_SCHEDULED"] * 3


def test_cancelling_makes_a_scheduled_campaign_a_draft_again():
    detail = in_state(State.SCHEDULED)
    service.cancel(detail.campaign.id)
    read = service.view(detail.campaign.id)
    assert (read.campaign.state, read.campaign.scheduled_at) == (State.DRAFT, None)
    assert read.deliveries[0].state is DeliveryState.PENDING


def test_a_time_in_the_past_is_refused_and_changes_nothing():
    detail = new_campaign()
    with pytest.raises(Invalid, match="future"):
        service.schedule(detail.campaign.id, "2020-01-01T00:00:00Z")
    assert service.view(detail.campaign.id).campaign.version == 1


def test_an_edit_may_set_move_and_take_away_the_time():
    id = new_campaign().campaign.id
    at = clock.now() + timedelta(days=1)
    assert service.update(id, {"scheduled_at": at}, {}).campaign.state is State.SCHEDULED
    assert service.update(id, {"scheduled_at": None}, {}).campaign.state is State.DRAFT


def test_one_campaign_that_cannot_be_started_does_not_hold_up_the_others(monkeypatch):
    first, second = (in_state(State.SCHEDULED).campaign.id for _ in range(2))
    real = service.send_now

    def send(id: str, due: datetime) -> CampaignDetail:
        if id == first:
            raise Unavailable
        return real(id, due)

    monkeypatch.setattr(service, "send_now", send)
    started = service.start_due(clock.now() + timedelta(hours=2))
    assert [detail.campaign.id for detail in started] == [second]
    assert service.view(first).campaign.state is State.SCHEDULED


def test_what_is_due_starts_and_what_is_not_waits():
    now = clock.now()
    soonest, sooner, later = (new_campaign(subject=subject).campaign.id for subject in ("a", "b", "c"))
    for id, minutes in ((sooner, 2), (soonest, 1), (later, 60)):
        service.schedule(id, (now + timedelta(minutes=minutes)).isoformat())
    at = now + timedelta(minutes=5)
    assert [campaign.id for campaign in service.list_due(at)] == [soonest, sooner]
    started = service.start_due(at)
    assert [detail.campaign.id for detail in started] == [soonest, sooner]
    assert service.view(later).campaign.state is State.SCHEDULED
    assert service.start_due(at) == []


@pytest.mark.parametrize("late", [timedelta(minutes=5), timedelta(hours=7)])
@pytest.mark.parametrize("meanwhile", [service.cancel, lambda id: service.schedule(id, soon())])
def test_what_was_cancelled_or_put_off_a_moment_ago_is_neither_started_nor_held(monkeypatch, meanwhile, late):
    """The list of what is due is read first, and from an index that may be late."""
    now, id = clock.now(), new_campaign().campaign.id
    service.schedule(id, (now + timedelta(minutes=1)).isoformat())
    listed = service.list_due(now + late)
    monkeypatch.setattr(service, "list_due", lambda now: listed)
    meanwhile(id)
    decided = service.view(id)
    assert service.start_due(now + late) == []
    assert service.view(id) == decided


def test_a_schedule_missed_by_more_than_six_hours_is_held_as_a_draft_with_a_notice(monkeypatch):
    from chalicelib.mail import notices

    notified = []
    monkeypatch.setattr(notices, "notify_admin", lambda subject, text: notified.append(subject))
    at = clock.now() + timedelta(minutes=1)
    id = new_campaign().campaign.id
    service.schedule(id, at.isoformat())
    assert service.start_due(at + timedelta(hours=6, minutes=1)) == []
    held = service.view(id).campaign
    assert (held.state, held.scheduled_at) == (State.DRAFT, None)
    assert "six hours" in (held.notice or "")
    assert notified == ["A campaign was held back"]
    assert service.send_now(id).campaign.notice is None


def test_times_are_kept_to_the_millisecond_in_utc():
    id = new_campaign().campaign.id
    service.schedule(id, "2030-05-01T10:00:00.123+02:00")
    assert store.find_campaign(id).scheduled_at == datetime(2030, 5, 1, 8, 0, 0, 123000, UTC)
