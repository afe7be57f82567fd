"""The designs of emails, chosen on the settings page and for one campaign, with the last campaign beside them."""

from typing import Any

import pytest

from tests.browser import page_checks
from tests.browser.admin.test_pages import DESKTOP, LOOKS

DESIGNS = {"plain": ".dot", "letter": ".head", "magazine": ".masthead"}


def shown(page: Any) -> Any:
    """The mail in the frame, once it is there."""
    page.wait_for_selector("iframe.loading", state="detached")
    return page.frame_locator("iframe").first


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
def test_each_design_is_seen_with_the_last_campaign_before_it_is_saved(dashboard, look, script):
    page = look(script=script)
    page.goto("/admin/settings")
    for design, mark in DESIGNS.items():
        page.locator(f"input[name=design][value={design}]").check()
        for face in ("light", "phone", "dark"):
            page.locator(f"input[name=look][value={face}] + span").click()
            if not script:
                page.get_by_role("button", name="Update").click()
            shown(page).locator(mark).wait_for()
            assert "Your next campaign" not in shown(page).locator(".title").inner_text()
            page_checks.shoot(page, f"admin/design-{design}-{face}")
    assert "design=" not in page.url


def test_the_designs_can_be_chosen_by_keyboard_on_every_screen(dashboard, look):
    page = look()
    page.goto("/admin/settings")
    for name, (colours, size) in {**LOOKS, "narrow": ("dark", {"width": 320, "height": 700})}.items():
        page.emulate_media(color_scheme=colours)
        page.set_viewport_size(size)
        page_checks.shoot(page, f"admin/designs.{name}")
        assert page_checks.violations(page) == []
        assert page_checks.fits(page)
    page.set_viewport_size(DESKTOP)
    page.locator("input[name=design][value=plain]").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("input[name=design]:checked").get_attribute("value") == "letter"
    page.locator("input[name=design][value=plain]").check()


def test_a_campaign_is_seen_in_the_design_that_is_chosen_for_it(dashboard, look):
    page = look()
    page.goto(f"/admin/campaigns/{dashboard.draft}")
    for design, mark in DESIGNS.items():
        page.get_by_label("Of this email").select_option(design)
        shown(page).locator(mark).wait_for()
    page_checks.shoot(page, "admin/compose-design")
    page.get_by_label("Of this email").select_option("")
