"""A day in the life of an editor who curates, through the local stack and a real browser: accounts are connected at
the small YouTube and Spotify, a video, an episode, a saved link and a member's sighting arrive in the inbox, and five
items become a campaign with two sections that is reviewed, sent, read on a phone and found in the archive.

Screenshots go to `artefacts/day/`; `make pictures` takes them for the README.
"""

import json
import re
import urllib.request
from itertools import chain
from urllib.parse import urlsplit

import pytest
from PIL import Image
from playwright.sync_api import expect

from chalicelib.campaigns.content import blocks
from local.providers.catalogue import CHANNELS, SHOWS
from tests.browser.page_checks import ARTEFACTS, Watched
from tests.local.runner import Runner
from tests.waiting import eventually

READER, MEMBER, PASSWORD = "reader@example.org", "rosalind@example.org", "Double-Helix-1"
CHANNEL, SHOW = CHANNELS[0], SHOWS[0]
VIDEO, EPISODE = "The pond has frozen over", "What worms do in winter"
SUBJECT = "The slow week"
HEADINGS = ("To watch and to hear", "Seen and read")
NOTES = {VIDEO: "Stay for the robin at the end.", "Waxwing": "The first one this winter."}


@pytest.fixture
def gna(tmp_path):
    runner = Runner(tmp_path / "local")
    try:
        yield runner.start()
    finally:
        runner.stop()


@pytest.fixture
def page(browser, gna):
    context = browser.new_context(base_url=gna.url, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(20_000)
    watched = Watched(context.new_page())
    yield watched.page
    context.close()
    assert watched.complaints == []
    assert {host.partition(":")[0] for host in watched.hosts} <= {"127.0.0.1", "data"}


def test_a_day_in_the_life_of_a_curator(gna, page, browser):
    day = Day(gna, page)
    day.win_a_reader()
    day.connect()
    day.receive()
    day.save_a_link()
    day.receive_a_sighting()
    day.compose()
    day.send()
    day.read_on_a_phone(browser)


class Day:
    def __init__(self, gna, page):
        self.gna, self.page = gna, page

    def win_a_reader(self):
        self.gna.post("/api/subscribe", {"email": READER})
        self.page.goto(self._link(READER, "/confirm"))
        self.page.get_by_role("heading", name="Welcome!").wait_for()

    def connect(self):
        for label, mine, name in (
            ("YouTube", "From your subscriptions", CHANNEL.title),
            ("Spotify", "From your saved shows", SHOW.name),
        ):
            self.page.goto("/admin/following")
            self.page.get_by_role("link", name=f"Connect {label}", exact=True).click()
            self.page.get_by_role("button", name=f"Continue to {label}").click()
            self.page.get_by_role("button", name="Allow").click()
            expect(self.page.get_by_role("status").first).to_have_text(re.compile("Connected"))
            self.page.get_by_role("link", name=mine).click()
            self.page.get_by_role("button", name=f"Follow {name}").click()
            expect(self.page.get_by_role("status").first).to_have_text(re.compile("Followed"))
        self.page.goto("/admin/following")
        self._picture("11-following")

    def receive(self):
        """The video is pushed. Nothing announces an episode: the editor syncs."""
        self._publish(CHANNEL.id, VIDEO)
        self._publish(SHOW.id, EPISODE)
        follows = json.loads(self.gna.get("/admin/api/follows?provider=SPOTIFY")[1])["items"]
        assert json.loads(self.gna.post(f"/admin/api/follows/{follows[0]['id']}/sync", {})[1])["items_found"] == 1
        eventually(lambda: {VIDEO, EPISODE} <= self._titles())

    def save_a_link(self):
        self.page.goto("/demo/")
        post = self.page.locator("a[href*='/demo/posts/']").first.get_attribute("href")
        self.page.goto(f"/admin/inbox/add?url={self.gna.url}{post}")
        self.page.get_by_role("button", name="Save").click()
        self.link = self.page.get_by_role("heading", level=1).inner_text()
        assert self.link in self._titles()

    def receive_a_sighting(self):
        body = {"email": MEMBER, "password": PASSWORD, "password_confirm": PASSWORD}
        call = _Session(self.gna.url)
        call("/api/auth/signup", body)
        call("/api/auth/verify", {"token": self._link(MEMBER, "/verify").partition("token=")[2]})
        seen = call("/api/sightings", {"animal_name": "Waxwing", "location": "4 Orchard Lane"})
        call(f"/api/sightings/{seen['id']}/share", {"shown_location": "Linz", "credit": "R."})
        eventually(lambda: "Waxwing" in self._titles())

    def compose(self):
        self.page.goto("/admin/inbox")
        eventually(self._pictures_are_copied)
        self.page.reload()
        expect(self.page.locator(".arrived h2")).to_have_count(6)
        self._picture("12-inbox")
        older = min(self._titles() - {VIDEO, EPISODE, "Waxwing", self.link})
        sections = {HEADINGS[0]: [VIDEO, EPISODE], HEADINGS[1]: ["Waxwing", self.link, older]}
        for title in chain.from_iterable(sections.values()):
            self.page.get_by_role("checkbox", name=title).check()
        self.page.keyboard.press("c")
        self.page.get_by_role("heading", name="Compose", level=1).wait_for()
        expect(self.page.get_by_text("Already in")).to_have_count(0)
        self._arrange(sections)
        self.page.mouse.move(0, 0)
        self.page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        self._picture("13-compose")
        self.page.get_by_role("button", name="Compose").click()
        expect(self.page.get_by_role("status").first).to_contain_text("Composed.")
        self.campaign = urlsplit(self.page.url).path
        found = [getattr(one, "title", "") or one.text for one in blocks.parse(self._body())]
        assert found == [HEADINGS[0], VIDEO, EPISODE, HEADINGS[1], "Waxwing", self.link, older]

    def _arrange(self, sections):
        """All are at the top. Whatever leaves a section downwards is the first of the next one, so the last one of
        the last section goes first."""
        for number, heading in enumerate(sections, 2):
            self.page.get_by_label(f"Heading of section {number}").fill(heading)
        for number, titles in reversed(list(enumerate(sections.values(), 2))):
            part = self.page.get_by_role("group", name=f"Section {number}")
            for title in reversed(titles):
                while not part.get_by_role("heading", name=title).count():
                    self.page.get_by_role("button", name=f"Move down: {title}").click()
        for title, note in NOTES.items():
            self.page.get_by_label(f"Note on {title}").fill(note)

    def send(self):
        self.page.get_by_label("Subject").fill(SUBJECT)
        self.page.get_by_role("button", name="Save and review").click()
        self.page.get_by_role("heading", name="Checks").wait_for()
        self.page.goto(f"{self.campaign}/send")
        self.page.get_by_role("button", name=re.compile("Send")).first.click()
        self.mail = eventually(lambda: next((m for m in self.gna.mails() if m["subject"] == SUBJECT), None))
        for words in (VIDEO, EPISODE, "Waxwing", self.link, *HEADINGS, *NOTES.values()):
            assert words in self.mail["text"]
        used = {entry["title"]: entry["used_in"] for entry in self._entries()}
        assert [use["subject"] for use in used[VIDEO]] == [SUBJECT]

    def read_on_a_phone(self, browser):
        phone = browser.new_context(base_url=self.gna.url, viewport={"width": 390, "height": 844}, is_mobile=True)
        watched = Watched(phone.new_page())
        eventually(lambda: self.gna.get(f"/archive/{self.campaign.rpartition('/')[2]}")[0] == 200)
        watched.page.goto(f"/archive/{self.campaign.rpartition('/')[2]}")
        for heading in HEADINGS:
            watched.page.get_by_role("heading", name=heading).wait_for()
        for image in watched.page.locator("img").all():
            image.evaluate("image => image.decode()")
        _save(watched.page, "14-issue")
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert {host.partition(":")[0] for host in watched.hosts} <= {"127.0.0.1", "data"}
        phone.close()

    def _entries(self):
        return json.loads(self.gna.get("/admin/api/inbox?limit=100")[1])["items"]

    def _body(self):
        return json.loads(self.gna.get(self.campaign.replace("/admin/", "/admin/api/"))[1])["body"]

    def _titles(self):
        return {entry["title"] for entry in self._entries()}

    def _pictures_are_copied(self):
        followed = [entry for entry in self._entries() if entry["provider"] in ("YOUTUBE", "SPOTIFY")]
        return all(entry["image_url"] for entry in followed)

    def _publish(self, where, title):
        body = json.dumps({"where": where, "title": title}).encode()
        asked = urllib.request.Request(
            f"{self.gna.providers_url}/control/publish", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=20) as answer:
            assert answer.status == 200

    def _link(self, address, path):
        def arrived():
            texts = (mail["text"] for mail in self.gna.mails() if address in mail["to"])
            found = (re.search(rf"{re.escape(self.gna.url + path)}\?token=\S+", text) for text in texts)
            return next((match[0] for match in found if match), None)

        return eventually(arrived)

    def _picture(self, name):
        for image in self.page.locator("img").all():
            image.evaluate("image => { image.loading = 'eager'; return image.decode(); }")
        _save(self.page, name)


class _Session:
    """A member's calls, with the cookie that signing up has set."""

    def __init__(self, url):
        self.url, self.cookie = url, ""

    def __call__(self, path, body):
        headers = {"Content-Type": "application/json", "Cookie": self.cookie}
        asked = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(asked, timeout=20) as answer:
            self.cookie = (answer.headers["Set-Cookie"] or self.cookie).partition(";")[0]
            text = answer.read().decode()
            return json.loads(text) if text else None


def _save(page, name):
    """With 256 colours: the pictures of items would make it large."""
    place = ARTEFACTS / "day" / f"{name}.png"
    place.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=place)
    Image.open(place).convert("RGB").quantize(256).save(place, optimize=True)
