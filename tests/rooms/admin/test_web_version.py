"""Hiding a sent campaign from the archive, and correcting its web version, in the dashboard."""

import pytest

from chalicelib.campaigns import service
from chalicelib.campaigns.model import Counts
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from tests.rooms.admin.conftest import text


@pytest.fixture
def sent(dashboard) -> str:
    detail = service.send_now(service.create(Draft("Beans", "<p>On Tuesday</p>")).campaign.id)
    deliveries.finish(detail.deliveries[0], Counts(1, 1))
    return detail.campaign.id


def test_a_campaign_is_hidden_and_shown_by_one_button(dashboard, sent):
    seen = dashboard.follow(f"/admin/campaigns/{sent}/archive", hidden="yes")
    assert "Hidden from the archive" in seen
    assert "Show in archive" in seen
    assert "View in archive" not in seen
    assert dashboard.get(f"/archive/{sent}").status == 404
    seen = dashboard.follow(f"/admin/campaigns/{sent}/archive", hidden="no")
    assert "Hide from archive" in seen
    assert dashboard.get(f"/archive/{sent}").status == 200


def test_a_correction_is_made_changed_and_withdrawn(dashboard, sent):
    version = str(service.view(sent).campaign.version)
    form = {"subject": "Beans", "body": "<p>On Thursday</p>", "note": "The day", "version": version}
    seen = dashboard.follow(f"/admin/campaigns/{sent}/correct", **form)
    assert "Web version corrected on" in seen
    assert "Browsers and caches show the new text within a minute" in seen
    assert "The day" in seen
    assert "On Thursday" in dashboard.get(f"/archive/{sent}").text
    editor = dashboard.get(f"/admin/campaigns/{sent}/correct").text
    assert "On Thursday" in editor
    assert "Withdraw the correction" in editor
    assert "Correction withdrawn" in dashboard.follow(f"/admin/campaigns/{sent}/correct/withdraw")
    assert "On Tuesday" in dashboard.get(f"/archive/{sent}").text


def test_what_was_typed_stays_in_the_form_when_it_is_refused(dashboard, sent):
    form = {"subject": "Beans", "body": "<p>On Thursday</p>", "note": "", "version": "2"}
    answer = dashboard.post(f"/admin/campaigns/{sent}/correct", **form)
    assert answer.status == 400
    assert "Note is required" in text(answer)
    assert "On Thursday" in answer.text
    for version in ("1", "", "x"):
        answer = dashboard.post(f"/admin/campaigns/{sent}/correct", **{**form, "note": "The day", "version": version})
        assert answer.status == 409
        assert "someone else changed it, or it finished sending" in text(answer)
        assert "On Thursday" in answer.text
        assert f'name="version" value="{service.view(sent).campaign.version}"' in answer.text


def test_a_long_body_stays_on_the_server(dashboard):
    long = f"<p>{'&amp;' * 30_000}</p>"
    sent = service.send_now(service.create(Draft("Long", long)).campaign.id).campaign
    page = dashboard.get(f"/admin/campaigns/{sent.id}/correct").text
    assert len(page) < 60 * 1024
    assert "too long for the page" in page
    assert dashboard.get(f"/admin/campaigns/{sent.id}/words/web").text == long
    form = {"subject": "Long, corrected", "body": "", "kept_body": "yes", "note": "The title"}
    dashboard.follow(f"/admin/campaigns/{sent.id}/correct", **form, version=str(sent.version))
    assert dashboard.get(f"/admin/campaigns/{sent.id}/words/web").text == long
    assert "Long, corrected" in dashboard.get(f"/archive/{sent.id}").text


def test_a_draft_has_no_web_version(dashboard):
    draft = service.create(Draft("Draft", "x")).campaign.id
    for answer in (
        dashboard.get(f"/admin/campaigns/{draft}/correct"),
        dashboard.post(f"/admin/campaigns/{draft}/correct", note="x"),
        dashboard.post(f"/admin/campaigns/{draft}/correct/withdraw"),
    ):
        assert answer.status == 409
        assert "Only what was sent to all subscribers has a web version" in text(answer)
