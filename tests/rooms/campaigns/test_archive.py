import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from chalicelib.campaigns import service
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import CampaignDetail, Counts, Targeting, Terms
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft

UNKNOWN = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"
ATOM = "{http://www.w3.org/2005/Atom}"


def published(subject: str = "Hello", **fields: Any) -> CampaignDetail:
    detail = service.send_now(
        service.create(Draft(subject, **{"body": "<p>Hi {{nickname|friend}}</p>", **fields})).campaign.id
    )
    return deliveries.finish(detail.deliveries[0], Counts(1, 1))


def test_the_archive_lists_what_was_sent_newest_first(http):
    published("First & <last>")
    published("For {{nickname|you}}", preheader="Psst")
    page = http.get("/archive")
    assert page.status == 200
    assert page.text.index("For you") < page.text.index("First &amp; &lt;last&gt;")
    assert "Psst" in page.text


def test_an_archived_campaign_is_the_mail_without_a_readers_links(http):
    id = published().campaign.id
    page = http.get(f"/archive/{id}")
    assert page.status == 200
    assert "Hi friend" in page.text
    for private in ("unsubscribe", "token=", "/profile", "{{"):
        assert private not in page.text
    policy = page.headers["Content-Security-Policy"]
    assert "script-src" not in policy
    assert "default-src 'none'; style-src 'self'; style-src-attr 'unsafe-inline';" in policy


def test_a_campaign_can_be_read_from_the_moment_sending_starts(http):
    detail = service.create(Draft("Hello", "<p>Hi</p>"))
    url = f"/archive/{detail.campaign.id}"
    assert http.get(url).status == 404
    service.send_now(detail.campaign.id)
    assert http.get(url).status == 200


def test_what_went_to_some_is_not_shown_to_all(http):
    detail = published("Secret", targeting=Targeting(tags=Terms(any=("vip",))))
    assert "Secret" not in http.get("/archive").text
    assert "Secret" not in http.get("/archive/feed.xml").text
    assert http.get(f"/archive/{detail.campaign.id}").status == 404


def test_what_is_not_there_is_a_page_that_says_so(http):
    for path in ["/archive/nonsense", f"/archive/{UNKNOWN}", "/archive?page=0", "/archive?page=x"]:
        answer = http.get(path)
        assert answer.status in (400, 404)
        assert answer.text.startswith("<!doctype html>")


def test_the_feed_is_atom(http):
    assert http.get("/archive/feed.xml").status == 200
    detail = published("A & B", preheader="<i>")
    answer = http.get("/archive/feed.xml")
    assert answer.headers["Content-Type"].startswith("application/atom+xml")
    [entry] = ElementTree.fromstring(answer.text).findall(f"{ATOM}entry")
    assert entry.find(f"{ATOM}title").text == "A & B"
    assert entry.find(f"{ATOM}summary").text == "<i>"
    assert entry.find(f"{ATOM}id").text == f"urn:uuid:{detail.campaign.id}"
    assert entry.find(f"{ATOM}link").get("href") == f"https://news.example.org/archive/{detail.campaign.id}"


def test_pages_lead_on_to_older_ones(http, monkeypatch):
    from chalicelib.campaigns.content import archive

    monkeypatch.setattr(archive, "PER_PAGE", 2)
    for number in range(3):
        published(f"No {number}")
    first = http.get("/archive").text
    assert "No 2" in first
    assert "?page=2" in first
    second = http.get("/archive?page=2").text
    assert "No 0" in second
    assert "?page=3" not in second


def test_the_archive_can_be_switched_off(http, configure):
    id = published().campaign.id
    configure(ARCHIVE="false")
    for path in ("/archive", "/archive/feed.xml", f"/archive/{id}"):
        assert http.get(path).status == 404


def test_an_archived_campaign_has_a_main_landmark_and_the_mail_has_none(http):
    detail = published()
    page = http.get(f"/archive/{detail.campaign.id}").text
    assert page.count("<main") == page.count("</main>") == 1
    assert page.index("<main") < page.rindex("Hi friend") < page.index("</main>") < page.index("</body>")
    assert "<main" not in renderer.render(detail).html


def test_the_first_page_has_the_form_and_the_latest_issues(http):
    for number in range(7):
        published(f"No {number} & more")
    page = http.get("/")
    assert page.status == 200
    assert page.headers["Cache-Control"] == http.get("/archive").headers["Cache-Control"]
    assert 'action="https://news.example.org/api/subscribe"' in page.text
    assert [f"No {number} &amp; more" in page.text for number in range(7)] == [False] * 2 + [True] * 5
    assert 'href="https://news.example.org/archive"' in page.text
    assert http.head("/").status == 200


def test_the_first_page_is_whole_before_anything_was_sent(http):
    page = http.get("/").text
    assert "Latest issues" not in page
    assert page.count("<h1") == 1
    assert "<script" not in page


def test_the_first_page_shows_no_issues_while_the_archive_is_off(http, configure):
    published("Hidden")
    configure(ARCHIVE="false")
    page = http.get("/")
    assert page.status == 200
    assert "Hidden" not in page.text
    assert "/archive" not in page.text


@pytest.mark.parametrize(("site", "spoken"), [("de", "de"), ("pt-BR", "pt"), ("ja", "en")])
def test_pages_are_labelled_as_what_they_speak_and_what_was_written_as_what_it_is_in(http, configure, site, spoken):
    configure(SITE_LANG=site)
    id = published("Hallo").campaign.id
    for path in ("/", "/archive"):
        page = http.get(path).text
        assert f'<html lang="{spoken}">' in page
        assert re.search(rf'<div lang="{site}"[^>]*>\s*<h[23]><a [^>]*>Hallo', page)
    assert f'<html lang="{spoken}">' in http.get("/profile").text
    campaign = http.get(f"/archive/{id}").text
    assert f'<html lang="{spoken}">' in campaign
    assert re.search(rf'<h1 lang="{site}"[^>]*>Hallo', campaign)


def test_a_page_after_the_last_leads_to_the_latest(http):
    published()
    page = http.get("/archive?page=9").text
    assert "There is nothing on this page" in page
    assert 'href="https://news.example.org/archive">Latest</a>' in page
    assert "?page=8" not in page
