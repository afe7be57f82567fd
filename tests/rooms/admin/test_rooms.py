"""Bounces, feed, webhooks and settings, as pages."""

import re

import pytest
from msgspec.structs import replace

from chalicelib.admin import configuration
from chalicelib.bounces import service as bounces
from chalicelib.events.webhooks import service as webhooks
from chalicelib.events.webhooks.model import NewWebhook
from chalicelib.kernel import ids
from chalicelib.mail.account import Account, Identity
from tests.rooms.admin.conftest import text
from tests.rooms.events.receiver import Receiver


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.stop()


@pytest.fixture
def hook(desk, configure, receiver):
    configure(GNA_LOCAL="true", SITE_URL="https://news.example.org")
    return webhooks.add(NewWebhook(url=receiver.url)).webhook.id


def test_a_bounce_is_shown_with_its_person_who_can_be_removed_there(desk, person):
    assert "No bounces" in desk.see("/admin/bounces")
    someone = person("gone@example.net", "Gone")
    bounces.record_refusal(someone, ids.new(), "MessageRejected")
    seen = desk.see("/admin/bounces")
    assert "gone@example.net Gone refused: MessageRejected" in seen
    assert "1 bounce" in seen
    assert "The list ends at page 1" in desk.see("/admin/bounces?page=7")
    assert "Bounces this week 1" in desk.see("/admin")
    page = desk.get(f"/admin/subscribers/{someone}/remove?from=bounces").text
    assert 'href="/admin/bounces">Keep' in page
    answer = desk.post(f"/admin/subscribers/{someone}/remove", **{"from": "bounces"})
    assert answer.headers["Location"].startswith("/admin/bounces?notice=remov")


def test_without_a_feed_the_page_says_what_it_could_do(desk):
    assert "No feed configured" in desk.see("/admin/feed")
    assert "No feed configured." in desk.follow("/admin/feed")


def test_a_feed_is_looked_at_and_its_entries_are_shown_as_mailed(desk, blog, configure):
    blog.publish("First frost")
    configure(FEED_URL=blog.url)
    assert "not yet" in desk.see("/admin/feed")
    seen = desk.follow("/admin/feed")
    assert "First check done" in seen
    assert "First frost About First frost." in seen
    assert "manual" in seen


def test_a_feed_that_fails_is_said_in_words(desk, configure):
    configure(FEED_URL="http://127.0.0.1:9/feed.xml", GNA_LOCAL="true")
    for _ in range(3):
        desk.post("/admin/feed")
    assert "could not be read 3 times in a row" in desk.see("/admin/feed")
    assert "The feed cannot be read" in desk.see("/admin")


def test_a_webhook_is_added_and_its_secret_shown_once(desk, hook, receiver):
    fields = {"url": receiver.url, "description": "Ledger", "type_UNSUBSCRIBED": "yes"}
    page = desk.post("/admin/webhooks", **fields)
    [secret] = re.findall(r"whsec_[\w+/=]+", page.text)
    added = next(one for one in webhooks.list_webhooks() if one.description == "Ledger")
    assert added.types == {"UNSUBSCRIBED"}
    for path in ("/admin/webhooks", f"/admin/webhooks/{added.id}"):
        assert "Ledger" in desk.see(path)
        assert secret not in desk.get(path).text


def test_an_address_that_cannot_be_comes_back_with_the_reason(desk, hook):
    for path in ("/admin/webhooks", f"/admin/webhooks/{hook}"):
        answer = desk.post(path, url="ftp://x", description="kept")
        assert answer.status == 400
        assert 'value="kept"' in answer.text
        assert "This URL cannot be used" in answer.text


def test_a_webhook_is_tried_paused_resumed_changed_rotated_and_removed(desk, hook, receiver):
    path = f"/admin/webhooks/{hook}"
    assert "The test event was received" in desk.follow(f"{path}/test")
    assert "Test" in desk.see(path)
    assert "Paused" in desk.follow(f"{path}/pause", paused="yes")
    assert "Active again" in desk.follow(f"{path}/pause", paused="no")
    assert "Saved" in desk.follow(path, url=receiver.url, description="New")
    assert "whsec_" in desk.post(f"{path}/rotate").text
    assert "will receive no more events" in desk.see(f"{path}/remove")
    assert "Webhook removed" in desk.follow(f"{path}/remove")
    assert desk.get(path).status == 404


def test_events_are_sent_again_one_or_a_span(desk, hook):
    path = f"/admin/webhooks/{hook}/replay"
    assert "Replaying in the background" in desk.follow(
        path, **{"from": "2026-11-01T00:00", "to": "2026-11-02T00:00"}
    )
    assert "No such event" in text(desk.post(path, event_id=ids.new()))
    assert desk.post(path, **{"from": "2026-11-02T00:00", "to": "2026-11-01T00:00"}).status == 400


GOOD = Account(50_000, 14, 0, False, True, "HEALTHY")
SENDER = Identity("example.org", True, True, "SUCCESS", None)


@pytest.mark.parametrize(
    ("account", "identity", "said"),
    [
        ({"sending_enabled": False}, SENDER, "SES sending is paused"),
        ({"in_sandbox": True}, SENDER, "SES is in the sandbox"),
        ({"standing": "PROBATION"}, SENDER, "The SES account status is probation"),
        ({}, None, "The sender identity was not found in SES"),
        ({}, replace(SENDER, verified=False), "example.org is not verified"),
        ({}, replace(SENDER, dkim=False), "DKIM is not set up for example.org"),
    ],
)
def test_what_ses_holds_against_sending_is_not_in_order(desk, configure, monkeypatch, account, identity, said):
    configure(POSTAL_ADDRESS="1 Orchard Lane", CF_ACCESS_TEAM_NAME="team", CF_ACCESS_AUD="a" * 64)
    monkeypatch.setattr(configuration.mail_account, "account", lambda: replace(GOOD, **account))
    monkeypatch.setattr(configuration.mail_account, "identity", lambda: identity)
    seen = desk.see("/admin/settings")
    assert said in seen
    assert "No problems found" not in seen


def test_settings_say_what_is_there_and_what_is_missing_but_no_secret(desk, configure):
    configure(POSTAL_ADDRESS="", WEBHOOK_SECRET="short")
    page = desk.get("/admin/settings")
    seen = text(page)
    assert "POSTAL_ADDRESS is not set" in seen
    assert "WEBHOOK_SECRET is missing or too short" in seen
    assert "news@example.org" in seen
    assert "Signing key SECRET_KEY set" in seen
    assert "a secret of thirty-two characters" not in page.text
    assert "short</dd>" not in page.text
    assert "per second" in seen
