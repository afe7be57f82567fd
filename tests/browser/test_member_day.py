"""A day in the life of a member, through the local stack and a real browser: they join, verify their address, post a
sighting with a photo from a phone, edit it in two tabs, share it, and sign out.

Screenshots go to `artefacts/day/`; `make pictures` takes them for the README.
"""

import os
import re

import pytest

from tests.browser.members import pictures
from tests.browser.page_checks import ARTEFACTS, Watched, violations
from tests.local.runner import Runner
from tests.waiting import eventually

EMAIL, PASSWORD = "rosalind@example.org", "Double-Helix-1"
MORE = (
    ("Kingfisher", "The weir below the mill"),
    ("Roe deer", "Edge of the beech wood"),
    ("Barn owl", "St Mary’s, on the tower"),
    ("Hedgehog", "Under the garden shed"),
    ("Brown hare", "The long field"),
)
PLACE, SHOWN = "The old yew, 4 Orchard Lane", "Hertfordshire"


@pytest.fixture
def gna(tmp_path):
    runner = Runner(tmp_path / "local")
    try:
        yield runner.start()
    finally:
        runner.stop()


@pytest.fixture
def phone(browser, gna):
    context = browser.new_context(
        base_url=gna.url,
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
    )
    context.set_default_timeout(20_000)
    watched = Watched(context.new_page())
    yield watched.page
    context.close()
    assert watched.complaints == []
    assert {host.partition(":")[0] for host in watched.hosts} <= {"127.0.0.1", "data", "blob"}


def test_a_day_in_the_life_of_a_member(gna, phone, browser):
    day = Day(gna, phone)
    day.join()
    day.verify()
    day.post_a_sighting()
    day.edit_in_two_tabs()
    day.share(browser)
    day.take_pictures()
    day.sign_out()


class Day:
    def __init__(self, gna, page):
        self.gna, self.page = gna, page

    def join(self):
        self.page.goto("/join")
        self.page.get_by_label("Email address").fill(EMAIL)
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_label("Password again", exact=True).fill(PASSWORD)
        assert violations(self.page) == []
        self.page.get_by_role("button", name="Create account").click()
        self.page.get_by_role("heading", name="Your sightings").wait_for()

    def verify(self):
        link = eventually(self._link)
        self.page.goto(link)
        self.page.get_by_role("button", name="Verify my address").click()
        self.page.get_by_role("heading", name="Your account").wait_for()
        assert self.page.get_by_text("Verified", exact=True).count() == 1

    def post_a_sighting(self):
        """The photo is so large that the page makes it smaller first; then it goes straight to the bucket."""
        self.page.goto("/sightings")
        self.page.get_by_role("link", name="Add your first sighting").click()
        self.page.get_by_label("Animal").fill("Red fox")
        self.page.get_by_label("Place").fill(PLACE)
        content = pictures.landscape(9) if os.environ.get("PICTURES") else pictures.heavy()
        photo = {"name": "IMG_0042.JPG", "mimeType": "image/jpeg", "buffer": content}
        self.page.get_by_label("Photo").set_input_files(photo)
        self.page.get_by_role("button", name="Save sighting").click()
        self.page.get_by_role("heading", name="Red fox").wait_for()
        self._wait_for_photo()

    def _wait_for_photo(self):
        """The page says that it is being prepared, and shows it on its own or when it is opened again."""

        def shown():
            self.page.reload()
            return self.page.locator("article img").count()

        eventually(shown)
        image = self.page.locator("article img")
        image.evaluate("image => image.decode()")
        assert max(image.evaluate("image => [image.naturalWidth, image.naturalHeight]")) <= 2048

    def edit_in_two_tabs(self):
        self.page.get_by_role("link", name="Edit").click()
        self.page.get_by_label("Animal").wait_for()
        other = self.page.context.new_page()
        other.goto(self.page.url)
        other.get_by_label("Animal").fill("Red fox with cubs")
        other.get_by_role("button", name="Save sighting").click()
        other.get_by_role("heading", name="Red fox with cubs").wait_for()
        other.close()
        self.page.get_by_label("Place").fill("Behind the old yew")
        self.page.get_by_role("button", name="Save sighting").click()
        self.page.get_by_role("heading", name="This sighting was changed meanwhile").wait_for()
        assert self.page.locator("mark").all_inner_texts() == ["Red fox with cubs", PLACE]
        self.page.get_by_label("Animal").fill("Red fox with cubs")
        self.page.get_by_role("button", name="Save my version").click()
        self.page.get_by_text("Behind the old yew").wait_for()
        self.page.get_by_role("heading", name="Red fox with cubs").wait_for()

    def share(self, browser):
        self.page.get_by_role("link", name="Share…").click()
        self.page.get_by_label("Place to show").fill(SHOWN)
        self.page.get_by_role("button", name="Share", exact=True).click()
        self.page.get_by_role("heading", name="Shared with").wait_for()
        desk = browser.new_page(base_url=self.gna.url)
        desk.goto("/admin/sightings")
        seen = desk.locator(".sightings").inner_text()
        assert re.findall(r"Red fox with cubs|Hertfordshire|Anonymous", seen) == [
            "Red fox with cubs",
            SHOWN,
            "Anonymous",
        ]
        assert "yew" not in desk.content()
        assert EMAIL not in desk.content()
        desk.close()

    def take_pictures(self):
        """For screenshots only: a few more sightings, and a wider window."""
        if not os.environ.get("PICTURES"):
            return
        for seed, (animal, place) in enumerate(MORE):
            self.page.goto("/sightings/new")
            self.page.get_by_label("Animal").fill(animal)
            self.page.get_by_label("Place").fill(place)
            photo = {"name": "p.jpg", "mimeType": "image/jpeg", "buffer": pictures.landscape(seed + 1)}
            self.page.get_by_label("Photo").set_input_files(photo)
            self.page.get_by_role("button", name="Save sighting").click()
            self.page.get_by_role("heading", name=animal).wait_for()
            self._wait_for_photo()
        fox = self.page.url
        self.page.screenshot(path=_place("10-sighting"))
        size = self.page.viewport_size
        self.page.set_viewport_size({"width": 1120, "height": 720})
        self.page.goto("/sightings")
        for image in self.page.locator(".tile img").all():
            image.evaluate("image => image.decode()")
        self.page.screenshot(path=_place("9-sightings"))
        self.page.set_viewport_size(size)
        self.page.goto(fox)

    def sign_out(self):
        here = self.page.url
        self.page.get_by_role("button", name="Sign out").click()
        self.page.get_by_role("heading", name="Sign in").wait_for()
        self.page.goto(here)
        self.page.get_by_label("Email address").fill(EMAIL)
        self.page.get_by_label("Password", exact=True).fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.locator("article").wait_for()
        assert self.page.url == here, "back to where one was going"

    def _link(self):
        texts = (mail["text"] for mail in self.gna.mails() if EMAIL in mail["to"])
        found = (re.search(rf"{re.escape(self.gna.url)}/verify\?token=\S+", text) for text in texts)
        return next((match[0] for match in found if match), None)


def _place(name):
    (ARTEFACTS / "day").mkdir(parents=True, exist_ok=True)
    return ARTEFACTS / "day" / f"{name}.png"
