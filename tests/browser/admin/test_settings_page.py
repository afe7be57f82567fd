"""The page of settings in a browser: typed, previewed, saved, undone; on a desktop, on a phone, by day and night."""

import pytest
from PIL import Image

from chalicelib.site import service
from tests.browser.page_checks import fits, shoot, small_targets, violations
from tests.rooms.media.pictures import PNG, encode

PAGE = "/admin/settings"


def preview(page):
    return page.frame_locator("iframe:not(.loading)")


@pytest.mark.parametrize("phone", [False, True], ids=["1280", "390"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_can_be_used_by_everybody(dashboard, look, phone, dark):
    service.change({"name": "Der Garten", "tagline": "Was wächst", "colours.accent": "#b45309"}, "ada@example.org")
    service.change({"footer": "Seit 2019."}, "bob@example.org")
    page = look(phone=phone, dark=dark)
    page.set_viewport_size({"width": 390 if phone else 1280, "height": 844})
    page.goto(PAGE)
    preview(page).get_by_text("Mostly: nothing.", exact=True).wait_for()
    shoot(page, f"settings-{'phone' if phone else 'desktop'}-{'dark' if dark else 'light'}")
    assert violations(page) == []
    assert small_targets(page) == []
    assert fits(page)
    page.set_viewport_size({"width": 320, "height": 700})
    assert fits(page)


def test_what_is_typed_is_previewed_saved_and_undone(dashboard, look):
    page = look()
    page.goto(PAGE)
    before = service.view().publication.name
    page.get_by_label("Name", exact=True).fill("Die Wiese")
    preview(page).get_by_text("Die Wiese").first.wait_for()
    page.get_by_text("Page", exact=True).click()
    preview(page).get_by_role("heading", name="Get Die Wiese by email").wait_for()
    shoot(page, "settings-preview-page")
    assert service.view().publication.name == before
    page.get_by_role("button", name="Save").last.click()
    page.get_by_text("Readers see it within a minute").wait_for()
    assert service.view().publication.name == "Die Wiese"
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Brought back. Readers").wait_for()
    assert service.view().publication.name == before


def test_it_works_without_scripts(dashboard, look, media_bucket):
    page = look(script=False)
    page.goto(PAGE)
    page.get_by_label("Tagline").fill("Ohne Skript")
    page.get_by_role("button", name="Update").click()
    page.frame_locator("iframe").get_by_text("Mostly: nothing.", exact=True).wait_for()
    page.get_by_role("button", name="Save").last.click()
    page.get_by_text("Readers see it within a minute").wait_for()
    logo = {
        "name": "logo.png",
        "mimeType": "image/png",
        "buffer": encode(Image.new("RGBA", (480, 140), (20, 60, 90, 200)), PNG),
    }
    page.get_by_label("Picture", exact=True).set_input_files(logo)
    page.get_by_role("button", name="Upload").click()
    page.get_by_text("Readers see it within a minute").wait_for()
    page.get_by_role("button", name="Remove").wait_for()
    shoot(page, "settings-logo")
    shown = service.view().publication
    assert (shown.tagline, bool(shown.logo)) == ("Ohne Skript", True)
