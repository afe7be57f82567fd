"""From the inbox to a draft and its blocks with JavaScript off: everything has a field or a button of its own."""

import pytest
from playwright.sync_api import expect

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks
from chalicelib.inbox import entry_store
from chalicelib.inbox.model import DESK
from tests.browser.page_checks import fits, small_targets

BUDS, POND, SOIL = "Who is eating the buds?", "A pond the size of a bathtub", "Soil, with Dr. Mei Tan"


@pytest.fixture(params=[1280, 390])
def page(request, look):
    return look(width=request.param, script=False)


def compose(page):
    """Select three, put them in order under a heading by numbers, and write a note."""
    page.goto("/admin/inbox")
    for title in (BUDS, POND, SOIL):
        page.get_by_role("checkbox", name=title).check()
    page.locator(".bulk").get_by_role("button", name="Compose").click()
    page.get_by_role("heading", name="Compose", level=1).wait_for()
    usable(page)
    page.get_by_label("Heading of section 2").fill("Watching")
    for title, section, place in ((POND, "2", "1"), (BUDS, "2", "2"), (SOIL, "1", "1")):
        piece = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=title))
        piece.get_by_label("Section").fill(section)
        piece.get_by_label("Place").fill(place)
    page.get_by_label(f"Note on {POND}").fill("The *newt*")
    page.get_by_role("button", name="Compose").click()
    expect(page.get_by_role("status").first).to_contain_text("Composed.")


def block(page, title):
    return page.get_by_role("listitem").filter(has=page.locator(f'input[value="{title}"]'))


def usable(page):
    assert fits(page)
    assert small_targets(page) == []


def preview(page):
    return page.frame_locator("iframe[title^='The campaign']")


def titles(house):
    body = campaigns.view(house.campaign().id).content.body
    return [getattr(one, "title", "") or one.text for one in blocks.parse(body)]


def test_items_become_a_draft_in_order_under_a_heading(house, page):
    ids = house.fill()
    compose(page)
    assert titles(house) == [SOIL, "Watching", POND, BUDS]
    assert entry_store.find(DESK, ids[1]).note == "The *newt*"


def test_blocks_are_edited_moved_removed_and_added(house, page):
    house.fill()
    compose(page)
    page.get_by_role("link", name="Blocks").click()
    usable(page)
    block(page, POND).get_by_label("Title").fill("The pond, again")
    block(page, BUDS).get_by_label("Place").fill("0.5")
    block(page, SOIL).get_by_label("Remove").check()
    page.locator("summary", has_text="Heading").click()
    added = page.get_by_role("group", name="New: Heading")
    added.get_by_label("Heading").fill("And so on")
    added.get_by_label("Place").fill("2.5")
    usable(page)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("Saved.")
    assert titles(house) == [BUDS, "Watching", "And so on", "The pond, again"]
    for heading in ("Watching", "And so on"):
        expect(preview(page).get_by_role("heading", name=heading)).to_be_visible()
    expect(preview(page).locator("em", has_text="newt")).to_be_visible()
    expect(preview(page).get_by_role("link", name=SOIL)).to_have_count(0)


def test_a_double_click_opens_one_issue(house, page):
    page.goto("/admin/inbox/outline")
    page.get_by_role("button", name="Open the next issue").dblclick()
    expect(page.get_by_role("status").first).to_contain_text("The next issue is open")
    assert campaigns.list_page(None, 1, 5).total == 1
    page.go_back()
    page.get_by_role("link", name=house.campaign().subject).click()
    expect(page.get_by_label("Subject")).to_have_value(house.campaign().subject)
