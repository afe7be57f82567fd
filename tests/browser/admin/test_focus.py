"""The keyboard's place: kept when a page comes back, and always visible."""

from chalicelib.campaigns import service
from chalicelib.campaigns.review import preflight
from chalicelib.campaigns.service import Draft
from chalicelib.kernel.findings import Finding, Level
from tests.browser import page_checks
from tests.browser.admin.editing import wait_for

FOCUSED = "document.activeElement.id || document.activeElement.textContent.trim()"


def _in_view(page, locator):
    box, size = locator.bounding_box(), page.viewport_size
    return box["y"] >= 0 and box["y"] + box["height"] <= size["height"]


def test_saving_by_button_keeps_the_focus_on_it(dashboard, look):
    page = look()
    page.goto(f"/admin/campaigns/{dashboard.draft}")
    page.get_by_role("button", name="Save", exact=True).focus()
    page.keyboard.press("Enter")
    wait_for(page, "saved")
    assert page.evaluate(FOCUSED) == "Save"
    assert _in_view(page, page.locator("[data-saved]"))


def test_saving_by_shortcut_keeps_the_place_in_the_text(dashboard, look):
    for phone in (False, True):
        page = look(phone=phone)
        page.goto(f"/admin/campaigns/{dashboard.draft}")
        page.get_by_label("Body").focus()
        page.get_by_label("Body").evaluate("(body) => body.setSelectionRange(5, 9)")
        page.keyboard.press("Control+s")
        wait_for(page, "saved")
        assert page.evaluate(FOCUSED) == "body"
        assert page.get_by_label("Body").evaluate("(body) => [body.selectionStart, body.selectionEnd]") == [5, 9]
        assert _in_view(page, page.locator("[data-saved]"))
        page_checks.shoot(page, f"admin/saved.{'phone' if phone else 'light'}")


def test_a_new_draft_keeps_the_focus_too_and_another_page_does_not_take_it(dashboard, look):
    page = look()
    page.goto("/admin/campaigns/new")
    page.get_by_label("Subject").fill("Beans")
    page.get_by_label("Body").fill("Beans")
    page.get_by_role("button", name="Save draft").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Save", exact=True).wait_for()
    assert page.evaluate(FOCUSED) == "Save"
    page.goto("/admin/campaigns/new")
    assert page.evaluate("document.activeElement === document.body")


def test_a_mistake_keeps_the_focus(dashboard, look):
    page = look()
    page.goto("/admin/do-not-contact")
    page.get_by_label("Email address").fill("a@b")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    assert page.evaluate(FOCUSED) == page.get_by_label("Email address").get_attribute("id")


def test_the_focus_on_a_preview_is_visible(dashboard, look):
    for path in (f"/admin/campaigns/{dashboard.draft}", f"/admin/campaigns/{dashboard.draft}/review"):
        page = look()
        page.goto(path)
        page.wait_for_selector("iframe.loading", state="detached")
        outline = "getComputedStyle(document.querySelector('.frame')).outlineStyle"
        assert page.evaluate(outline) == "none"
        page.locator("iframe").focus()
        page.wait_for_selector(".frame.focused")
        assert page.evaluate(outline) == "solid"
        page.get_by_role("link", name="Overview").focus()
        page.wait_for_selector(".frame:not(.focused)")


def test_a_long_address_in_a_finding_fits_a_phone(dashboard, look, monkeypatch):
    address = "https://example.org/" + "a-very-long-path-" * 30
    found = Finding(Level.WARNING, "dead_link", f"A link leads nowhere: {address}", why=address.replace("-", ""))
    monkeypatch.setattr(preflight, "check_visits", lambda *_: [found])
    campaign_id = service.create(Draft("Beans", f'<p><a href="{address}">Beans</a></p>')).campaign.id
    page = look(phone=True)
    page.goto(f"/admin/campaigns/{campaign_id}/review")
    assert page.get_by_text("A link leads nowhere").count()
    page_checks.shoot(page, "admin/long-finding.phone")
    assert page_checks.fits(page)
    assert page.locator(".findings").evaluate("(list) => list.scrollWidth <= list.clientWidth")
