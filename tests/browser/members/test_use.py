"""What members do on their pages, in a real browser, with the script and without it."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.members.conftest import PASSWORD
from tests.browser.members.pictures import heavy, landscape
from tests.browser.page_checks import shoot, violations

ADA = "ada@example.net"
OTHER = "Battery-2 staple"
PHOTO = {"name": "fox.jpg", "mimeType": "image/jpeg", "buffer": landscape()}


def heading(page, text):
    page.get_by_role("heading", level=1, name=text).wait_for()


def alert(page, text):
    page.get_by_role("alert").filter(has_text=text).wait_for()


def fill_in(page, animal="Red fox", place="Behind the shed", photo=None):
    page.get_by_label("Animal").fill(animal)
    page.get_by_label("Place", exact=True).fill(place)
    if photo:
        page.get_by_label("Photo (optional)").set_input_files(photo)


def save(page):
    page.get_by_role("button", name="Save sighting").click()


def sign_in(page, password=PASSWORD, email=ADA):
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
def test_the_whole_way_from_joining_to_leaving(house, look, script):
    page = look(width=390, script=script)
    page.goto("/join")
    page.get_by_label("Email address").fill(ADA)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    page.get_by_text("Welcome! To verify your address").wait_for()
    page.goto(house.link(ADA, "/verify"))
    page.get_by_role("button", name="Verify my address").click()
    page.get_by_text("Your address is verified.").wait_for()
    page.get_by_role("link", name="Sightings").click()
    page.get_by_role("link", name="Add your first sighting").click()
    fill_in(page, photo=PHOTO)
    save(page)
    heading(page, "Red fox")
    page.get_by_text("Being prepared").wait_for()
    house.work()
    if not script:
        page.reload()
    page.get_by_alt_text("Photo of Red fox").wait_for()
    assert page.get_by_alt_text("Photo of Red fox").evaluate("image => image.decode().then(() => image.naturalWidth)")
    page.get_by_role("link", name="Edit").click()
    assert page.get_by_label("Animal").input_value() == "Red fox"
    fill_in(page, "Vixen")
    save(page)
    page.get_by_text("Saved.").wait_for()
    heading(page, "Vixen")
    page.get_by_role("link", name="Share").click()
    assert page.get_by_label("Place to show").input_value() == page.get_by_label("Credit").input_value() == ""
    page.get_by_label("Place to show").fill("Somerset")
    page.get_by_role("button", name="Share").click()
    page.get_by_text("Shared. The publication can see it now.").wait_for()
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_text("Withdrawn.").wait_for()
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete sighting").click()
    page.get_by_text("The sighting is deleted.").wait_for()
    page.get_by_role("heading", name="Nothing here yet").wait_for()
    page.get_by_role("link", name="Account").click()
    page.get_by_role("link", name="Delete account").click()
    page.get_by_label("Your password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Delete account").click()
    page.get_by_text("Your account is deleted.").wait_for()
    page.goto("/sightings")
    heading(page, "Sign in")


def test_the_keyboard_is_enough(house, look):
    ada = house.member()
    page = look(ada)
    page.goto("/sightings")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    heading(page, "New sighting")
    for _ in range(8):  # past the navigation, to the first field
        page.keyboard.press("Tab")
    page.keyboard.type("Red fox")
    page.keyboard.press("Tab")
    page.keyboard.type("Behind the shed")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "file"
    outline = "getComputedStyle(document.querySelector('[data-choose]')).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Save sighting"
    page.keyboard.press("Enter")
    heading(page, "Red fox")


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
def test_an_ended_session_keeps_what_was_written(house, look, script):
    ada = house.member()
    page = look(ada, width=390, script=script)
    page.goto("/sightings/new")
    fill_in(page, "Owl & “mouse”", "Marsh road <3", PHOTO)
    ada.end_sessions()
    save(page)
    heading(page, "Sign in to continue")
    shoot(page, f"members/ended-{script}")
    sign_in(page, "wrong")
    alert(page, "Invalid email or password")
    assert page.get_by_label("Email address").input_value() == ADA
    if script:
        assert violations(page) == []
    sign_in(page)
    heading(page, "New sighting")
    page.get_by_text("what you have written is here").wait_for()
    assert page.get_by_label("Animal").input_value() == "Owl & “mouse”"
    assert page.get_by_label("Place", exact=True).input_value() == "Marsh road <3"
    page.get_by_text("Please choose the photo again.").first.wait_for()
    assert page.url == (f"{house.url}/sightings/new" if script else f"{house.url}/sign-in")
    shoot(page, f"members/resumed-{script}")
    save(page)
    heading(page, "Owl & “mouse”")


def test_an_ended_session_leads_back_to_the_page_that_was_asked_for(house, look):
    ada = house.member()
    path = ada.sees()
    page = look()
    page.goto(f"{path}/edit")
    heading(page, "Sign in")
    sign_in(page)
    heading(page, "Edit sighting")
    page.goto("/sign-in?next=https://evil.example/")
    heading(page, "Your sightings")


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
def test_two_tabs_that_edit_the_same_sighting(house, look, script):
    ada = house.member()
    path = ada.sees()
    first = look(ada, script=script)
    second = first.context.new_page()
    for page in (first, second):
        page.goto(f"{path}/edit")
    fill_in(first, "Vixen")
    save(first)
    heading(first, "Vixen")
    fill_in(second, "Dog fox", "Compost heap")
    save(second)
    heading(second, "This sighting was changed meanwhile")
    assert second.locator("mark").all_inner_texts() == ["Vixen", "Behind the shed"]
    assert second.get_by_label("Animal").input_value() == "Dog fox"
    if script:
        assert violations(second) == []
    shoot(second, "members/conflict")
    second.get_by_role("button", name="Save my version").click()
    heading(second, "Dog fox")
    first.goto(path)
    heading(first, "Dog fox")


def test_keeping_what_is_saved_changes_nothing(house, look):
    ada = house.member()
    path = ada.sees()
    page = look(ada, width=390)
    page.goto(f"{path}/edit")
    other = page.context.new_page()
    other.goto(f"{path}/edit")
    fill_in(other, "Vixen")
    save(other)
    heading(other, "Vixen")
    fill_in(page, "Dog fox", photo=PHOTO)
    save(page)
    heading(page, "This sighting was changed meanwhile")
    page.get_by_text("A new one, which you have just uploaded").wait_for()
    shoot(page, "members/conflict-390")
    page.get_by_role("link", name="Keep what is saved").click()
    heading(page, "Vixen")


def test_a_large_photo_is_made_smaller_and_its_upload_shows_progress(house, look, bucket):
    ada = house.member()
    page = look(ada, width=390)
    page.goto("/sightings/new")
    large = {"name": "large.jpg", "mimeType": "image/jpeg", "buffer": heavy()}
    assert len(large["buffer"]) > 1_500_000
    fill_in(page, photo=large)
    page.get_by_alt_text("The photo you have chosen").wait_for()
    shoot(page, "members/preview")
    network = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 400_000}
    network.send("Network.emulateNetworkConditions", slow)
    save(page)
    status = page.locator("[data-status]")
    expect(status).to_have_text(re.compile(r"Uploading the photo: \d+ percent"))
    assert page.get_by_role("progressbar").get_attribute("value")
    assert page.get_by_role("button", name="Save sighting").get_attribute("aria-disabled") == "true"
    assert violations(page) == []
    shoot(page, "members/uploading")
    heading(page, "Red fox")
    ((kind, size),) = bucket.taken
    assert kind == "image/jpeg"
    assert size < len(large["buffer"])
    house.work()
    photo = page.get_by_alt_text("Photo of Red fox")
    photo.wait_for()
    assert (
        max(photo.evaluate("image => [image.width, image.height] && [image.naturalWidth, image.naturalHeight]"))
        == 2048
    )


def test_a_transparent_picture_stays_transparent(house, look, bucket):
    page = look(house.member())
    page.goto("/sightings/new")
    blob = page.evaluate("""async () => {
        const canvas = Object.assign(document.createElement("canvas"), { width: 3000, height: 40 });
        const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
        return [...new Uint8Array(await blob.arrayBuffer())];
    }""")
    fill_in(page, photo={"name": "x.png", "mimeType": "image/png", "buffer": bytes(blob)})
    save(page)
    heading(page, "Red fox")
    assert [kind for kind, _ in bucket.taken] == ["image/png"]


@pytest.mark.parametrize("failure", ["broken", "gone"])
def test_when_the_bucket_cannot_be_reached_the_photo_comes_with_the_form(house, look, bucket, failure):
    setattr(bucket, failure, True)
    page = look(house.member(), width=390, refused=True)
    page.goto("/sightings/new")
    fill_in(page, photo=PHOTO)
    save(page)
    heading(page, "Red fox")
    setattr(bucket, failure, False)
    house.work()
    page.get_by_alt_text("Photo of Red fox").wait_for()
    assert bucket.taken == []


def test_when_nothing_can_be_reached_nothing_is_lost(house, look, bucket):
    page = look(house.member(), width=390, refused=True)
    page.goto("/sightings/new")
    fill_in(page, photo=PHOTO)
    page.route("**/api/upload/photo", lambda route: route.abort())
    save(page)
    alert(page, "There is no connection to the server. Nothing is lost")
    assert page.get_by_label("Animal").input_value() == "Red fox"
    assert page.get_by_label("Photo (optional)").evaluate("input => input.files.length") == 1
    assert violations(page) == []
    shoot(page, "members/unreachable")
    page.unroute("**/api/upload/photo")
    save(page)
    heading(page, "Red fox")


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
def test_what_is_no_photo_is_refused_beside_the_field_and_the_rest_is_kept(house, look, script):
    page = look(house.member(), width=390, script=script)
    page.goto("/sightings/new")
    fill_in(page, photo={"name": "fox.jpg", "mimeType": "image/jpeg", "buffer": b"not a photo at all"})
    save(page)
    alert(page, "Only JPEG, PNG, WebP formats allowed")
    assert page.get_by_label("Animal").input_value() == "Red fox"
    page.get_by_text("Please choose the photo again.").wait_for()
    assert page.get_by_label("Photo (optional)").get_attribute("aria-invalid") == "true"
    if script:
        assert page.evaluate("document.activeElement.id") == "photo"
        assert violations(page) == []
    shoot(page, f"members/refused-{script}")
    page.get_by_label("Photo (optional)").set_input_files(PHOTO)
    save(page)
    heading(page, "Red fox")


def test_a_photo_that_has_arrived_outlives_a_mistake_elsewhere(house, look):
    page = look(house.member(), script=False)
    page.goto("/sightings/new")
    fill_in(page, animal="x" * 201, photo=PHOTO)
    save(page)
    alert(page, "Animal name too long (max 200 chars)")
    page.get_by_text("Your photo is uploaded").wait_for()
    shoot(page, "members/arrived")
    fill_in(page)
    save(page)
    page.get_by_text("Being prepared").wait_for()


@pytest.mark.parametrize("photo", [None, PHOTO], ids=["text", "photo"])
def test_two_quick_clicks_make_one_sighting(house, look, photo):
    page = look(house.member())
    page.goto("/sightings/new")
    fill_in(page, photo=photo)
    page.get_by_role("button", name="Save sighting").dblclick()
    heading(page, "Red fox")
    page.goto("/sightings")
    assert page.locator(".tile").count() == 1


def test_searching_leaves_no_trace_in_the_address(house, look):
    ada = house.member()
    for name in ("Red fox", "Owl", "Arctic fox"):
        ada.sees(name)
    page = look(ada, width=390)
    page.goto("/sightings")
    page.get_by_role("searchbox").fill("FOX")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".tile h2")).to_have_text(["Arctic fox", "Red fox"])
    assert page.url == f"{house.url}/sightings"
    assert violations(page) == []
    shoot(page, "members/found")
    page.get_by_role("link", name="Red fox").click()
    heading(page, "Red fox")
    page.go_back()
    expect(page.locator(".tile h2")).to_have_text(["Arctic fox", "Red fox"])
    page.get_by_role("searchbox").fill("yeti")
    page.keyboard.press("Enter")
    page.get_by_text("Nothing found for “yeti”.").first.wait_for()
    shoot(page, "members/not-found")
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".tile")).to_have_count(3)


def test_a_search_is_not_repeated_for_the_next_member_in_the_tab(house, look):
    ada, bob = house.member(), house.member("bob@example.net")
    for member in (ada, bob):
        member.sees("Red fox")
        member.sees("Owl")
    page = look(ada)
    page.goto("/sightings")
    page.get_by_role("searchbox").fill("fox")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".tile h2")).to_have_text(["Red fox"])
    page.get_by_role("button", name="Sign out").click()
    page.get_by_text("You are signed out.").wait_for()
    sign_in(page, email=bob.email)
    page.go_back()
    page.go_back()
    expect(page).to_have_url(f"{house.url}/sightings")
    expect(page.locator(".tile h2")).to_have_text(["Owl", "Red fox"])
    page.wait_for_load_state("networkidle")
    expect(page.locator(".tile h2")).to_have_text(["Owl", "Red fox"])
    expect(page.get_by_role("searchbox")).to_have_value("")


def test_more_are_shown_below_the_others(house, look):
    ada = house.member()
    for number in range(26):
        ada.sees(f"Fox {number}")
    page, plain = look(ada), look(ada, script=False)
    page.goto("/sightings")
    for count in (24, 26):
        page.get_by_role("link", name="Show more").click()
        expect(page.locator(".tile")).to_have_count(count)
    assert page.evaluate("document.activeElement.textContent") == "Fox 1"
    expect(page.get_by_role("link", name="Show more")).to_have_count(0)
    plain.goto("/sightings")
    plain.get_by_role("searchbox").fill("fox")
    plain.get_by_role("button", name="Search").click()
    plain.get_by_role("button", name="Show more").click()
    assert plain.locator(".tile").count() == 12
    plain.get_by_role("link", name="Back to the newest").click()
    assert plain.locator(".tile h2").first.inner_text() == "Fox 25"


def test_a_forgotten_password_is_set_anew(house, look):
    house.member()
    page = look(width=390, script=False)
    page.goto("/sign-in")
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("Email address").fill(ADA)
    page.get_by_role("button", name="Email me a link").click()
    page.get_by_text("a link is on its way").wait_for()
    link = house.link(ADA, "/reset")
    for _ in range(2):  # opening it uses nothing up
        page.goto(link)
    page.get_by_label("New password", exact=True).fill("weak")
    page.get_by_label("New password again", exact=True).fill("weak")
    page.get_by_role("button", name="Save new password").click()
    alert(page, "Password must be 8+ chars with uppercase, number, special char")
    shoot(page, "members/weak")
    page.get_by_label("New password", exact=True).fill(OTHER)
    page.get_by_label("New password again", exact=True).fill(OTHER)
    page.get_by_role("button", name="Save new password").click()
    page.get_by_text("Sign in with it now").wait_for()
    sign_in(page, OTHER)
    heading(page, "Your sightings")
    page.goto(link)
    heading(page, "Your sightings") if page.url.endswith("/sightings") else heading(page, "This link does not work")


def test_the_account_page_changes_the_password_and_hands_out_the_data(house, look):
    ada = house.member()
    ada.sees("Red fox")
    page = look(ada, width=390)
    page.goto("/account")
    with page.expect_download() as started:
        page.get_by_role("link", name="Download my data").click()
    stored = json.loads(Path(started.value.path()).read_text())
    assert stored["account"]["email"] == ADA
    page.get_by_role("link", name="Change password").click()
    page.get_by_label("Current password", exact=True).fill("wrong")
    page.get_by_label("New password", exact=True).fill(OTHER)
    page.get_by_label("New password again", exact=True).fill(OTHER)
    page.get_by_role("button", name="Save new password").click()
    alert(page, "Wrong password")
    assert page.evaluate("document.activeElement.id") == "current_password"
    assert violations(page) == []
    page.get_by_label("Current password", exact=True).fill(PASSWORD)
    page.get_by_label("New password", exact=True).fill(OTHER)
    page.get_by_label("New password again", exact=True).fill(OTHER)
    page.get_by_role("button", name="Show new password", exact=True).click()
    assert page.get_by_label("New password", exact=True).get_attribute("type") == "text"
    page.get_by_role("button", name="Save new password").click()
    page.get_by_text("Your new password is saved.").wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_text("You are signed out.").wait_for()
    sign_in(page, OTHER)
    heading(page, "Your sightings")


def test_a_photo_whose_link_has_expired_is_fetched_again(house, look, bucket):
    ada = house.member()
    ada.sees(photo=landscape())
    house.work()
    page = look(ada)
    page.route(f"{bucket.url}/**", lambda route: route.fulfill(status=403), times=1)
    page.goto("/sightings")
    image = page.locator("img.photo.new")
    image.wait_for()
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1200
