"""Going through the inbox, composing from it and editing what comes of it, in a real browser."""

import re

from playwright.sync_api import expect

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import blocks
from chalicelib.inbox import entry_store, issues, page_reading, service
from chalicelib.inbox.model import DESK, State
from chalicelib.inbox.outline import Outline, Section
from chalicelib.kernel.http import client
from tests.rooms.inbox.web import Web
from tests.rooms.inbox.web import page as html
from tests.waiting import eventually


def states(owner=DESK):
    return {one.id: one.state for one in entry_store.list_all(owner) if hasattr(one, "state")}


def titles(page):
    return page.locator(".mails h2")


def toast(page):
    return page.locator("[data-toast]")


def expect_answered(page):
    """The page shows at once what it asks for; a page opened after this one shows it once it is done."""
    expect(page.locator(".mails")).to_have_attribute("aria-busy", "false")


def test_triage_by_keys_with_undo_for_each(house, look):
    ids = house.fill()
    service.set_note(DESK, ids[1], "The newt")
    page = look()
    page.goto("/admin/inbox")
    expect(page.locator("[data-waiting]")).to_have_text("7")
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(toast(page)).to_contain_text("Archived: “Who is eating the buds?”")
    expect(page.locator(".mails > li:focus h2")).to_contain_text("A pond the size of a bathtub")
    page.keyboard.press("#")
    expect(toast(page)).to_contain_text("Dismissed: “A pond the size of a bathtub”")
    page.keyboard.press("s")
    expect(titles(page)).to_have_count(4)
    expect(page.locator("[data-waiting]")).to_have_text("4")
    for left in (5, 6, 7):
        page.keyboard.press("u")
        expect(titles(page)).to_have_count(left)
        expect_answered(page)
    expect(titles(page).first).to_contain_text("Who is eating the buds?")
    page.keyboard.press("u")
    expect(toast(page)).to_contain_text("Nothing to undo")
    page.goto("/admin/inbox")
    expect(titles(page)).to_have_count(7)
    assert set(states().values()) == {State.INBOX}
    assert entry_store.find(DESK, ids[1]).note == "The newt"
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator(".mails > li:focus")).to_have_count(0)


def test_what_was_done_is_done_when_the_tab_closes_at_once(house, look):
    ids = house.fill(most=2)
    page = look()
    page.goto("/admin/inbox")
    page.keyboard.press("j")
    page.keyboard.press("#")
    page.goto("/admin/subscribers")
    eventually(lambda: ids[0] not in states())
    page.goto("/admin/inbox")
    expect(titles(page)).to_have_count(1)


def test_many_at_once_and_without_scripts(house, look):
    ids = house.fill()
    page = look()
    page.goto("/admin/inbox")
    for _ in range(3):
        page.keyboard.press("j")
        page.keyboard.press("x")
    expect(page.locator("[data-selected]")).to_have_text("3 selected")
    page.locator(".bulk").get_by_role("button", name="Archive").click()
    expect(toast(page)).to_contain_text("Archived: 3 items")
    expect(titles(page)).to_have_count(4)
    page.get_by_role("button", name="Undo").click()
    expect(titles(page)).to_have_count(7)
    expect_answered(page)

    plain = look(script=False)
    plain.goto("/admin/inbox")
    for box in plain.get_by_role("checkbox").all()[:2]:
        box.check()
    plain.locator(".bulk").get_by_role("button", name="Dismiss").click()
    expect(plain.locator(".notice")).to_contain_text("Dismissed: 2 items")
    plain.get_by_role("link", name="Everything").click()
    plain.get_by_role("button", name="To inbox Who is eating the buds?").click()
    expect(plain.locator(".notice")).to_contain_text("Back in the inbox: 1 item")
    assert states()[ids[0]] is State.INBOX


def test_the_later_of_two_editors_is_told(house, look):
    ids = house.fill()
    first, second = look(), look()
    for page in (first, second):
        page.goto("/admin/inbox")
    first.get_by_role("button", name="Archive Who is eating the buds?").click()
    expect(toast(first)).to_contain_text("Archived")
    expect_answered(first)
    second.get_by_role("button", name="Save Who is eating the buds?").click()
    expect(toast(second)).to_contain_text("Archived meanwhile, by somebody else or in another tab")
    expect(titles(second)).to_have_count(6)
    assert states()[ids[0]] is State.ARCHIVED


def test_what_cannot_be_sent_comes_back(house, look):
    house.fill(most=2)
    page = look()
    page.goto("/admin/inbox")
    page.route("**/admin/inbox", lambda route: route.fulfill(status=503, body="Busy"))
    page.get_by_role("button", name="Archive Who is eating the buds?").click()
    expect(toast(page)).to_contain_text("Not done")
    expect(titles(page)).to_have_count(2)
    page.unroute("**/admin/inbox")


def test_a_link_is_saved_from_another_page(house, look, monkeypatch):
    web = Web()
    web.says["https://example.org/frost"] = html("What the frost left standing")
    monkeypatch.setattr(client, "get", web.get)
    monkeypatch.setattr(page_reading.client, "get", web.get)
    issues.save_outline(Outline(sections=(Section("Reading"),)))
    page = look()
    page.goto("/admin/inbox")
    page.locator(".anywhere summary").click()
    link = page.get_by_role("link", name="Save to The Slow Garden")
    assert link.get_attribute("href").startswith(f'javascript:void open("{house.url}/admin/inbox/add?url="')
    page.goto("/admin/inbox/add?url=https%3A%2F%2Fexample.org%2Ffrost&title=Ignored")
    assert states() == {}
    expect(page.get_by_label("Note")).to_be_focused()
    page.get_by_label("Note").fill("For November")
    page.get_by_label("Section").fill("Reading")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What the frost left standing")
    expect(page.get_by_label("Section")).to_have_value("Reading")


def test_two_sections_are_composed_and_previewed(house, look):
    ids = house.fill()
    issues.save_outline(Outline(sections=(Section("Watching", 2), Section("Reading"))))
    page = look()
    page.goto("/admin/inbox")
    for _ in range(3):
        page.keyboard.press("j")
        page.keyboard.press("x")
    page.keyboard.press("c")
    page.get_by_role("heading", name="Compose").wait_for()
    pond = page.locator("[data-piece]", has_text="A pond")
    pond.get_by_role("textbox", name="Note on A pond").fill("The *newt*")
    for _ in range(2):
        page.get_by_role("button", name="Move down: A pond the size of a bathtub").click()
    expect(page.locator("[data-part]").nth(1)).to_contain_text("A pond")
    expect(page.locator("[data-wanted]")).to_have_text("1 of 2")
    page.set_viewport_size({"width": 1280, "height": 1500})
    page.get_by_role("heading", name="Soil").drag_to(page.locator(".pieces").nth(2))
    expect(page.locator("[data-part]").nth(2)).to_contain_text("Soil")
    empty = page.locator(".pieces").nth(3).bounding_box()
    assert empty["height"] > 30, "there is something to drop on"
    page.reload()
    expect(page.locator("[data-part]").nth(2)).to_contain_text("Soil")
    expect(page.get_by_role("textbox", name="Note on A pond")).to_have_value("The *newt*")
    page.get_by_role("button", name="Compose").click()
    expect(page.get_by_role("status").first).to_contain_text("Composed.")
    body = campaigns.view(house.campaign().id).content.body
    found = [getattr(one, "title", "") or one.text for one in blocks.parse(body)]
    buds, pond, soil = "Who is eating the buds?", "A pond the size of a bathtub", "Soil, with Dr. Mei Tan"
    assert found == [buds, "Watching", pond, "Reading", soil]
    frame = page.frame_locator(".frame iframe").first
    expect(frame.get_by_role("heading", name="Watching")).to_be_visible()
    expect(frame.locator("em", has_text="newt")).to_be_visible()
    assert entry_store.find(DESK, ids[1]).note == "The *newt*"


def test_blocks_are_edited_moved_and_removed(house, look):
    ids = house.fill(most=3)
    page = look()
    page.goto(f"/admin/inbox/compose?ids={'.'.join(ids)}")
    page.get_by_role("button", name="Compose").click()
    page.get_by_role("link", name="Blocks").click()
    page.get_by_label("Title").first.fill("The buds, again")
    page.get_by_role("button", name=re.compile("Move down: Item The buds|Move down: Item Who")).click()
    page.get_by_role("checkbox", name="Remove").nth(2).check()
    page.locator("details[data-new=heading] summary").click()
    page.locator("details[data-new=heading]").get_by_label("Heading").fill("And so on")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("Saved.")
    body = campaigns.view(house.campaign().id).content.body
    found = [getattr(one, "title", "") or one.text for one in blocks.parse(body)]
    assert found == ["A pond the size of a bathtub", "The buds, again", "And so on"]
    expect(page.frame_locator(".frame iframe").get_by_role("heading", name="And so on")).to_be_visible()


def test_an_outline_opens_the_next_issue(house, look):
    page = look()
    page.goto("/admin/inbox/outline")
    page.get_by_label("Heading 1").fill("Watching")
    page.get_by_label("Subject", exact=True).fill("The Slow Garden, {date}")
    page.get_by_label("How often").select_option("week")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved")
    page.get_by_role("button", name="Open the next issue").click()
    expect(page.get_by_role("status").first).to_contain_text("The next issue is open")
    expect(page.get_by_label("Body")).to_have_value(re.compile("## Watching"))


def test_a_member_suggests_something_on_a_phone(house, look):
    ada = house.member()
    house.fill(ada.id, most=2)
    page = look(ada, width=390)
    page.goto("/inbox")
    page.get_by_role("link", name="More Who is eating the buds?").click()
    page.get_by_label("Why it is worth reading").fill("Bullfinches!")
    page.get_by_role("button", name="Suggest").click()
    expect(page.get_by_role("status")).to_contain_text("Handed to the publication")
    desk = look()
    desk.goto("/admin/inbox")
    expect(desk.locator(".mails")).to_contain_text("Bullfinches!")
    assert "ada@" not in desk.content()
