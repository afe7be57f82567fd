"""Importing a list in a browser: with the script and without, small files and large ones."""

import re

import pytest

from chalicelib.audience.imports import jobs, service
from chalicelib.audience.imports.model import State
from tests.browser import page_checks
from tests.browser.admin.test_pages import LOOKS
from tests.browser.members.conftest import bucket as _bucket
from tests.browser.page_checks import Watched
from tests.conftest import received

bucket = _bucket

LIST = (
    "Email,First Name,Last Name,Status,Tags,Signed up\n"
    + "".join(f"reader{n}@example.net,Ada,Lovelace,active,garden,{n % 28 + 1}/03/2024\n" for n in range(40))
    + "cy@example.net,Cy,Twombly,unsubscribed,,01/02/2023\nno address,,,,,\nreader1@example.net,,,active,,\n"
    + "dee@example.net,Dee,,cold,seeds,\n Bo <bo@example.net>,Bo,,active,,\n"
)


def _file(tmp_path, content=LIST, name="readers of the old blog.csv"):
    path = tmp_path / name
    path.write_text(content)
    return path


def _work():
    while messages := received("feed"):
        for message in messages:
            if "import_id" in message:
                jobs.work(message["import_id"], lambda: True)


def _look_at(page, name):
    wrong = []
    for light, (colours, size) in {**LOOKS, "dark-phone": ("dark", LOOKS["phone"][1])}.items():
        page.emulate_media(color_scheme=colours, reduced_motion="reduce")
        page.set_viewport_size(size)
        page_checks.shoot(page, f"admin/{name}.{light}")
        found = page_checks.violations(page) + page_checks.small_targets(page)
        found += [] if page_checks.fits(page) else ["wider than the screen"]
        wrong += [f"{name} {light}: {problem}" for problem in found]
    page.set_viewport_size({"width": 320, "height": 640})
    wrong += [] if page_checks.fits(page) else [f"{name}: wider than a small phone"]
    page.set_viewport_size(LOOKS["light"][1])
    page.emulate_media(color_scheme="light")
    return wrong


def test_every_page_of_an_import_is_accessible_and_fits(dashboard, look, tmp_path):
    page = look()
    page.goto("/admin/imports")
    wrong = _look_at(page, "imports-empty")
    page.get_by_label("CSV, text or zip").set_input_files(_file(tmp_path))
    page.get_by_role("button", name="Read the file").click()
    page.get_by_role("heading", name="Before you start").wait_for()
    path = page.url
    page.get_by_text("Change how it is read").click()
    wrong += _look_at(page, "import-read")
    page.get_by_label("I am not sure").check()
    page.get_by_role("button", name="Start the import").click()
    page.get_by_text("Nobody was imported.").wait_for()
    wrong += _look_at(page, "import-unsure")
    page.get_by_label("They signed up without").check()
    page.get_by_label("When did you last write").fill("2026-01-02")
    page.get_by_label("In your own words").fill("They signed up on the old blog.")
    page.get_by_label("When was the file exported?").fill("2026-01-03")
    page.get_by_role("button", name="Who has left since?").click()
    page.get_by_text("left here since then").first.wait_for()
    assert page.get_by_label("In your own words").input_value() == "They signed up on the old blog."
    page.get_by_role("button", name="Start the import").click()
    page.get_by_role("heading", name="Importing").wait_for()
    wrong += _look_at(page, "import-running")
    _work()
    page.get_by_role("heading", name="people imported").wait_for()
    wrong += _look_at(page, "import-done")
    page.goto(f"{path}?undo=yes")
    wrong += _look_at(page, "import-undo")
    page.get_by_role("button", name="Undo the import").click()
    page.get_by_role("heading", name="Undone").wait_for()
    page.goto("/admin/imports")
    wrong += _look_at(page, "imports")
    page.goto("/admin/subscribers/add")
    wrong += _look_at(page, "subscriber-add")
    assert not wrong, "\n".join(wrong)


def test_a_list_is_imported_without_scripts(dashboard, look, tmp_path):
    page = look(script=False)
    page.goto("/admin/subscribers")
    page.get_by_role("link", name="Import").click()
    page.get_by_label("CSV, text or zip").set_input_files(_file(tmp_path))
    page.get_by_role("button", name="Read the file").click()
    page.get_by_label("Last Name is").select_option("Not used")
    page.get_by_role("button", name="Read again").click()
    page.get_by_text("Read again.").first.wait_for()
    page.get_by_label("They signed up and confirmed").check()
    page.get_by_label("In your own words").fill("They confirmed by link.")
    page.get_by_role("button", name="Start the import").click()
    page.get_by_role("heading", name="Importing").wait_for()
    assert page.locator("meta[http-equiv=refresh]").count() == 1
    _work()
    page.get_by_role("link", name="Look again").click()
    page.get_by_role("heading", name="41 people imported").wait_for()


@pytest.fixture
def reach(bucket, dashboard, browser):
    """A page whose requests to the bucket, which is another host, are expected."""
    bucket.site = dashboard.url
    context = browser.new_context(base_url=dashboard.url)
    context.set_default_timeout(20_000)
    watched = Watched(context.new_page(), refused=True)
    yield watched.page
    context.close()
    assert watched.complaints == []


def test_a_large_file_goes_straight_to_the_bucket(dashboard, bucket, reach, tmp_path):
    """As the page's policy and the bucket's own rules allow it."""
    content = LIST + "".join(f"many{n}@example.net,{'n' * 40},,active,,\n" for n in range(75_000))
    file = _file(tmp_path, content, "large.csv")
    reach.goto("/admin/imports")
    reach.get_by_label("CSV, text or zip").set_input_files(file)
    reach.get_by_role("button", name="Read the file").click()
    reach.wait_for_url(re.compile("/admin/imports/.+"), timeout=60_000)
    assert bucket.taken == [("text/csv", file.stat().st_size)]
    for _ in range(50):
        if service.list_imports(1)[0].state is State.READ:
            break
        _work()
    reach.reload()
    reach.get_by_role("heading", name="Of 75,045 rows").wait_for()
    reach.get_by_role("heading", name="large.csv").wait_for()


def test_an_upload_that_fails_is_said_and_can_be_tried_again(dashboard, bucket, reach, tmp_path):
    bucket.broken = True
    file = _file(tmp_path, "a@example.net\n" * 330_000, "large.csv")
    reach.goto("/admin/imports")
    reach.get_by_label("CSV, text or zip").set_input_files(file)
    for _ in range(2):
        reach.get_by_role("button", name="Read the file").click()
        reach.get_by_text("The file could not be uploaded").wait_for()
    bucket.gone = True
    reach.get_by_role("button", name="Read the file").click()
    reach.get_by_text("The file could not be uploaded").wait_for()
    assert bucket.taken == []


def test_a_list_is_imported_with_the_keyboard_alone(dashboard, look):
    page = look()
    page.goto("/admin/imports")
    page.get_by_label("One on each line").focus()
    page.keyboard.type("ada@example.net")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_label("They signed up and confirmed").focus()
    page.keyboard.press("Space")
    page.get_by_label("In your own words").focus()
    page.keyboard.type("She asked me to.")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.value") == "start":
            break
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Importing").wait_for()


def test_one_subscriber_is_added_by_hand(dashboard, look):
    page = look()
    page.goto("/admin/subscribers")
    page.get_by_role("link", name="Add", exact=True).click()
    page.get_by_label("Email address").fill("hand@example.net")
    page.get_by_label("They signed up and confirmed").check()
    page.get_by_label("In your own words").fill("She asked me.")
    page.get_by_role("button", name="Add").click()
    page.get_by_text("Added.").wait_for()
    page.get_by_role("heading", name="hand@example.net").wait_for()
