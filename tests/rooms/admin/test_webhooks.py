import re

import pytest

from chalicelib.events.webhooks import model, store
from chalicelib.events.webhooks import service as webhooks
from chalicelib.events.webhooks.model import NewWebhook
from chalicelib.kernel import ids
from tests.fixtures.receiver import Receiver
from tests.rooms.admin.conftest import text


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.stop()


@pytest.fixture
def hook(dashboard, configure, receiver):
    configure(GNA_LOCAL="true", SITE_URL="https://news.example.org")
    return webhooks.add(NewWebhook(url=receiver.url)).webhook.id


def test_a_webhook_is_added_and_its_secret_is_shown_once(dashboard, hook, receiver):
    fields = {"url": receiver.url, "description": "Ledger", "type_UNSUBSCRIBED": "yes"}
    page = dashboard.post("/admin/webhooks", **fields)
    [secret] = re.findall(r"whsec_[\w+/=]+", page.text)
    added = next(webhook for webhook in webhooks.list_webhooks() if webhook.description == "Ledger")
    assert added.types == {"UNSUBSCRIBED"}
    for path in ("/admin/webhooks", f"/admin/webhooks/{added.id}"):
        assert "Ledger" in dashboard.see(path)
        assert secret not in dashboard.get(path).text


def test_an_invalid_url_is_refused_with_the_reason(dashboard, hook):
    for path in ("/admin/webhooks", f"/admin/webhooks/{hook}"):
        answer = dashboard.post(path, url="ftp://x", description="kept")
        assert answer.status == 400
        assert 'value="kept"' in answer.text
        assert "This URL cannot be used" in answer.text


def test_a_webhook_is_tested_paused_resumed_changed_rotated_and_removed(dashboard, hook, receiver):
    path = f"/admin/webhooks/{hook}"
    assert "The test event was received" in dashboard.follow(f"{path}/test")
    assert "Test" in dashboard.see(path)
    assert "Paused" in dashboard.follow(f"{path}/pause", paused="yes")
    assert "Active again" in dashboard.follow(f"{path}/pause", paused="no")
    assert "Saved" in dashboard.follow(path, url=receiver.url, description="New")
    assert "whsec_" in dashboard.post(f"{path}/rotate").text
    assert "will receive no more events" in dashboard.see(f"{path}/remove")
    assert "Webhook removed" in dashboard.follow(f"{path}/remove")
    assert dashboard.get(path).status == 404


def test_a_test_event_that_was_not_received_looks_like_a_failure(dashboard, hook, receiver):
    receiver.stop()
    answer = dashboard.post(f"/admin/webhooks/{hook}/test")
    page = dashboard.get(answer.headers["Location"]).text
    assert '<p class="notice bad" role="alert"' in page
    assert "The test event was not received" in page


def test_a_disabled_webhook_says_why_and_what_it_missed(dashboard, hook):
    store.change(hook, state=model.DISABLED, reason="it returned 410 Gone")
    path = f"/admin/webhooks/{hook}"
    assert "Disabled because it returned 410 Gone. No events are sent to it" in dashboard.see(path)
    assert "Replay the events it missed" in dashboard.follow(f"{path}/pause", paused="no")


def test_one_event_or_a_time_range_is_replayed(dashboard, hook):
    path = f"/admin/webhooks/{hook}/replay"
    assert "Replaying in the background" in dashboard.follow(
        path, **{"from": "2026-11-01T00:00", "to": "2026-11-02T00:00"}
    )
    assert "No such event" in text(dashboard.post(path, event_id=ids.new()))
    assert dashboard.post(path, **{"from": "2026-11-02T00:00", "to": "2026-11-01T00:00"}).status == 400
