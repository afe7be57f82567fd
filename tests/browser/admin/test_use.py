"""The dashboard in use: with a mouse, by keyboard alone, and without scripts."""

import re

from chalicelib.campaigns import service
from chalicelib.campaigns.sending import jobs, supervisor
from chalicelib.campaigns.sending.supervisor import Order
from chalicelib.campaigns.service import Draft
from tests.browser import page_checks
from tests.browser.admin.editing import wait_for
from tests.conftest import received
from tests.rooms.admin.clock_changes import CLOCK_CHANGES

# What Cloudflare Access answers instead when the session has ended.
SIGNED_OUT = {"status": 200, "content_type": "text/html", "body": "<title>Sign in</title>"}


def _preview(page):
    return page.frame_locator("iframe:not(.loading)")


def test_a_campaign_is_written_previewed_tested_scheduled_and_sent(dashboard, look, ses):
    page = look()
    page.goto("/admin/campaigns/new")
    page.get_by_text("40 people").wait_for()
    page.get_by_label("Subject").fill("First frost")
    page.get_by_label("Body").fill("It came **early**.")
    _preview(page).get_by_text("early", exact=True).wait_for()
    page.get_by_text("Dark", exact=True).click()
    _preview(page).locator("body").wait_for()
    page.get_by_text("Text", exact=True).click()
    _preview(page).locator("pre").get_by_text("It came").wait_for()
    page.get_by_text("Phone", exact=True).click()
    _preview(page).locator("strong", has_text="early").wait_for()
    assert page.locator("iframe").first.bounding_box()["width"] <= 392
    page.get_by_label("Only subscribers who match").check()
    page.get_by_label("Any of these sources").fill("blog")
    page.wait_for_selector("output:has-text('people'):not(:has-text('40 people'))")
    page.set_viewport_size({"width": 1280, "height": 1600})  # the whole page at once, as in the other screenshots
    page_checks.shoot(page, "admin/writing.light")
    page.get_by_label("All subscribers").check()
    page.get_by_role("button", name="Save and review").click()
    page.get_by_role("heading", name="Checks").wait_for()
    page.get_by_label("To", exact=True).fill("me@example.org")
    page.get_by_role("button", name="Send test email").click()
    page.get_by_text("Test email sent").wait_for()
    assert ses.mails(to="me@example.org")[0]["subject"] == "[Test] First frost"
    assert page.get_by_label("Time zone").input_value() == "Europe/Berlin"
    for at, zone, utc in CLOCK_CHANGES:
        page.get_by_label("Time zone").fill(zone)
        page.get_by_label("Date and time").fill(at)
        page.get_by_text(f"That is {utc}").wait_for()
    page.get_by_label("Time zone").fill("Europe/Berlin")
    page.get_by_label("Date and time").fill("2030-07-01T09:00")
    page.get_by_text("That is 1 Jul 2030, 07:00 UTC").wait_for()
    page.get_by_role("button", name="Schedule").click()
    page.get_by_role("button", name="Cancel schedule").click()
    page.get_by_text("is a draft again").wait_for()
    page.get_by_role("link", name="Send now…").click()
    page.get_by_role("button", name="Send to 40 people now").click()
    page.get_by_text("Sending has started").wait_for()


def test_sending_is_followed_until_its_counts_add_up(dashboard, look):
    page = look()
    service.send_now(dashboard.draft)
    page.goto(f"/admin/campaigns/{dashboard.draft}")
    page.get_by_role("progressbar").wait_for()
    page_checks.shoot(page, "admin/sending.light")
    for message in received("deliveries"):
        jobs.wake(message)
    for message in received("sending"):
        supervisor.drive(Order(message["campaign_id"], message["delivery_id"], message["part"]), lambda: 60.0)
    page.get_by_text("Every recipient is accounted for").wait_for()
    assert page.locator(".sum").first.inner_text().split() == [
        "Sent",
        "40",
        "Failed",
        "0",
        "Unknown",
        "0",
        "Recipients",
        "40",
    ]


def test_a_delivery_is_stopped_and_a_sent_campaign_hidden_and_corrected(dashboard, look):
    page = look()
    service.send_now(dashboard.draft)
    page.goto(f"/admin/campaigns/{dashboard.draft}")
    page.get_by_role("link", name="Stop sending").click()
    page_checks.shoot(page, "admin/stop.light")
    assert not page_checks.violations(page)
    page.get_by_role("button", name="Stop sending").click()
    page.get_by_text("Stopped by an editor").wait_for()
    page.get_by_role("button", name="Retry").wait_for()
    page.get_by_role("button", name="Hide from archive").click()
    page.get_by_text("Hidden from the archive").wait_for()
    page.get_by_role("link", name="Correct web version").click()
    page.get_by_label("What was corrected").fill("It is on Thursday")
    page.get_by_role("button", name="Save correction").click()
    page.get_by_text("Web version corrected on").wait_for()
    page.get_by_role("button", name="Show in archive").click()
    page_checks.shoot(page, "admin/stopped.light")
    assert not page_checks.violations(page)
    page.get_by_role("link", name="View in archive").click()
    page.get_by_text("It is on Thursday").wait_for()
    page_checks.shoot(page, "admin/corrected.light")


def test_without_scripts_a_campaign_is_written_previewed_and_sent(dashboard, look):
    page = look(script=False)
    page.goto("/admin/campaigns/new")
    page.get_by_label("Subject").fill("Plain")
    page.get_by_label("Body").fill("Without **scripts**")
    page.get_by_role("button", name="Update").click()
    page.frame_locator("iframe").locator("strong", has_text="scripts").wait_for()
    page.get_by_role("button", name="Save and review").click()
    page.get_by_role("link", name="Send now…").click()
    page.get_by_role("button", name=re.compile("^Send to")).click()
    page.get_by_text("Sending has started").wait_for()
    page.get_by_text("Sending", exact=True).wait_for()


def test_a_subscriber_is_found_and_removed_by_keyboard_alone(dashboard, look):
    page = look()
    page.goto("/admin/subscribers")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.get_by_label("Search").focus()
    page.keyboard.type("reader44@")
    page.keyboard.press("Enter")
    page.get_by_text("1 person").wait_for()
    page.get_by_role("link", name="reader44@example.org").focus()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Remove…").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Remove permanently").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/subscribers?notice=remov*")


def test_unsaved_changes_are_not_lost_by_a_wrong_click(dashboard, look):
    page = look()
    page.route("**/audience", lambda route: route.fulfill(**SIGNED_OUT))
    page.goto(f"/admin/campaigns/{dashboard.draft}")
    page.get_by_text("Unavailable right now").wait_for()
    page.get_by_label("Subject").fill("Changed")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.get_by_role("link", name="Overview").click()
    page.wait_for_url("**/admin")
    assert asked == []  # it is saved
    assert service.view(dashboard.draft).campaign.subject == "Changed"


def test_previews_add_no_steps_to_the_history(dashboard, look):
    page = look()
    page.goto("/admin/campaigns")
    page.get_by_role("link", name="Seven beans worth the string").click()
    page.get_by_label("Body").fill("one")
    _preview(page).get_by_text("one", exact=True).wait_for()
    page.get_by_label("Body").fill("two")
    _preview(page).get_by_text("two", exact=True).wait_for()
    page.on("dialog", lambda dialog: dialog.accept())
    page.go_back()
    page.get_by_role("heading", name="Campaigns").wait_for()


def test_a_body_too_long_for_the_page_is_fetched_and_saved_unchanged(dashboard, look):
    """And known tags are suggested."""
    body = "".join(f"Line {number}: & <b>ü</b>\n" for number in range(4_000))
    campaign_id = service.create(Draft("Tome", body)).campaign.id
    page = look()
    page.route("**/words/body", lambda route: route.fulfill(**SIGNED_OUT))
    with page.expect_response("**/words/body"):
        page.goto(f"/admin/campaigns/{campaign_id}")
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for(page, "saved")
    assert service.view(campaign_id).content.body == body
    page.unroute("**/words/body")
    page.goto(f"/admin/campaigns/{campaign_id}")
    page.get_by_text("This text is too long for the page").wait_for(state="detached")
    assert page.get_by_label("Body").input_value() == body
    page.get_by_label("Only subscribers who match").check()
    page.get_by_label("Any of these tags").fill("seeds, ")
    page.wait_for_selector("#tags-any-known option[value='seeds, garden']", state="attached")
    page.get_by_label("Any of these tags").fill("garden, ")
    page.wait_for_selector("#tags-any-known option", state="detached")
    page.get_by_label("Subject").fill("Tome II")
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for(page, "saved")
    saved = service.view(campaign_id)
    assert (saved.campaign.subject, saved.content.body) == ("Tome II", body)
    assert saved.campaign.targeting.tags.any == ("garden",)
