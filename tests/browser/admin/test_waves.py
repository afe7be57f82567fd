"""The waves of imported people in a browser: what the pages say before, between and after, and the button."""

import re

import pytest

from chalicelib.bounces import service as bounces
from chalicelib.campaigns import service
from chalicelib.campaigns.sending import supervisor
from chalicelib.campaigns.sending.supervisor import Order
from chalicelib.kernel import clock
from chalicelib.mail import mailboxes
from tests.browser import page_checks
from tests.browser.admin.test_import_pages import _look_at
from tests.conftest import received
from tests.rooms.campaigns import crowd


def _work(dashboard):
    """Until nothing is left to do now."""
    for _ in range(5):
        received("deliveries")
        (delivery,) = service.view(dashboard.draft).deliveries
        supervisor.tend(delivery)
        for message in received("sending"):
            supervisor.drive(Order(**message), lambda: 60.0)


def _report(dashboard, *ids):
    (delivery,) = service.view(dashboard.draft).deliveries
    for id in ids:
        mail = {
            "source": mailboxes.sender_address(),
            "destination": [f"{id}@example.org"],
            "messageId": id,
            "timestamp": clock.text(clock.now()),
            "tags": {"delivery": [delivery.id], "wave": ["1"]},
        }
        bounces.record_event({"eventType": "Bounce", "mail": mail, "bounce": {"bounceType": "Permanent"}})


@pytest.fixture(autouse=True)
def imported(dashboard, configure):
    return crowd.gather_imported(1_300)


def test_the_pages_before_sending_say_that_there_will_be_waves(dashboard, look):
    page = look()
    page.goto(f"/admin/campaigns/{dashboard.draft}/review")
    page.get_by_text("1,300 recipients were imported and never sent a campaign").wait_for()
    wrong = _look_at(page, "waves-review")
    page.get_by_role("link", name="Send now…").click()
    page.get_by_label("Send to everybody at once").wait_for()
    assert not page.get_by_label("Send to everybody at once").is_checked()
    wrong += _look_at(page, "waves-send")
    assert wrong == []


@pytest.mark.parametrize("script", [True, False])
def test_a_wave_waits_is_stopped_and_continued_with_a_button(dashboard, look, script):
    page = look(script=script)
    service.send_now(dashboard.draft)
    _work(dashboard)
    page.goto(f"/admin/campaigns/{dashboard.draft}")
    panel = page.get_by_role("group", name="Wave 1 of 4")
    panel.get_by_text("The next wave starts by itself").wait_for()
    wrong = _look_at(page, "wave-waiting") if script else []
    _report(dashboard, "first", "second")
    _work(dashboard)
    page.goto(f"/admin/campaigns/{dashboard.draft}")
    panel.get_by_text("Sending has stopped").wait_for()
    assert re.sub(r"\s+", " ", panel.locator("dl").inner_text()) == (
        "People 50 Sent 50 Bounced 2 limit 2 % Complained 0 limit 0.1 %"
    )
    wrong += _look_at(page, "wave-stopped") if script else []
    panel.get_by_role("button", name="Continue nevertheless").click()
    page.get_by_text("The next wave is being sent").wait_for()
    wrong += _look_at(page, "wave-sending") if script else []
    _work(dashboard)
    if not script:
        page.goto(f"/admin/campaigns/{dashboard.draft}")
    page.get_by_role("group", name="Wave 2 of 4").get_by_text("The next wave starts by itself").wait_for()
    assert wrong == []


def test_the_page_follows_what_happens_without_being_reloaded(dashboard, look):
    page = look()
    service.send_now(dashboard.draft)
    page.goto(f"/admin/campaigns/{dashboard.draft}")
    _work(dashboard)
    page.get_by_role("group", name="Wave 1 of 4").wait_for()
    page.get_by_role("button", name="Continue now").click()
    page.get_by_role("group", name="Wave 2 of 4").wait_for()
    _work(dashboard)
    page.get_by_text("Waiting", exact=True).wait_for()
    assert not page_checks.violations(page)
