"""A draft saves itself: after a pause, on leaving, when the connection is back; never over anybody else's words."""

import re
from datetime import timedelta
from functools import partial

from playwright.sync_api import expect

from chalicelib.campaigns import segments, service
from chalicelib.campaigns.model import Targeting, Terms
from chalicelib.campaigns.service import Draft
from chalicelib.inbox import use_store
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from tests.browser import page_checks
from tests.browser.admin.editing import SELECTED, body, kept, open_draft, put, seen, status, stored, until, wait_for

SIGNED_OUT = {"status": 200, "content_type": "text/html", "body": "<title>Sign in</title>"}
CALLS = "**/admin/api/campaigns*/**"


def _drafts():
    return [one.subject for one in service.list_page(None, 1, 50).items]


def _sent(page, method):
    """The calls of this kind that the page makes from now on."""
    found = []
    page.on("request", lambda request: found.append(request) if request.method == method else None)
    return found


def _answer(answer, route):
    route.fulfill(**answer)


def test_a_draft_is_saved_when_typing_pauses_with_one_request(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    put(page, "First words|")
    wait_for(page, "saved")
    assert re.fullmatch(r"Saved \d\d:\d\d", status(page))
    before = service.view(dashboard.draft).campaign.version
    asked = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    page.keyboard.type(" and more")
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        pass
    wait_for(page, "saved")
    assert stored(dashboard.draft)[1] == "First words and more"
    assert service.view(dashboard.draft).campaign.version == before + 1
    assert [one for one in asked if "/campaigns/preview" not in one] == [
        f"PATCH {dashboard.url}/admin/api/campaigns/{dashboard.draft}"
    ]
    assert kept(page) == 0
    assert page.locator("[data-saved]").get_attribute("role") == "status"


def test_saving_by_shortcut_or_button_stays_where_it_is(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    page.evaluate("window.stayed = true")
    put(page, "\n".join(f"Line {number}" for number in range(200)) + "|")
    body(page).evaluate("(area) => { area.setSelectionRange(700, 705); area.scrollTop = 300; scrollTo(0, 150); }")
    place = [
        *body(page).evaluate(SELECTED),
        body(page).evaluate("(area) => area.scrollTop"),
        page.evaluate("scrollY"),
    ]
    page.keyboard.press("Control+s")
    wait_for(page, "saved")
    assert stored(dashboard.draft)[1].endswith("Line 199")
    after = [
        *body(page).evaluate(SELECTED),
        body(page).evaluate("(area) => area.scrollTop"),
        page.evaluate("scrollY"),
    ]
    assert after == place
    page.get_by_label("Subject").fill("Another subject")
    page.get_by_role("button", name="Save", exact=True).click()
    until(page, lambda: stored(dashboard.draft)[0] == "Another subject")
    wait_for(page, "saved")
    assert stored(dashboard.draft)[0] == "Another subject"
    assert page.evaluate("window.stayed")
    assert page.get_by_role("heading", level=1).inner_text() == "Another subject"


def test_a_new_campaign_is_created_once_and_the_page_becomes_its_page(dashboard, look):
    page = look()
    page.goto("/admin/campaigns/new")
    posts = _sent(page, "POST")
    put(page, "Some text|")
    wait_for(page, "missing")
    assert status(page) == "Not saved yet: add a subject."
    page.get_by_label("Subject").fill("Once")
    for _ in range(3):
        page.keyboard.press("Control+s")
    page.wait_for_url(re.compile("/admin/campaigns/(?!new)"))
    wait_for(page, "saved")
    campaign_id = page.url.rsplit("/", 1)[1]
    assert _drafts().count("Once") == 1
    assert len([one for one in posts if one.url.endswith("/api/campaigns")]) == 1
    page.get_by_role("link", name="Review").wait_for()
    page.get_by_role("link", name="Delete draft").wait_for()
    put(page, "Some other text|")
    wait_for(page, "saved")
    page.get_by_role("link", name="Review").click()
    page.get_by_role("heading", name="Checks").wait_for()
    assert stored(campaign_id) == ("Once", "Some other text")
    assert _drafts().count("Once") == 1


def test_a_lost_answer_makes_no_second_campaign(dashboard, look):
    page = look(refused=True)
    page.goto("/admin/campaigns/new")

    def lose(route):
        if route.request.method == "POST":
            route.fetch()  # the server creates it, and nobody hears of it
            route.abort()
        else:
            route.continue_()

    page.route("**/admin/api/campaigns", lose)
    page.get_by_label("Subject").fill("Lost and found")
    put(page, "Some text|")
    wait_for(page, "bad")
    assert status(page) == "Not saved: no connection. Kept in this browser."
    put(page, "Some text, and more|")
    page.keyboard.press("Control+s")
    page.wait_for_url(re.compile("/admin/campaigns/(?!new)"))
    wait_for(page, "saved")
    assert _drafts().count("Lost and found") == 1
    until(page, lambda: stored(page.url.rsplit("/", 1)[1])[1] == "Some text, and more")
    until(page, lambda: not kept(page))


def test_without_a_connection_text_is_kept_and_saved_when_it_is_back(dashboard, look):
    page = look(refused=True)
    open_draft(page, dashboard.draft)
    page.context.set_offline(True)
    put(page, "Written on a train|")
    wait_for(page, "bad")
    assert status(page) == "Not saved: no connection. Kept in this browser."
    page_checks.shoot(page, "admin/offline.light")
    assert page.locator("iframe").count() == 1  # the preview of before, not the browser's page about the connection
    assert "Written on a train" not in page.frame_locator("iframe").locator("body").inner_text()
    page.context.set_offline(False)
    wait_for(page, "saved")
    assert stored(dashboard.draft)[1] == "Written on a train"
    page.frame_locator("iframe:not(.loading)").get_by_text("Written on a train").wait_for()
    assert kept(page) == 0


def test_text_that_was_not_saved_is_offered_on_the_next_visit(dashboard, look):
    closed = look(refused=True)
    asked = []
    closed.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    open_draft(closed, dashboard.draft)
    before = stored(dashboard.draft)[1]
    closed.context.set_offline(True)
    put(closed, "Typed on a train|")
    wait_for(closed, "bad")
    page = closed.context.new_page()
    closed.close(run_before_unload=True)
    until(page, closed.is_closed)
    assert asked == []  # it is kept, so nobody is asked
    page.context.set_offline(False)
    open_draft(page, dashboard.draft)
    assert body(page).input_value() == before
    offer = page.get_by_role("region", name="Text that was not saved")
    assert re.search(r"There is text from \d\d:\d\d in this browser that was not saved\.", offer.inner_text())
    offer.get_by_role("button", name="Look at it").click()
    offer.get_by_label("The text that was not saved").wait_for()
    assert not page_checks.violations(page)
    page_checks.shoot(page, "admin/offered.light")
    offer.get_by_role("button", name="Bring it back").click()
    assert body(page).input_value() == "Typed on a train"
    wait_for(page, "saved")
    assert stored(dashboard.draft)[1] == "Typed on a train"
    assert kept(page) == 0


def test_text_that_was_not_saved_can_be_discarded_and_a_new_campaign_has_its_own(dashboard, look):
    page = look()
    page.goto("/admin/campaigns/new")
    put(page, "Without a subject|")
    wait_for(page, "missing")
    page.goto("/admin/campaigns")
    open_draft(page, dashboard.draft)
    page.wait_for_selector(".tools")
    assert page.get_by_role("region", name="Text that was not saved").count() == 0
    page.goto("/admin/campaigns/new")
    offer = page.get_by_role("region", name="Text that was not saved")
    offer.get_by_role("button", name="Discard").click()
    offer.wait_for(state="detached")
    assert kept(page) == 0
    assert body(page).input_value() == ""


def test_leaving_saves_what_was_just_typed(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    put(page, "Typed and gone|")
    page.get_by_role("link", name="Overview").click()
    page.wait_for_url("**/admin")
    assert stored(dashboard.draft)[1] == "Typed and gone"
    open_draft(page, dashboard.draft)
    put(page, "Typed and closed|")
    page.goto("/admin/campaigns")  # as an address that is typed: nothing can wait
    open_draft(page, dashboard.draft)
    if stored(dashboard.draft)[1] != "Typed and closed":
        page.get_by_role("button", name="Bring it back").click()
        wait_for(page, "saved")
    assert stored(dashboard.draft)[1] == "Typed and closed"


def test_two_tabs_never_overwrite_each_other_unseen(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    other = page.context.new_page()
    open_draft(other, dashboard.draft)
    put(other, "Theirs|")
    wait_for(other, "saved")
    put(page, "Mine|")
    panel = page.get_by_role("alert")
    panel.get_by_text("by somebody else, or by you in another tab").wait_for()
    assert stored(dashboard.draft)[1] == "Theirs"
    assert not page_checks.violations(page)
    page_checks.shoot(page, "admin/conflict.light")
    see = panel.get_by_role("link", name="See theirs")
    assert see.get_attribute("href") == f"/admin/campaigns/{dashboard.draft}/versions"
    assert see.get_attribute("target") == "_blank"
    page.keyboard.type(", still")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.get_by_role("link", name="What to do").click()  # the panel is far above the text
    expect(panel.get_by_role("button", name="Save mine")).to_be_in_viewport()
    panel.get_by_role("button", name="Save mine").click()
    wait_for(page, "saved")
    assert stored(dashboard.draft)[1] == "Mine, still"
    assert page.get_by_role("alert").count() == 0
    # The other tab is behind now, and takes what is there; its own text is kept, and offered.
    other.get_by_label("Body").fill("Theirs again")
    other.get_by_role("button", name="Use theirs").click()
    other.get_by_role("button", name="Bring it back").wait_for()
    assert body(other).input_value() == "Mine, still"
    assert stored(dashboard.draft)[1] == "Mine, still"


def test_an_answer_that_was_lost_is_no_conflict(dashboard, look):
    page = look(refused=True)
    open_draft(page, dashboard.draft)
    lost = []

    def lose(route):
        if route.request.method == "PATCH" and not lost:
            lost.append(route.fetch().status)
            route.abort()
        else:
            route.continue_()

    page.route(CALLS, lose)
    put(page, "Said once|")
    wait_for(page, "bad")
    assert lost == [200]
    page.keyboard.type(", heard twice")
    wait_for(page, "saved")
    until(page, lambda: not kept(page))
    assert page.get_by_role("alert").count() == 0
    assert stored(dashboard.draft)[1] == "Said once, heard twice"


def test_a_scheduled_campaign_changes_only_when_save_is_pressed(dashboard, look):
    page = look()
    open_draft(page, dashboard.scheduled)
    calls = _sent(page, "PATCH")
    before = stored(dashboard.scheduled)[1]
    put(page, "Half a sent|")
    until(page, lambda: kept(page) == 1)
    wait_for(page, "byhand")
    assert status(page).startswith("Scheduled: press Save to change what will be sent.")
    page.goto("/admin/campaigns")
    open_draft(page, dashboard.scheduled)
    assert (stored(dashboard.scheduled)[1], calls) == (before, [])
    page.get_by_role("button", name="Bring it back").click()
    body(page).fill("A whole sentence.")
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for(page, "saved")
    assert stored(dashboard.scheduled)[1] == "A whole sentence."


def test_a_draft_that_is_scheduled_meanwhile_is_no_longer_saved_by_itself(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    before = stored(dashboard.draft)[1]
    service.schedule(dashboard.draft, clock.text(clock.now() + timedelta(days=3)), "UTC")
    put(page, "Half a sent|")
    wait_for(page, "byhand")
    assert stored(dashboard.draft)[1] == before
    page.keyboard.press("Control+s")
    wait_for(page, "saved")
    assert stored(dashboard.draft)[1] == "Half a sent"


def test_a_campaign_that_is_sent_or_deleted_meanwhile_keeps_the_text_in_the_browser(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    service.send_now(dashboard.draft)
    put(page, "Too late|")
    page.get_by_text("It can no longer be changed. Your text is kept in this browser.").wait_for()
    deleted = service.create(Draft("Gone", "text")).campaign.id
    open_draft(page, deleted)
    service.delete(deleted)
    put(page, "Too late|")
    page.get_by_text("This campaign was deleted.").wait_for()
    assert kept(page) == 2


def test_signed_out_is_told_apart_from_no_connection(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    for answer in (
        SIGNED_OUT,
        {"status": 401, "json": {"error": "x"}},
        {"status": 302, "headers": {"Location": "/"}},
    ):
        page.route(CALLS, partial(_answer, answer))
        put(page, f"Signed out {answer['status']}|")
        page.keyboard.press("Control+s")
        wait_for(page, "bad")
        assert status(page).startswith("Not saved: you are signed out. Kept in this browser.")
        assert page.get_by_role("link", name="Sign in again").get_attribute("target") == "_blank"
        page.unroute(CALLS)
        page.keyboard.press("Control+s")
        wait_for(page, "saved")
    assert stored(dashboard.draft)[1] == "Signed out 302"


def test_what_the_server_refuses_is_said_and_kept(dashboard, look):
    page = look()
    open_draft(page, dashboard.draft)
    page.get_by_label("Subject").fill("{{nickname}}")
    wait_for(page, "bad")
    assert status(page) == (
        "Not saved: Subject would be empty for people without a nickname: write {{nickname|friend}}. "
        "Kept in this browser."
    )
    page.get_by_label("Subject").fill("{{nickname|friend}}")
    wait_for(page, "saved")
    assert stored(dashboard.draft)[0] == "{{nickname|friend}}"


def test_an_item_that_was_withdrawn_is_named_as_the_reason(dashboard, look):
    entry = "f" * 32
    tables.transact(use_store.withdraw_write(entry))
    page = look(refused=True)
    open_draft(page, dashboard.draft)
    asked = _sent(page, "PATCH")
    put(page, f":::item\ntitle: Fox\nlink: https://fox.example/\nentry: {entry}\n:::|")
    wait_for(page, "bad")
    assert "A sighting in it was withdrawn by the member who shared it. Kept" in status(page)
    assert len(asked) == 1
    put(page, "Without it|")
    wait_for(page, "saved")
    assert stored(dashboard.draft)[1] == "Without it"


def test_a_browser_without_room_says_so_and_warns_on_leaving(dashboard, look):
    page = look(refused=True)
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    open_draft(page, dashboard.draft)
    page.evaluate("""() => {
      localStorage.setItem("gna-draft:old:1", JSON.stringify({ at: 1, fields: { body: "expired" } }));
      Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };
    }""")
    page.route(CALLS, lambda route: route.abort())
    put(page, "Nowhere to go|")
    wait_for(page, "bad")
    assert status(page) == "Not saved: no connection. This browser cannot keep it: leave this page open."
    assert kept(page) == 0
    page.get_by_role("link", name="Overview").click()
    until(page, lambda: bool(asked))
    assert asked == ["beforeunload"]
    assert seen(page) == "Nowhere to go|"


def test_a_field_that_was_not_loaded_is_never_saved_by_itself(dashboard, look):
    text = "".join(f"Line {number}: & <b>ü</b>\n" for number in range(4_000))
    campaign_id = service.create(Draft("Tome", text)).campaign.id
    page = look()
    page.route("**/words/body", lambda route: route.fulfill(**SIGNED_OUT))
    with page.expect_response("**/words/body"):
        page.goto(f"/admin/campaigns/{campaign_id}")
    page.get_by_label("Subject").fill("Tome II")
    wait_for(page, "saved")
    assert stored(campaign_id) == ("Tome II", text)
    page.unroute("**/words/body")
    page.goto(f"/admin/campaigns/{campaign_id}")
    page.get_by_text("This text is too long for the page").wait_for(state="detached")
    assert kept(page) == 0
    page.get_by_label("Subject").fill("Tome III")
    wait_for(page, "saved")
    assert stored(campaign_id) == ("Tome III", text)
    body(page).evaluate("(area) => area.setSelectionRange(0, 0)")
    body(page).press("x")
    wait_for(page, "typing")
    wait_for(page, "saved")
    assert stored(campaign_id) == ("Tome III", "x" + text)


def test_a_campaign_for_a_segment_too_long_for_the_page_is_never_for_everybody(dashboard, look):
    words = tuple(f"{number:02}{chr(0x10330) * 62}" for number in range(20))
    terms = Terms(words, words, words)
    segment = segments.create("Everything long", Targeting(terms, terms))
    page = look(refused=True)
    page.route("**/admin/api/segments*", lambda route: route.abort())
    page.goto(f"/admin/campaigns/new?segment={segment.id}")
    page.get_by_label("Subject").fill("For some")
    put(page, "Text|")
    wait_for(page, "bad")
    assert "the segment could not be loaded" in status(page)
    assert "For some" not in _drafts()
    page.unroute("**/admin/api/segments*")
    page.get_by_label("Saved segment").select_option(segment.id)
    page.wait_for_url(re.compile("/admin/campaigns/(?!new)"))
    wait_for(page, "saved")
    assert service.view(page.url.rsplit("/", 1)[1]).campaign.targeting == segment.targeting
