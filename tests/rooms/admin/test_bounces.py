from datetime import timedelta

import pytest

from chalicelib.admin import labels
from chalicelib.audience import recipients
from chalicelib.bounces import jobs, store
from chalicelib.bounces import service as bounces
from chalicelib.bounces.model import Bounce
from chalicelib.campaigns import service
from chalicelib.campaigns.model import DeliveryState
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.sending import jobs as sending
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.mail.failures import SANDBOXED, UNSENDABLE
from tests.conftest import received


@pytest.fixture
def bounced(person):
    """`bounced("ada@example.net", "permanent")`: somebody whose mail bounced five minutes ago; their id."""

    def add(email, reason):
        id = person(email)
        at = clock.now() - timedelta(minutes=5)
        tables.transact(store.create_write(Bounce(id, reason, at, ids.new())))
        return id

    return add


def test_a_bounce_is_listed_and_the_subscriber_can_be_removed(dashboard, person):
    assert "No bounces" in dashboard.see("/admin/bounces")
    someone = person("gone@example.net", "Gone")
    bounces.record_refusal(someone, ids.new(), "SES rejected the message")
    seen = dashboard.see("/admin/bounces")
    assert "gone@example.net Gone Not accepted" in seen
    assert "The next campaign tries again." in seen
    assert "would bounce again" not in seen
    assert "1 bounce" in seen
    assert "The list ends at page 1" in dashboard.see("/admin/bounces?page=7")
    assert "Bounces this week 1" in dashboard.see("/admin")
    page = dashboard.get(f"/admin/subscribers/{someone}/remove?from=bounces").text
    assert 'href="/admin/bounces">Keep' in page
    answer = dashboard.post(f"/admin/subscribers/{someone}/remove", **{"from": "bounces"})
    assert answer.headers["Location"].startswith("/admin/bounces?notice=remov")


@pytest.mark.parametrize(
    ("reason", "label", "words"),
    [
        ("permanent", "Undeliverable", "refused the email for good"),
        ("permanent: NoEmail", "No such address", "does not exist"),
        ("permanent: Suppressed", "Suppressed by SES", "suppression list"),
        ("permanent: OnAccountSuppressionList", "Suppressed by SES", "suppression list"),
        ("rejected", "Malware found", "not at fault"),
        ("refused: SES rejected the message", "Not accepted", "may be fine"),
        (f"refused: {UNSENDABLE}", "Invalid address", "does not accept the address"),
        (f"refused: {SANDBOXED}", "Sandbox", "verified addresses only"),
    ],
)
def test_every_reason_has_a_true_sentence(reason, label, words):
    found, sentence = labels.bounce(Bounce("id", reason, clock.now(), "x"))
    assert found == label
    assert words in sentence
    gone = ("does not exist" in sentence, "is gone" in sentence)
    assert any(gone) == (label in ("Undeliverable", "No such address"))


@pytest.mark.parametrize(
    ("action", "button"), [("pause", "Pause 2 people"), ("remove", "Remove 2 people permanently")]
)
def test_all_who_bounced_are_paused_or_removed_after_a_confirmation(dashboard, bounced, action, button):
    people = [bounced(f"{name}@example.net", "permanent") for name in ("ada", "bo")]
    bounced("cy@example.net", "rejected")
    assert "2 people would bounce again" in dashboard.see("/admin/bounces")
    assert button in dashboard.see(f"/admin/bounces/{action}")
    assert len(recipients.look_up(people)) == 2
    assert "has started" in dashboard.follow(f"/admin/bounces/{action}")
    for message in received("mail-events"):
        jobs.handle(message)
    if action == "remove":
        assert len(received("audience")) == 2
        return
    seen = dashboard.see("/admin/bounces")
    assert "would bounce again" not in seen
    assert "ada@example.net Paused" in seen
    assert "Nobody to pause" in dashboard.see("/admin/bounces/pause")
    assert "Remove 2 people" in dashboard.see("/admin/bounces/remove")
    assert "2 people paused" in dashboard.see("/admin")


def test_overview_and_review_say_how_many_would_bounce_and_what_ses_does(dashboard, bounced, person):
    bounced("ada@example.net", "permanent")
    for number in range(3):
        person(f"p{number}@example.net")
    draft = service.create(Draft("Hello", "<p>Hi</p>")).campaign.id
    for path in ("/admin", f"/admin/campaigns/{draft}/review"):
        seen = dashboard.see(path)
        assert "1 person whose email bounced permanently this week is still a recipient" in seen
        assert "5% of its emails bounce, and may pause it at 10%" in seen
        assert "25.0% of the recipients" in seen
    report = dashboard.get(f"/admin/api/campaigns/{draft}/preflight").json
    assert (report["ready"], report["recipients"]) == (True, 4)
    assert "bounced" in [finding["code"] for finding in report["findings"]]


def test_somebody_is_paused_and_resumed_on_their_page(dashboard, person):
    someone = person("ada@example.net")
    page = f"/admin/subscribers/{someone}"
    assert "gets no campaigns until you or they resume" in dashboard.follow(f"{page}/pause")
    assert "because an editor paused them" in dashboard.see(page)
    assert "ada@example.net Paused" in dashboard.see("/admin/subscribers?status=paused")
    draft = service.create(Draft("Hello", "<p>Hi</p>")).campaign.id
    assert dashboard.get(f"/admin/api/campaigns/{draft}/preflight").json["recipients"] == 0
    assert "gets the next campaign" in dashboard.follow(f"{page}/resume")
    assert "No matches" in dashboard.see("/admin/subscribers?status=paused")


def test_a_temporary_failure_is_not_blamed_on_the_address(dashboard, person, ses, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    for name in ("ada", "busy", "bad"):
        person(f"{name}@example.net", days_ago=1)
    ses.tell(entries={"busy@example.net": "TRANSIENT_FAILURE", "bad@example.net": "INVALID_PARAMETER"})
    delivery = service.send_now(service.create(Draft("Hello", "<p>Hi</p>")).campaign.id).deliveries[0]
    sending.sweep()
    for _ in range(3):
        messages = received("sending")
        event = {"Records": [{"messageId": "1", "body": _json(message)} for message in messages]}
        sending.drive(event, _Context())
    assert deliveries.get(delivery.campaign_id, delivery.id).state is DeliveryState.FAILED
    seen = dashboard.see(f"/admin/campaigns/{delivery.campaign_id}")
    assert "Sent 1 Failed 2 Unknown 0 Recipients 3" in seen
    assert "Failed for good : SES did not accept the email for 1 address." in seen
    assert "Failed for now : SES had a temporary problem with 1 person, and may accept the email later." in seen
    assert "Retry for 1 person" in seen
    assert "exist" not in seen.partition("What became of it")[0]


class _Context:
    def get_remaining_time_in_millis(self):
        return 300_000


def _json(message):
    import json

    return json.dumps(message)
