"""Subscribers in a browser: reading and changing one, and removing several, also on a phone and without scripts."""

import pytest

from chalicelib.audience import editing, jobs, listing
from tests.browser import page_checks
from tests.conftest import received

LOOKS = {"light": (False, False), "dark": (False, True), "phone": (True, False), "phone-dark": (True, True)}


@pytest.fixture
def newcomer(dashboard, http):
    """Somebody who came through two forms, with metadata, and has yet to confirm."""
    fields = {"email": "ines@example.org", "nickname": "Ines", "tags": ["garden", "seeds"]}
    metadata = {"campaign": "spring", "page": {"path": "/posts/frost", "position": 3}}
    for source in ("blog", "seed-swap"):
        http.post("/api/subscribe", json={**fields, "source": source, "metadata": metadata})
        for message in received("audience"):
            jobs.handle(message)
    (entry,) = listing.iterate(listing.parse_filter({"q": "ines@"}))
    return entry.id


def _judge(page, name):
    page.evaluate("scrollTo(0, 0)")
    page_checks.shoot(page, f"admin/{name}")
    return page_checks.violations(page) + ([] if page_checks.fits(page) else ["wider than the screen"])


@pytest.mark.parametrize("face", LOOKS)
def test_a_subscriber_a_selection_and_a_conflict_are_for_everybody(dashboard, look, newcomer, face):
    phone, dark = LOOKS[face]
    page = look(phone=phone, dark=dark)
    page.goto(f"/admin/subscribers/{newcomer}")
    page.locator("summary").first.click()
    page.get_by_text('"path": "/posts/frost"').first.wait_for()
    wrong = _judge(page, f"newcomer.{face}")
    page.goto(f"/admin/campaigns/{dashboard.sent}/send")
    page.get_by_role("link", name="View report").wait_for()
    wrong += _judge(page, f"conflict.{face}")
    page.goto("/admin/subscribers")
    for box in page.get_by_role("checkbox").all()[1:4]:
        box.check()
    page.get_by_text("3 people selected").wait_for()
    wrong += _judge(page, f"selecting.{face}")
    page.get_by_role("button", name="Remove selected…").click()
    page.get_by_role("heading", name="Remove 3 people?").wait_for()
    wrong += _judge(page, f"selection.{face}")
    assert wrong == []


@pytest.mark.parametrize("script", [True, False])
def test_those_selected_by_keyboard_are_removed(dashboard, look, script):
    page = look(script=script)
    page.goto("/admin/subscribers")
    addresses = page.locator("tbody th a").all_inner_texts()[:2]
    for address in addresses:
        page.get_by_role("checkbox", name=address).focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name="Remove selected…").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Remove 2 people?").wait_for()
    page.get_by_role("button", name="Remove 2 people permanently").focus()
    page.keyboard.press("Enter")
    page.locator(".notice").wait_for()
    for address in addresses:
        person = next(listing.iterate(listing.parse_filter({"q": address})), None)
        assert person is None or editing.remove_many([person.id])


def test_everyone_on_the_page_is_selected_and_deselected(dashboard, look):
    page = look()
    page.goto("/admin/subscribers")
    everyone = page.get_by_role("checkbox", name="Select everyone on this page")
    everyone.check()
    page.get_by_text("20 people selected").wait_for()
    everyone.uncheck()
    assert page.locator("[data-selected]").inner_text() == ""


def test_a_name_and_tags_are_changed_and_a_reload_does_not_say_so_again(dashboard, look, newcomer):
    page = look()
    page.goto(f"/admin/subscribers/{newcomer}")
    page.get_by_label("Name").fill("Inês")
    page.get_by_role("textbox", name="Tags").fill("vip\nbeans")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    assert page.get_by_role("textbox", name="Tags").input_value() == "beans\nvip"
    page.reload()
    assert page.get_by_text("Saved.").count() == 0
    page.get_by_role("button", name="Resend confirmation").click()
    page.get_by_text("A new confirmation email is being sent").wait_for()
