"""Pages that were opened before the campaign changed: after *Back*, in a second tab, or when its time has come."""

import pytest

from chalicelib.campaigns import service
from chalicelib.campaigns.model import Counts
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from tests.rooms.admin.conftest import text

FORM = {"subject": "Beans", "body": "<p>Eight of them</p>", "format": "html", "audience": "everybody"}


@pytest.fixture
def draft(dashboard):
    return service.create(Draft("Beans", "<p>Seven of them</p>")).campaign.id


@pytest.fixture
def sent(draft):
    delivery = service.send_now(draft).deliveries[0]
    deliveries.finish(delivery, Counts(10, 10))
    return draft


@pytest.mark.parametrize(
    ("method", "page", "fields"),
    [
        ("get", "/review", {}),
        ("get", "/send", {}),
        ("get", "/delete", {}),
        ("post", "/send", {"version": "1"}),
        ("post", "/schedule", {"scheduled_at": "2030-01-01T09:00", "time_zone": "UTC"}),
        ("post", "/cancel", {}),
        ("post", "/delete", {}),
        ("post", "/test", {"email": "ada@example.net"}),
    ],
)
def test_after_back_a_page_says_that_the_campaign_was_sent_and_leads_to_its_report(
    dashboard, sent, ses, method, page, fields
):
    answer = getattr(dashboard, method)(f"/admin/campaigns/{sent}{page}", **fields)
    assert answer.status == 409
    assert "“Beans” has already been sent" in text(answer)
    assert f'href="/admin/campaigns/{sent}"' in answer.text
    assert "Operation not allowed" not in answer.text
    assert ses.mails() == []


def test_while_it_is_being_sent_the_page_leads_to_the_progress(dashboard, draft):
    service.send_now(draft)
    answer = dashboard.post(f"/admin/campaigns/{draft}/send", version="1")
    assert "“Beans” is already being sent" in text(answer)
    assert "View progress" in text(answer)


def test_what_was_typed_for_a_campaign_that_has_been_sent_is_not_said_to_be_saved(dashboard, sent):
    answer = dashboard.post(f"/admin/campaigns/{sent}", **FORM, version="1")
    assert answer.status == 409
    assert "What you typed was not saved" in text(answer)


def test_a_schedule_that_was_cancelled_already_leads_to_the_draft(dashboard, draft):
    answer = dashboard.post(f"/admin/campaigns/{draft}/cancel")
    assert answer.status == 409
    assert "“Beans” is a draft" in text(answer)


def test_a_scheduled_campaign_says_how_it_can_be_deleted(dashboard, draft):
    service.schedule(draft, "2030-01-01T09:00Z")
    answer = dashboard.get(f"/admin/campaigns/{draft}/delete")
    assert answer.status == 409
    assert "Cancel its schedule first" in text(answer)


def test_a_campaign_edited_since_its_review_leads_back_to_the_review(dashboard, draft):
    service.update(draft, {"subject": "Peas"}, {})
    answer = dashboard.post(f"/admin/campaigns/{draft}/send", version="1")
    assert answer.status == 409
    assert "The campaign has changed since you reviewed it" in text(answer)
    assert f'href="/admin/campaigns/{draft}/review"' in answer.text


def test_the_notice_that_sending_has_started_goes_once_it_is_sent(dashboard, draft):
    delivery = service.send_now(draft).deliveries[0]
    assert "Sending has started" in dashboard.see(f"/admin/campaigns/{draft}?notice=sending")
    deliveries.finish(delivery, Counts(10, 10))
    assert "Sending has started" not in dashboard.see(f"/admin/campaigns/{draft}?notice=sending")
