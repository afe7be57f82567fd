"""A day in the life of a newsletter: everything, once, through the local stack and a real browser.

Screenshots go to `artefacts/day/`; `make pictures` takes them with demo data, for the README.
"""

import io
import json
import os
import re
import subprocess
import sys
import urllib.request
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from PIL import Image, ImageDraw

from tests.browser.other_site import OtherSite
from tests.browser.page_checks import ARTEFACTS, Watched, shoot, violations
from tests.local.runner import ROOT, Runner
from tests.waiting import eventually

EMAIL, NEW_EMAIL, NAME = "rosalind@example.org", "rosie.f@example.net", "Rosalind"
BOUNCING = "bounce@simulator.amazonses.com"
POST, CAMPAIGN = "First frost, last beans", "A campaign by hand"
LOOK = """<style>
body { margin: 0; background: #fbf7ef; color: #2b2a26; font: 18px/1.6 Georgia, serif }
main { max-width: 34rem; margin: 3.5rem auto; padding: 0 1rem }
.gna-form { margin-top: 1.5rem; padding: 1.25rem 1.5rem; background: #fff; border: 1px solid #e4dccb }
.gna-field { margin: 0 0 .8rem } .gna-field label { display: block; font-weight: bold }
.gna-field input { width: 100%; box-sizing: border-box; padding: .5rem; font: inherit; border: 1px solid #a89f8c }
.gna-form button { padding: .5rem 1.2rem; font: inherit; color: #fff; background: #6b3f2a; border: 0 }
.gna-form input, .gna-form button, .gna-form { border-radius: 10px } .gna-status { margin: .8rem 0 0 }
</style>"""


@pytest.fixture
def other_site():
    other_site = OtherSite()
    yield other_site
    other_site.stop()


@pytest.fixture
def gna(tmp_path, other_site):
    runner = Runner(tmp_path / "local", LOCAL_TICK="1", ALLOWED_ORIGINS=other_site.url)
    try:
        yield runner.start()
    finally:
        runner.stop()


@pytest.fixture
def page(browser, gna):
    context = browser.new_context(base_url=gna.url, viewport={"width": 1120, "height": 720})
    context.set_default_timeout(20_000)
    watched = Watched(context.new_page())
    yield watched.page
    context.close()
    assert watched.complaints == []
    assert {host.partition(":")[0] for host in watched.hosts} <= {"127.0.0.1", "data", "blob"}


def test_a_day_in_the_life(gna, page, other_site):
    day = Day(gna, page)
    day.fill_with_demo_data()
    day.sign_up(other_site)
    day.confirm()
    day.let_somebody_bounce()
    day.publish_a_post()
    day.change_address()
    day.write_a_campaign()
    day.read_the_archive()
    day.look_at_the_bounce()
    day.export()
    day.leave()
    day.find_nothing()


class Day:
    def __init__(self, gna, page):
        self.gna, self.page = gna, page
        self.secrets = set()

    def fill_with_demo_data(self):
        """For screenshots only: an empty dashboard shows little."""
        if os.environ.get("PICTURES"):
            env = {**os.environ, "LOCAL_DIR": str(self.gna.folder)}
            subprocess.run([sys.executable, "-m", "local.demo"], cwd=ROOT, env=env, check=True)

    def sign_up(self, other_site):
        form = f'<script src="{self.gna.url}/embed.js" data-source="friend" data-name async></script>'
        words = "<p>I write about bread, and about waiting for it. Once a month you can have it by mail.</p>"
        self.page.goto(other_site.show(words + form, head=LOOK, name="Bread, slowly"))
        self.page.get_by_label("Email address").fill(EMAIL)
        self.page.get_by_label("Name").fill(NAME)
        self.page.get_by_role("button", name="Subscribe").click()
        self.page.get_by_text("check your inbox").wait_for()
        self._picture("1-form")

    def confirm(self):
        link = self._link(EMAIL, "/confirm")
        self._open_mailbox(EMAIL)
        self._picture("2-confirmation")
        self.page.goto(link)
        self.page.get_by_role("heading", name="Welcome! Your subscription is confirmed").wait_for()

    def let_somebody_bounce(self):
        assert self.gna.post("/api/subscribe", {"email": BOUNCING})[0] == 201
        status, _ = self.gna.get(self._link(BOUNCING, "/confirm").removeprefix(self.gna.url))
        assert status == 200

    def publish_a_post(self):
        eventually(lambda: json.loads(self.gna.get("/admin/api/feed")[1])["last_check"])
        self.page.goto("/demo/")
        self.page.get_by_label("Title").fill(POST)
        self.page.get_by_label("Text").fill("The beans knew before the forecast did.\n\nTomorrow there will be soup.")
        self.page.get_by_role("button", name="Publish").click()
        self.page.get_by_role("link", name=POST).wait_for()
        mail = self._mail(EMAIL, POST)
        assert NAME in mail["text"]
        self._open_mailbox(EMAIL)
        self._picture("3-campaign")

    def change_address(self):
        """By magic link to the profile, and from there to a new address."""
        self.page.goto("/profile")
        self.page.get_by_label("Your email address").first.fill(EMAIL)
        self.page.get_by_role("button", name="Email me a link").click()
        self.page.get_by_text("a link is on its way").wait_for()
        self.page.goto(self._link(EMAIL, "/profile"))
        self._picture("4-profile")
        self.page.get_by_label("Email address").fill(NEW_EMAIL)
        self.page.get_by_role("button", name="Save").click()
        self.page.get_by_text("open the link we sent there").wait_for()
        self.page.goto(self._link(NEW_EMAIL, "/confirm"))
        self.page.get_by_text("Your new address is confirmed").wait_for()

    def write_a_campaign(self):
        self.page.goto("/admin/campaigns/new")
        self.page.get_by_label("Subject").fill(CAMPAIGN)
        self.page.get_by_label("Body", exact=True).fill("{{greeting}}!\n\n## Soup\n\nIt was *very* good soup.\n\n")
        self._add_a_picture()
        self.page.get_by_text(re.compile(r"Saved \d\d:\d\d")).wait_for()
        self._picture("19-editor")
        self.page.get_by_role("button", name="Save and review").click()
        self.page.get_by_role("heading", name="Checks").wait_for()
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        self.page.get_by_label("Date and time").fill(tomorrow.strftime("%Y-%m-%dT09:00"))
        self.page.get_by_label("Time zone").fill("Europe/Berlin")
        self.page.get_by_role("button", name="Schedule").click()
        self.page.get_by_text("Scheduled for").wait_for()
        self._picture("5-review")
        campaign_id = re.search(r"/campaigns/([^/]+)/", self.page.url)[1]
        soon = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
        status, said = self.gna.post(f"/admin/api/campaigns/{campaign_id}/schedule", {"scheduled_at": soon})
        assert status == 200, said
        self._mail(NEW_EMAIL, CAMPAIGN)
        campaign = eventually(lambda: self._published(campaign_id))
        counts = campaign["deliveries"][0]
        assert counts["sent_count"] + counts["failure_count"] == counts["recipients"]
        self.page.goto(f"/admin/campaigns/{campaign_id}")
        self.page.get_by_role("heading", name="Email delivery").wait_for()
        self._picture("6-report")

    def read_the_archive(self):
        self.page.goto("/archive")
        assert violations(self.page) == []
        shoot(self.page, "public/archive-full")
        self.page.get_by_role("link", name=CAMPAIGN).click()
        self.page.get_by_role("heading", name="Soup").wait_for()
        assert not _found({EMAIL, NEW_EMAIL, NAME}, self.page.content())

    def look_at_the_bounce(self):
        bounced = eventually(lambda: json.loads(self.gna.get("/admin/api/bounces")[1])["items"])
        assert {bounce["email"] for bounce in bounced} == {BOUNCING}
        assert any(bounce["delivery_id"] for bounce in bounced)
        self.page.goto("/admin/bounces")
        self.page.get_by_text(BOUNCING).first.wait_for()
        self._picture("7-bounces")

    def export(self):
        self.page.goto("/admin")
        self.page.get_by_role("heading", name="Overview").wait_for()
        self._picture("8-dashboard")
        self.page.goto("/admin/subscribers")
        with self.page.expect_download() as started:
            self.page.get_by_role("button", name="Export", exact=True).click()
        exported = started.value.path().read_text("utf-8-sig")
        assert NEW_EMAIL in exported
        assert EMAIL not in exported

    def leave(self):
        """As a mail program does it: one POST to the address in the header, no cookie, no page, no redirect."""
        headers = self._mail(NEW_EMAIL, CAMPAIGN)["headers"]
        assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        link = re.search(r"<(http[^>]+)>", headers["List-Unsubscribe"])[1]
        self.secrets.add(link.partition("token=")[2].partition(".")[2])
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        with urllib.request.urlopen(urllib.request.Request(link, b"List-Unsubscribe=One-Click", form)) as answer:
            assert (answer.status, answer.url) == (200, link)

    def find_nothing(self):
        words = {EMAIL, NEW_EMAIL, NAME, *self.secrets}
        assert len(words) == 7  # of three mailed links, and of the one in the header
        eventually(lambda: not _found(words, self._stored()))
        assert _found(words, self.gna.output) == set()
        assert BOUNCING in self._stored()  # so that we know where we looked
        assert self.gna.stop() == 0
        assert _found(words, self._kept_on_disk()) == set()
        assert BOUNCING in self._kept_on_disk()

    def _stored(self):
        """Every row of every table and every message of every queue, as text."""
        where = json.loads((self.gna.folder / "running.json").read_text())
        keys = {
            "endpoint_url": where["AWS_ENDPOINT_URL"],
            "region_name": where["AWS_DEFAULT_REGION"],
            "aws_access_key_id": where["AWS_ACCESS_KEY_ID"],
            "aws_secret_access_key": where["AWS_SECRET_ACCESS_KEY"],
        }
        dynamodb, sqs = boto3.client("dynamodb", **keys), boto3.client("sqs", **keys)
        names = dynamodb.list_tables()["TableNames"]
        assert len(names) > 10
        rows = [page["Items"] for name in names for page in dynamodb.get_paginator("scan").paginate(TableName=name)]
        queues = sqs.list_queues()["QueueUrls"]
        asked = {"MaxNumberOfMessages": 10, "VisibilityTimeout": 0}
        messages = [sqs.receive_message(QueueUrl=url, **asked).get("Messages", []) for url in queues]
        return json.dumps([rows, messages], default=str, ensure_ascii=False)

    def _kept_on_disk(self):
        """Everything the local stack leaves behind, except the mailbox: what was mailed is out of our hands."""
        files = [file for file in self.gna.folder.rglob("*") if file.is_file() and "mailbox" not in file.parts]
        return "".join(file.read_text(errors="replace") for file in files)

    def _published(self, campaign_id):
        campaign = json.loads(self.gna.get(f"/admin/api/campaigns/{campaign_id}")[1])
        return campaign if campaign["state"] == "published" else None

    def _mail(self, address, subject):
        def arrived():
            return next(
                (mail for mail in self.gna.mails() if address in mail["to"] and mail["subject"] == subject), None
            )

        return eventually(arrived)

    def _link(self, address, path):
        """The one of this kind in the newest mail to that address."""

        def arrived():
            texts = (mail["text"] for mail in self.gna.mails() if address in mail["to"])
            found = (re.search(rf"{re.escape(self.gna.url + path)}\?token=\S+", text) for text in texts)
            return next((match[0] for match in found if match), None)

        link = eventually(arrived)
        if address != BOUNCING:
            self.secrets.add(link.partition("token=")[2].partition(".")[2])
        return link

    def _add_a_picture(self):
        with self.page.expect_file_chooser() as chooser:
            self.page.get_by_role("button", name="Picture", exact=True).click()
        chooser.value.set_files({"name": "soup.jpg", "mimeType": "image/jpeg", "buffer": _paint_soup()})
        described = self.page.get_by_label("What does soup.jpg show?")
        described.fill("A bowl of soup on the table")
        described.press("Enter")
        body = self.page.get_by_label("Body", exact=True)
        eventually(lambda: re.search(r"!\[A bowl of soup on the table\]\(http\S+/media/\S+\)", body.input_value()))

    def _open_mailbox(self, address):
        self.page.goto(self.gna.mail_url)
        self.page.get_by_role("searchbox").fill(address)
        self.page.locator("#list button").first.click()
        self.page.frame_locator("iframe").locator("body").wait_for()

    def _picture(self, name):
        (ARTEFACTS / "day").mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=ARTEFACTS / "day" / f"{name}.png")


def _paint_soup():
    image = Image.new("RGB", (1600, 900), "#e9dcc3")
    brush = ImageDraw.Draw(image)
    for box, colour in (
        ((0, 560, 1600, 900), "#a9794f"),
        ((420, 330, 1180, 800), "#2f4858"),
        ((420, 270, 1180, 560), "#f6f1e5"),
        ((470, 300, 1130, 530), "#c8622d"),
    ):
        brush.rectangle(box, colour) if box[0] == 0 else brush.ellipse(box, colour)
    for left, top in ((620, 370), (760, 430), (900, 360), (1000, 430), (690, 450)):
        brush.ellipse((left, top, left + 46, top + 28), "#6f8f3a")
    painted = io.BytesIO()
    image.save(painted, "JPEG", quality=88)
    return painted.getvalue()


def _found(words, text):
    return {word for word in words if word.casefold() in text.casefold()}
