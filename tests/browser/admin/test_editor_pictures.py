"""Pictures in the editor: dropped, pasted or chosen, uploaded while somebody writes on, and described."""

import io
import re

import pytest
from PIL import Image

from chalicelib.campaigns import service
from tests.browser import page_checks
from tests.browser.admin.editing import body, give, kept, open_draft, put, seen, stored, until, wait_for

NAMES = [f"{number:032x}.png" for number in range(1, 10)]


def _picture(size=(8, 6), kind="PNG", **options):
    made = io.BytesIO()
    Image.new("RGB", size, (20, 120, 110)).save(made, kind, **options)
    return made.getvalue()


SMALL = _picture()


class Uploads:
    """Stands in for the API of pictures: holds each upload until it is told what to answer."""

    def __init__(self, page, url):
        self.page, self.url, self.held, self.states = page, url, [], []
        page.route("**/admin/api/media", lambda route: self.held.append(route))
        page.route("**/admin/api/media/*", lambda route: route.fulfill(json=self.states.pop(0)))
        page.route("**/media/*.png", lambda route: route.fulfill(body=SMALL, content_type="image/png"))

    def wait(self, count):
        until(self.page, lambda: len(self.held) >= count)

    def where(self, number=0):
        return f"{self.url}/media/{NAMES[number]}"

    def answer(self, number=0, **given):
        found = {"id": NAMES[number][:32], "url": self.where(number), "width": 8, "height": 6, "bytes": 99}
        self.held[number].fulfill(**({"status": 201, "json": found} | given))


@pytest.fixture
def uploads(dashboard):
    return lambda page: Uploads(page, dashboard.url)


def test_a_picture_takes_its_place_although_the_text_has_moved(dashboard, look, uploads):
    page = look()
    api = uploads(page)
    open_draft(page, dashboard.draft)
    put(page, "Above.|\n\nBelow.")
    assert not give(page, "paste", [("harbour.png", "image/png", SMALL)])
    api.wait(1)
    assert "![Uploading harbour.png…](#upload-" in body(page).input_value()
    assert page.evaluate("document.activeElement.id") == "body"
    body(page).evaluate("(area) => area.setSelectionRange(0, 0)")
    page.keyboard.type("First. ")
    wait_for(page, "saved")
    assert stored(dashboard.draft)[1] == "First. Above.\n\n\n\nBelow."  # without the marker
    caret = body(page).evaluate("(area) => area.selectionStart")
    api.answer()
    page.get_by_text("In the text.", exact=True).wait_for()
    assert body(page).input_value() == f"First. Above.\n\n![]({api.where()})\n\nBelow."
    assert body(page).evaluate("(area) => area.selectionStart") == caret
    assert not page_checks.violations(page)
    page_checks.shoot(page, "admin/picture.light")
    field = page.get_by_label("What does harbour.png show?")
    field.fill('The [old] "harbour"')
    field.press("Enter")
    described = f'First. Above.\n\n![The \\[old\\] "harbour"]({api.where()})\n\nBelow.'
    assert body(page).input_value() == described
    assert page.evaluate("document.activeElement.id") == "body"
    until(page, lambda: stored(dashboard.draft)[1] == described)
    page.keyboard.press("Control+z")
    assert body(page).input_value() == described.replace('The \\[old\\] "harbour"', "")


def test_several_pictures_are_chosen_described_while_they_upload_or_left_as_decoration(dashboard, look, uploads):
    page = look()
    api = uploads(page)
    open_draft(page, dashboard.draft)
    page.get_by_label("HTML").check()
    put(page, "<p>Text</p>|")
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Picture", exact=True).click()
    assert chosen.value.is_multiple()
    files = [{"name": f"{name}.png", "mimeType": "image/png", "buffer": SMALL} for name in ("one", "two")]
    chosen.value.set_files(files)
    api.wait(2)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("What does one.png show?")
    page.keyboard.type('A <bean> & "string"')
    page.keyboard.press("Enter")
    page.get_by_label("What does two.png show?").press("Escape")
    one = 0 if b"one.png" in (api.held[0].request.post_data_buffer or b"") else 1  # they are sent side by side
    for number in (1, 0):
        api.answer(number)
    until(page, lambda: "Uploading" not in body(page).input_value())
    assert body(page).input_value() == (
        f'<p>Text</p>\n\n<img src="{api.where(one)}" alt="A &lt;bean> &amp; &quot;string&quot;">'
        f'\n\n<img src="{api.where(1 - one)}" alt="">'
    )
    assert page.locator(".uploads li").count() == 0


def test_a_failed_upload_says_why_loses_no_text_and_can_be_tried_again(dashboard, look, uploads):
    page = look()
    api = uploads(page)
    open_draft(page, dashboard.draft)
    put(page, "Text.|")
    give(page, "drop", [("beans.png", "image/png", SMALL)])
    api.wait(1)
    page.get_by_label("What does beans.png show?").fill("Beans")
    body(page).press("Control+Home")
    page.keyboard.type("More ")
    api.answer(0, status=400, json={"error": "The file is not a picture"})
    page.get_by_text("The file is not a picture.", exact=True).wait_for()
    assert body(page).input_value().strip() == "More Text."
    page_checks.shoot(page, "admin/picture-failed.light")
    assert not page_checks.violations(page)
    page.get_by_role("button", name="Try again").click()
    api.wait(2)
    api.states[:] = [
        {"id": "x", "state": "processing"},
        {"id": "x", "state": "ready", "url": api.where(1), "width": 8, "height": 6, "bytes": 99},
    ]
    api.answer(1, status=202, json={"id": "x", "state": "processing"})
    until(page, lambda: f"![Beans]({api.where(1)})" in body(page).input_value())
    assert "Text." in body(page).input_value()
    for status, said in ((413, "It is larger than 4 MB"), (401, "You are signed out"), (503, "The server could not")):
        number = len(api.held)
        give(page, "paste", [("more.png", "image/png", SMALL)])
        api.wait(number + 1)
        api.answer(number, status=status, json={})
        page.locator(".state", has_text=said).wait_for()
        page.set_viewport_size({"width": 390, "height": 800})
        words, again = page.locator(".bad .what").bounding_box(), page.locator(".bad .actions").bounding_box()
        assert words["y"] + words["height"] <= again["y"]  # below one another on a phone
        page.get_by_role("button", name="Remove").click()
    assert "Uploading" not in body(page).input_value()


def test_an_upload_can_be_cancelled_and_one_under_way_holds_the_page(dashboard, look, uploads):
    page = look(refused=True)
    api = uploads(page)
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    open_draft(page, dashboard.draft)
    put(page, "Text.|")
    give(page, "paste", [("slow.png", "image/png", SMALL)])
    api.wait(1)
    page.get_by_role("button", name="Save and review").click()
    page.get_by_text("A picture is still being uploaded: wait for it, or cancel it.").wait_for(state="attached")
    page.get_by_role("link", name="Overview").click()
    until(page, lambda: asked == ["beforeunload"])
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.locator(".uploads li").wait_for(state="detached")
    assert body(page).input_value().strip() == "Text."


def test_a_marker_that_was_deleted_leaves_the_picture_to_be_placed(dashboard, look, uploads):
    page = look()
    api = uploads(page)
    open_draft(page, dashboard.draft)
    put(page, "Text.|")
    give(page, "paste", [("slow.png", "image/png", SMALL)])
    api.wait(1)
    put(page, "Other text. |")
    api.answer()
    page.get_by_role("button", name="Insert at the cursor").click()
    assert seen(page) == f"Other text. ![]({api.where()})|"


def test_copied_text_is_pasted_as_text_although_a_picture_of_it_comes_along(dashboard, look, uploads):
    page = look()
    uploads(page)
    open_draft(page, dashboard.draft)
    before = body(page).input_value()
    word = {"text/plain": "Words from Word", "text/html": "<p>Words from Word</p>"}
    assert give(page, "paste", [("image.png", "image/png", SMALL)], word)
    assert body(page).input_value() == before  # a made-up event pastes nothing, and nothing was uploaded
    assert page.locator(".uploads li").count() == 0


def test_a_file_dropped_beside_the_text_does_not_replace_the_page(dashboard, look, uploads):
    page = look()
    uploads(page)
    open_draft(page, dashboard.draft)
    for kind in ("dragover", "drop"):
        assert not give(page, kind, [("a.png", "image/png", SMALL)], where="h1")
    assert not give(page, "drop", [("notes.pdf", "application/pdf", b"%PDF")])
    page.get_by_text("Only pictures can be put into the text.").wait_for(state="attached")
    assert page.locator(".uploads li").count() == 0
    assert give(page, "drop", texts={"text/plain": "words"})  # text may be moved with the mouse


def test_a_large_photo_is_turned_upright_and_shrunk_before_it_is_sent(dashboard, look, uploads):
    page = look()
    api = uploads(page)
    open_draft(page, dashboard.draft)
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright
    photo = _picture((4000, 3000), "JPEG", exif=exif, quality=60)
    give(page, "paste", [("photo.jpg", "image/jpeg", photo)])
    api.wait(1)
    sent = api.held[0].request.post_data_buffer
    assert sent is not None
    head, _, rest = sent.partition(b"\r\n\r\n")
    assert b'name="file"' in head
    assert re.search(rb"image/jpeg", head)
    assert Image.open(io.BytesIO(rest)).size == (1800, 2400)
    api.answer()
    page.get_by_text("In the text.", exact=True).wait_for()


def test_a_picture_is_kept_by_the_server_and_seen_in_the_preview(dashboard, look):
    """With the real API, from the file to what readers get."""
    page = look()
    open_draft(page, dashboard.draft)
    put(page, "Text.|")
    give(page, "drop", [("beans.png", "image/png", _picture((640, 480)))])
    page.keyboard.type("Beans")
    page.keyboard.press("Enter")
    until(page, lambda: "](http" in body(page).input_value())
    url = re.findall(r"!\[Beans\]\((.*)\)", body(page).input_value())[0]
    assert url.startswith(f"{dashboard.url}/media/")
    until(page, lambda: stored(dashboard.draft)[1] == body(page).input_value())
    preview = page.frame_locator("iframe:not(.loading)").get_by_role("img", name="Beans")
    preview.wait_for()
    assert preview.get_attribute("src") == url
    give(page, "drop", [("broken.png", "image/png", b"no picture")])
    page.locator(".uploads .bad").wait_for()
    assert body(page).input_value().strip() == f"Text.\n\n![Beans]({url})"


def test_pictures_on_a_phone_and_in_the_dark(dashboard, look, uploads):
    page = look(phone=True, dark=True)
    api = uploads(page)
    open_draft(page, dashboard.draft)
    body(page).focus()
    give(page, "paste", [("a-rather-long-name-of-a-photo-from-a-phone-2026.png", "image/png", SMALL)])
    api.wait(1)
    assert page_checks.fits(page)
    assert not page_checks.violations(page) + page_checks.small_targets(page)
    api.answer()
    page.get_by_text("In the text.", exact=True).wait_for()
    page_checks.shoot(page, "admin/picture.phone")
    assert page_checks.fits(page)
    assert not page_checks.violations(page) + page_checks.small_targets(page)
    until(page, lambda: api.where() in service.view(dashboard.draft).content.body)
    until(page, lambda: kept(page) == 0)
