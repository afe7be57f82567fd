"""Every field of the publication, changed over the API and seen where readers meet it; null, and it is gone again."""

import json
from datetime import UTC, datetime

import pytest

from chalicelib.audience import jobs
from chalicelib.feeds import service as feeds
from chalicelib.feeds.state import Result, Trigger
from chalicelib.kernel import clock
from tests.conftest import received
from tests.rooms.audience.reader import Reader
from tests.rooms.campaigns.test_archive import published

SITE = "/admin/api/site"


@pytest.fixture
def reader(http, ses):
    def deliver():
        for message in received("audience"):
            jobs.handle(message)

    return lambda email: Reader(http, ses, deliver, email)


@pytest.fixture
def seen(admin, ses, reader):
    """`seen()`: everything a reader meets, by name: pages, feeds, a confirmation and a test of a campaign."""
    id = published("Beans", body="<p>Text</p>").campaign.id
    asked = []

    def look():
        asked.append(f"reader{len(asked)}@example.net")
        somebody = reader(asked[-1])
        somebody.subscribe()
        confirmation = somebody.mails()[0]
        answer = admin.post(f"/admin/api/campaigns/{id}/test", json={"email": asked[-1]})
        assert answer.status == 200, answer.text
        campaign = somebody.mails()[0]
        assert campaign["id"] != confirmation["id"]
        paths = (
            "/",
            "/subscribe",
            "/archive",
            f"/archive/{id}",
            "/archive/feed.xml",
            "/archive/feed.json",
            "/style.css",
        )
        shown = {"campaign page" if id in path else path: admin.get(path).text for path in paths}
        mails = {"confirmation": confirmation, "campaign": campaign}
        return shown | {name: json.dumps(mail, ensure_ascii=False) for name, mail in mails.items()}

    return look


PAGES = {"/", "/subscribe", "/archive", "campaign page"}
FEEDS = {"/archive/feed.xml", "/archive/feed.json"}
MAILS = {"confirmation", "campaign"}


@pytest.mark.parametrize(
    ("sent", "text", "places"),
    [
        ({"name": "Der Garten"}, "Der Garten", PAGES | FEEDS | MAILS),
        ({"tagline": "Was so wächst"}, "Was so wächst", {"/", "campaign page"} | FEEDS),
        ({"colours": {"accent": "#123456"}}, "#123456", {"/style.css"} | MAILS),
        ({"language": "de"}, 'lang="de"', PAGES),
        ({"language": "de"}, "Abonnieren", PAGES),
        ({"language": "de"}, 'lang=\\"de\\"', MAILS),
        ({"postal_address": "Am Weg 1, 12345 Berlin"}, "Am Weg 1, 12345 Berlin", MAILS),
        ({"contact_email": "garten@example.org"}, "garten@example.org", MAILS),
        ({"footer": "Seit 2019."}, "Seit 2019.", PAGES | MAILS),
        ({"confirmation": {"sentence": "Bitte ja sagen."}}, "Bitte ja sagen.", {"confirmation"}),
        ({"confirmation": {"button": "Aber ja"}}, "Aber ja", {"confirmation"}),
    ],
)
def test_a_change_is_seen_everywhere_it_belongs_and_null_takes_it_back(admin, seen, sent, text, places):
    assert not [place for place, shown in seen().items() if text in shown and text != "Abonnieren"]
    assert admin.patch(SITE, json=sent).status == 200
    assert places <= {place for place, shown in seen().items() if text in shown}
    assert admin.patch(SITE, json=dict.fromkeys(sent)).status == 200
    assert not [place for place, shown in seen().items() if text in shown]


def test_the_words_after_a_confirmation_are_on_its_page(admin, reader):
    admin.patch(SITE, json={"confirmation": {"afterwards": "Der erste Brief kommt Sonntag."}})
    ada = reader("ada@example.net")
    ada.subscribe()
    page = admin.get(ada.confirm().headers["Location"].removeprefix("https://news.example.org"))
    assert "Der erste Brief kommt Sonntag." in page.text
    assert '<html lang="en">' in page.text


def test_the_time_zone_decides_the_day(admin, monkeypatch):
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 11, 18, 23, 30, tzinfo=UTC))
    published("Late")
    assert "18 November 2026" in admin.get("/archive").text
    admin.patch(SITE, json={"time_zone": "Europe/Berlin", "language": "fr"})
    assert "19 novembre 2026" in admin.get("/archive").text


def test_without_the_archive_the_first_page_stays_and_the_rest_is_gone(admin):
    id = published("Beans").campaign.id
    admin.patch(SITE, json={"archive": False})
    assert admin.get("/").status == 200
    assert "Beans" not in admin.get("/").text
    for path in ("/archive", f"/archive/{id}", "/archive/feed.xml", "/archive/feed.json", "/archive?q=beans"):
        assert admin.get(path).status == 404
    assert id not in admin.get("/sitemap.xml").text
    admin.patch(SITE, json={"archive": None})
    assert admin.get(f"/archive/{id}").status == 200


@pytest.mark.parametrize(
    ("sent", "result"),
    [
        ({}, Result.SENT),
        ({"mode": "review"}, Result.DRAFTED),
        ({"hold": 30}, Result.WAITING),
        ({"digest": "daily", "digest_at": "09:00"}, Result.WAITING),
    ],
    ids=str,
)
def test_what_becomes_of_a_post_is_as_the_publication_says(admin, ses, blog, sent, result):
    assert feeds.check(Trigger.SCHEDULE).result is Result.FIRST
    admin.patch(SITE, json={"feed": sent})
    blog.publish("News", datetime.now(UTC))
    assert feeds.check(Trigger.SCHEDULE).result is result


def test_infrastructure_is_shown_and_cannot_be_changed(admin, ses):
    before = admin.get("/admin/settings").text
    assert "ALLOWED_ORIGINS" in before
    for name in ("site_url", "from_email", "allowed_origins", "signing_key", "feed_url", "disable_auth"):
        assert admin.patch(SITE, json={name: "https://elsewhere.example"}).status == 400
    assert admin.patch(SITE, json={"feed": {"url": "https://elsewhere.example"}}).status == 400
    assert "https://elsewhere.example" not in admin.get("/admin/settings").text


def test_what_was_answered_can_be_changed_and_sent_back(admin):
    whole = admin.get(SITE).json
    answer = admin.patch(SITE, json=whole | {"name": "Der Garten"})
    assert answer.status == 200, answer.text
    assert (answer.json["name"], answer.json["version"]) == ("Der Garten", 1)
    assert admin.patch(SITE, json=whole).status == 409


def test_the_history_shows_the_last_fifty(admin):
    for number in range(52):
        admin.patch(SITE, json={"tagline": f"Number {number}"})
    entries = admin.get(f"{SITE}/history").json["entries"]
    assert [entry["version"] for entry in entries] == list(range(52, 2, -1))
    assert admin.post(f"{SITE}/history", json={"restore": 1}).json["tagline"] == "Number 0"


def test_the_form_on_other_sites_follows_within_a_minute(admin):
    before = admin.get("/embed.js")
    admin.patch(SITE, json={"language": "de"})
    after = admin.get("/embed.js", headers={"If-None-Match": before.headers["ETag"]})
    assert after.status == 200
    assert after.headers["Cache-Control"] == "public, max-age=30"
