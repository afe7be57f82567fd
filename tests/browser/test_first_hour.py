"""A newcomer's first hour: from an empty dashboard to a public archive, once, through the local stack and a real
browser. Screenshots go to `artefacts/day/`; `make pictures` copies them for the README.
"""

import io
import json
import re
import zipfile

import pytest

from tests.browser.other_site import OtherSite
from tests.browser.page_checks import ARTEFACTS, Watched, shoot, violations
from tests.browser.test_day_in_the_life import LOOK
from tests.local.runner import Runner
from tests.waiting import eventually

READER, EDITOR = "rosalind@example.org", "gardener@garden.example.org"
NAME, TAGLINE, COLOUR = "Notes from the Allotment", "Vegetables, weather, and patience.", "#7a2e5d"
CAMPAIGN = "Everything is late this year"
# More than the first wave of fifty, so that there is a second one.
IMPORTED = 60
_HEADER = (
    "Email Address,First Name,Last Name,MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LATITUDE,LONGITUDE,"
    "GMTOFF,DSTOFF,TIMEZONE,CC,REGION,LAST_CHANGED,LEID,EUID,NOTES,TAGS\n"
)


@pytest.fixture
def blog():
    site = OtherSite()
    yield site
    site.stop()


@pytest.fixture
def gna(tmp_path, blog):
    runner = Runner(tmp_path / "local", LOCAL_TICK="1", ALLOWED_ORIGINS=blog.url, FEED_URL="")
    try:
        yield runner.start()
    finally:
        runner.stop()


@pytest.fixture
def page(browser, gna):
    context = browser.new_context(base_url=gna.url, viewport={"width": 1000, "height": 620})
    context.set_default_timeout(30_000)
    watched = Watched(context.new_page())
    yield watched.page
    context.close()
    assert watched.complaints == []
    assert {host.partition(":")[0] for host in watched.hosts} <= {"127.0.0.1", "data", "blob"}


def test_a_newcomers_first_hour(gna, page, blog, tmp_path):
    hour = FirstHour(gna, page)
    hour.see_what_there_is_to_do()
    hour.brand_it()
    hour.put_the_form_in(blog)
    hour.bring_the_list(tmp_path)
    hour.subscribe_yourself()
    hour.send_the_first_campaign()
    hour.show_it_around()


class FirstHour:
    def __init__(self, gna, page):
        self.gna, self.page = gna, page

    def see_what_there_is_to_do(self):
        self.page.goto("/admin")
        self.page.get_by_text("0 of 5 done").wait_for()
        assert violations(self.page) == []
        self._picture("15-first-overview")

    def brand_it(self):
        self.page.get_by_role("link", name="Open settings").click()
        self.page.get_by_label("Name", exact=True).fill(NAME)
        self.page.get_by_label("Tagline").fill(TAGLINE)
        self.page.locator("[name='colours.accent']").fill(COLOUR)
        self.page.get_by_role("button", name="Save").last.click()
        self.page.get_by_text("Saved.").first.wait_for()
        self._expect_done(1)

    def put_the_form_in(self, blog):
        """Copied from the page, pasted into a site on another origin."""
        self.page.goto("/admin")
        self.page.get_by_role("link", name="Get the form").click()
        self.page.get_by_label("Your site’s address").fill(blog.url)
        self.page.get_by_label("Source").fill("blog")
        self.page.get_by_label("Ask for a name").check()
        self.page.get_by_text(f"{blog.url} may use it.").wait_for()
        self.page.locator("#snippet", has_text="data-name").wait_for()
        self.page.frame_locator(".frame.live iframe").get_by_role("button").wait_for()
        self._picture("16-form-page")
        snippet = self.page.locator("#snippet").inner_text()
        self.page.goto(blog.show(f"<p>What grows, and what does not.</p>{snippet}", head=LOOK, name="The allotment"))
        self.page.get_by_label("Email address").fill(READER)
        self.page.get_by_label("Name").fill("Rosalind")
        self.page.get_by_role("button", name="Subscribe").click()
        self.page.get_by_text("check your inbox").wait_for()
        self._confirm(READER)
        self._expect_done(3)  # at home nobody is signed in, so that any reader may be the editor

    def bring_the_list(self, folder):
        path = folder / "mailchimp.zip"
        path.write_bytes(_mailchimp())
        self.page.goto("/admin")
        self.page.get_by_role("link", name="Import a list").click()
        self.page.get_by_label("CSV, text or zip").set_input_files(path)
        self.page.get_by_role("button", name="Read the file").click()
        self.page.get_by_role("heading", name="Recognised as Mailchimp").wait_for()
        self.page.get_by_role("heading", name=f"{IMPORTED} people would be imported").wait_for()
        self._picture("17-import")
        self.page.get_by_label("They signed up and confirmed").check()
        self.page.get_by_label("In your own words").fill("They confirmed at Mailchimp, since 2019.")
        self.page.get_by_role("button", name="Start the import").click()
        self.page.get_by_role("heading", name=f"{IMPORTED} people imported").wait_for(timeout=90_000)
        self._expect_done(4)

    def subscribe_yourself(self):
        self.page.goto(f"{self.gna.url}/subscribe")
        self.page.get_by_label("Email address").fill(EDITOR)
        self.page.get_by_role("button", name="Subscribe").click()
        self.page.get_by_text("Check your inbox").wait_for()
        self._confirm(EDITOR)
        self._expect_done(4)

    def send_the_first_campaign(self):
        """Whoever signed up gets it at once, those who were imported in waves."""
        self.page.goto("/admin")
        self.page.get_by_role("link", name="Write a campaign").first.click()
        self.page.get_by_label("Subject").fill(CAMPAIGN)
        self.page.get_by_label("Body", exact=True).fill("{{greeting}}!\n\n## Late\n\nThe beans are late. So am I.")
        self.page.get_by_role("button", name="Save and review").click()
        self.page.get_by_role("heading", name="Checks").wait_for()
        campaign_id = re.search(r"/campaigns/([^/]+)/", self.page.url)[1]
        self.page.goto(f"/admin/campaigns/{campaign_id}/send")
        self.page.get_by_role("button", name="Send").click()
        for address in (READER, EDITOR):
            eventually(lambda address=address: self._mails(address))
        waiting = eventually(lambda: self._delivery(campaign_id, "waiting"), 120)
        assert (waiting["wave"]["number"], waiting["wave"]["size"]) == (1, 50)
        self.page.goto(f"/admin/campaigns/{campaign_id}")
        shoot(self.page, "admin/first-waves")
        self.page.goto("/admin/campaigns")  # the other page loads itself again when all is sent
        path = f"/admin/api/campaigns/{campaign_id}/deliveries/{waiting['id']}/continue"
        assert self.gna.post(path, {})[0] in (200, 202)
        campaign = eventually(lambda: self._published(campaign_id), 120)
        assert campaign["deliveries"][0]["sent_count"] == IMPORTED + 2
        assert len(
            {address for mail in self.gna.mails() if mail["subject"] == CAMPAIGN for address in mail["to"]}
        ) == (IMPORTED + 2)

    def show_it_around(self):
        self.page.goto("/")
        self.page.get_by_role("heading", name=NAME).wait_for()
        self.page.get_by_text(TAGLINE).first.wait_for()
        self.page.get_by_role("link", name=CAMPAIGN).first.wait_for()
        assert violations(self.page) == []
        self._picture("18-home")
        self.page.goto("/archive")
        self.page.get_by_role("link", name=CAMPAIGN).first.click()
        self.page.get_by_role("heading", name="Late", exact=True).wait_for()
        self.page.goto("/admin")
        self.page.get_by_role("link", name="Getting started").wait_for()
        assert self.page.locator(".start").count() == 0, "all is done"

    def _expect_done(self, count):
        self.page.goto(f"{self.gna.url}/admin/start")
        assert self.page.locator(".start .split p").inner_text() == f"{count} of 5 done"

    def _confirm(self, address):
        def arrived():
            texts = (mail["text"] for mail in self._mails(address))
            found = (re.search(rf"{re.escape(self.gna.url)}/confirm\?token=\S+", text) for text in texts)
            return next((match[0] for match in found if match), None)

        self.page.goto(eventually(arrived))
        self.page.get_by_role("heading", name="Welcome").wait_for()

    def _mails(self, address):
        return [mail for mail in self.gna.mails() if address in mail["to"]]

    def _delivery(self, campaign_id, state):
        """The newest one, once its wave is in this state."""
        campaign = json.loads(self.gna.get(f"/admin/api/campaigns/{campaign_id}")[1])
        delivery = (campaign["deliveries"] or [{}])[0]
        return delivery if (delivery.get("wave") or {}).get("state") == state else None

    def _published(self, campaign_id):
        campaign = json.loads(self.gna.get(f"/admin/api/campaigns/{campaign_id}")[1])
        return campaign if campaign["state"] == "published" else None

    def _picture(self, name):
        (ARTEFACTS / "day").mkdir(parents=True, exist_ok=True)
        self.page.evaluate("scrollTo(0, 0)")
        self.page.screenshot(path=ARTEFACTS / "day" / f"{name}.png")


def _mailchimp():
    """Sixty who are subscribed, and some who are not any more."""
    files = {"subscribed": IMPORTED, "unsubscribed": 4, "cleaned": 3}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for status, count in files.items():
            rows = "".join(_row(status, number) for number in range(count))
            archive.writestr(f"{status}_segment_export_1a2b3c.csv", _HEADER + rows)
    return packed.getvalue()


def _row(status, number):
    at = f"2021-03-{number % 28 + 1:02} 10:{number % 60:02}:12"
    cells = [f"{status}{number}@example.net", "Ada", "Bean", "3", at, "198.51.100.7", at, "198.51.100.7"]
    return ",".join([*cells, *[""] * 7, at, str(number), f"e{number}", "", ""]) + "\n"
