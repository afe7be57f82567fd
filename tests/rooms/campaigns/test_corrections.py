"""What the archive shows of a campaign after it was sent: hidden, shown again, corrected with a note."""

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from chalicelib.campaigns import content_store, service
from chalicelib.campaigns.content import corrections, renderer
from chalicelib.campaigns.content.corrections import NewCorrection
from chalicelib.campaigns.model import Content, Targeting, Terms
from chalicelib.campaigns.sending import deliveries
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Conflict, NotFound
from tests.rooms.campaigns.api import API, created, in_state
from tests.rooms.campaigns.test_archive import ATOM, published

REFUSED = {"error": "Operation not allowed in current state"}
FIXED = {"body": "<p>On Thursday, {{nickname|friend}}</p>", "note": "It is on Thursday <b>not</b> Tuesday"}


def entries(http: Any) -> list[ElementTree.Element]:
    return ElementTree.fromstring(http.get("/archive/feed.xml").text).findall(f"{ATOM}entry")


def text_of(http: Any, id: str) -> str:
    answer = http.get(f"/archive/{id}")
    assert answer.status == 200
    return str(answer.text)


def test_a_hidden_campaign_is_nowhere_in_the_archive_until_it_is_shown_again(admin, http):
    id, other = published("Secret").campaign.id, published("Public").campaign.id
    answer = admin.patch(f"{API}/{id}", json={"hidden": True})
    assert (answer.status, answer.json["hidden"], answer.json["state"]) == (200, True, "published")
    assert http.get(f"/archive/{id}").status == 404
    assert http.get(f"/archive/{id}").headers["Cache-Control"] == "no-store"
    assert "Secret" not in http.get("/archive").text
    assert [entry.find(f"{ATOM}id").text for entry in entries(http)] == [f"urn:uuid:{other}"]
    assert [line["hidden"] for line in admin.get(API).json["items"]] == [False, True]
    assert admin.patch(f"{API}/{id}", json={"hidden": False}).json["hidden"] is False
    assert http.get(f"/archive/{id}").status == 200
    assert "Secret" in http.get("/archive").text
    assert len(entries(http)) == 2


def test_no_cache_keeps_an_archived_page_for_longer_than_a_minute(http):
    id = published().campaign.id
    for path in ("/archive", "/archive/feed.xml", f"/archive/{id}"):
        assert http.get(path).headers["Cache-Control"] == "public, max-age=30, must-revalidate"


@pytest.mark.parametrize("state", ["draft", "scheduled", "publishing", "published", "failed"])
def test_hiding_is_allowed_in_every_state_and_changes_nothing_else(admin, state):
    before = in_state(admin, state)
    after = admin.patch(f"{API}/{before['id']}", json={"hidden": True, "version": before["version"]}).json
    changing = ("hidden", "updated_at", "version", "removed")
    assert {name: after[name] for name in before if name not in changing} == {
        name: before[name] for name in before if name not in changing
    }
    stale = admin.patch(f"{API}/{before['id']}", json={"hidden": False, "version": before["version"]})
    assert stale.status == 409


def test_hiding_opens_no_way_to_edit_what_was_sent(admin):
    campaign = in_state(admin, "published")
    for fields in ({"hidden": True, "subject": "Other"}, {"hidden": True, "body": "<p>x</p>"}, {}):
        answer = admin.patch(f"{API}/{campaign['id']}", json=fields)
        assert (answer.status, answer.json) == (409, REFUSED)
    for value in (None, "true", 1):
        answer = admin.patch(f"{API}/{campaign['id']}", json={"hidden": value})
        assert (answer.status, answer.json) == (400, {"error": "hidden must be true or false"})
    assert admin.get(f"{API}/{campaign['id']}").json == campaign


def test_what_should_never_have_been_sent_can_be_hidden(admin, http):
    """Before bodies were checked, a campaign could be sent that cannot be rendered, or with a wrong placeholder."""
    for body in ("<p>a <![ b</p>", "<p>Hi {{first_name}}</p>"):
        campaign = in_state(admin, "published")
        tables.put(content_store.build_row(campaign["id"], Content(body)))
        answer = admin.patch(f"{API}/{campaign['id']}", json={"hidden": True})
        assert (answer.status, answer.json["hidden"]) == (200, True)
        assert http.get(f"/archive/{campaign['id']}").status == 404


def test_the_mail_of_a_hidden_campaign_does_not_lead_to_a_page_that_is_not_there(aws):
    detail = service.create(service.Draft("Hello", "<p>Hi</p>"))
    assert f"/archive/{detail.campaign.id}" in renderer.render(detail).html
    assert "/archive/" not in renderer.render(service.hide(detail.campaign.id, True)).html


def test_a_correction_is_shown_with_its_date_and_note(admin, http, monkeypatch):
    detail = published("Hello", preheader="On Tuesday")
    id = detail.campaign.id
    monkeypatch.setattr(clock, "now", lambda: clock.parse("2026-11-17T09:30:00Z"))
    answer = admin.post(
        f"{API}/{id}/correction", json={**FIXED, "subject": "Hello again", "preheader": "On Thursday"}
    )
    assert (answer.status, answer.json["removed"]) == (200, [])
    assert answer.json["correction"] == {
        "subject": "Hello again",
        "preheader": "On Thursday",
        "note": FIXED["note"],
        "corrected_at": "2026-11-17T09:30:00.000Z",
    }
    page = text_of(http, id)
    assert "Corrected on 17 November 2026:" in page
    assert "It is on Thursday &lt;b&gt;not&lt;/b&gt; Tuesday" in page
    assert "On Thursday, friend" in page
    assert "Hello again" in page
    assert "Hi friend" not in page
    assert "On Tuesday" not in http.get("/archive").text
    [entry] = entries(http)
    assert entry.find(f"{ATOM}title").text == "Hello again"
    assert entry.find(f"{ATOM}updated").text == "2026-11-17T09:30:00.000Z"


def test_what_was_sent_stays_as_it_was(admin):
    sent = in_state(admin, "failed")
    mail = renderer.render(service.view(sent["id"]))
    admin.post(f"{API}/{sent['id']}/correction", json={**FIXED, "subject": "Other"})
    after = admin.get(f"{API}/{sent['id']}").json
    assert (after["subject"], after["body"]) == (sent["subject"], sent["body"])
    deliveries.retry(sent["id"], sent["deliveries"][0]["id"])
    assert renderer.render(service.view(sent["id"])) == mail


def test_a_correction_is_read_corrected_again_and_withdrawn(admin, http):
    id = published().campaign.id
    url = f"{API}/{id}/correction"
    assert (admin.get(url).status, admin.get(url).json) == (404, {"error": "This campaign has no correction"})
    admin.post(url, json={**FIXED, "subject": "First"})
    assert admin.get(url).json["body"] == FIXED["body"]
    second = admin.post(url, json={"body": "<p>On Friday</p>", "note": "It is on Friday"}).json
    assert (second["correction"]["subject"], second["correction"]["note"]) == ("First", "It is on Friday")
    assert "On Friday" in text_of(http, id)
    for _ in range(2):
        answer = admin.delete(url)
        assert (answer.status, answer.json["correction"]) == (200, None)
    assert "Hi friend" in text_of(http, id)
    assert "Corrected on" not in text_of(http, id)
    assert admin.get(url).status == 404
    assert [row.id for row in tables.scan(content_store.ContentRow)] == [id]


@pytest.mark.parametrize("state", ["draft", "scheduled"])
def test_only_what_was_sent_is_corrected(admin, state):
    campaign = in_state(admin, state)
    for answer in (
        admin.post(f"{API}/{campaign['id']}/correction", json=FIXED),
        admin.delete(f"{API}/{campaign['id']}/correction"),
    ):
        assert (answer.status, answer.json) == (409, REFUSED)


def test_what_went_to_some_has_no_web_version_to_correct(admin):
    detail = published(targeting=Targeting(tags=Terms(any=("vip",))))
    assert admin.post(f"{API}/{detail.campaign.id}/correction", json=FIXED).status == 409


def test_an_unknown_campaign_has_none(admin):
    for id in ("nonsense", ids.new()):
        for answer in (
            admin.get(f"{API}/{id}/correction"),
            admin.post(f"{API}/{id}/correction", json=FIXED),
            admin.delete(f"{API}/{id}/correction"),
        ):
            assert (answer.status, answer.json) == (404, {"error": "Campaign not found"})


def test_a_correction_is_held_to_the_rules_of_a_campaign(admin, http):
    id = published().campaign.id
    url = f"{API}/{id}/correction"
    for fields, reason in [
        ({**FIXED, "body": " "}, "Body is required"),
        ({**FIXED, "body": "x" * 500_001}, "Body must be at most 500 KB"),
        ({**FIXED, "note": ""}, "Note is required: say what was corrected"),
        ({"body": "x"}, "Note is required: say what was corrected"),
        ({**FIXED, "note": "a\nb"}, "Note must not contain control characters"),
        ({**FIXED, "note": "x" * 251}, "Note must be at most 250 characters"),
        ({**FIXED, "subject": ""}, "Subject is required"),
        (
            {**FIXED, "note": "{{first_name}} has moved"},
            "Unknown placeholder {{first_name}} in the note: readers would see it as typed. "
            "Write {{nickname|friend}} instead",
        ),
        (
            {**FIXED, "body": "<p>{{first_name}}</p>"},
            "Unknown placeholder {{first_name}} in the body: readers would see it as typed. "
            "Write {{nickname|friend}} instead",
        ),
    ]:
        answer = admin.post(url, json=fields)
        assert (answer.status, answer.json) == (400, {"error": reason})
    answer = admin.post(
        url, json={"body": "<p onclick='x()'>x</p><script>y</script>", "note": "\\{{token}} \\{{b0}} {{"}
    )
    assert answer.json["removed"]
    page = text_of(http, id)
    assert "onclick" not in page
    assert "<script" not in page
    assert "{{token}} {{b0}} {{" in page


def test_a_correction_is_refused_over_a_version_it_does_not_know(admin):
    detail = published()
    url = f"{API}/{detail.campaign.id}/correction"
    version = detail.campaign.version
    assert admin.post(url, json={**FIXED, "version": version}).status == 200
    late = admin.post(url, json={**FIXED, "version": version})
    assert (late.status, late.json) == (409, {"error": "The campaign has changed: reload it and try again"})


def test_of_two_corrections_at_once_the_page_shows_one_with_its_own_note(http, monkeypatch):
    """The other editor's correction commits between our read and our write: ours is decided again, on top of it."""
    id = published().campaign.id
    real = tables.transact
    beaten = []

    def slow(*writes: Any) -> None:
        if not beaten:
            beaten.append(True)
            corrections.correct(id, NewCorrection("<p>Theirs</p>", "Their note", "Their subject"))
        real(*writes)

    monkeypatch.setattr(tables, "transact", slow)
    corrections.correct(id, NewCorrection("<p>Ours</p>", "Our note"))
    page = text_of(http, id)
    assert ("Ours" in page, "Our note" in page, "Their subject" in page) == (True, True, True)
    assert "Their note" not in page
    with pytest.raises(Conflict):
        corrections.withdraw(id, version=1)
    with pytest.raises(NotFound):
        corrections.get(ids.new())


def test_a_hidden_campaign_can_be_corrected_before_it_is_shown_again(admin, http):
    id = published().campaign.id
    admin.patch(f"{API}/{id}", json={"hidden": True})
    assert admin.post(f"{API}/{id}/correction", json=FIXED).json["hidden"] is True
    assert http.get(f"/archive/{id}").status == 404


def test_a_duplicate_is_a_draft_of_what_was_sent(admin):
    id = published().campaign.id
    admin.post(f"{API}/{id}/correction", json=FIXED)
    admin.patch(f"{API}/{id}", json={"hidden": True})
    copy = admin.post(f"{API}/{id}/duplicate", json={}).json
    assert (copy["hidden"], copy["correction"], copy["body"]) == (False, None, "<p>Hi {{nickname|friend}}</p>")
    assert created(admin)["hidden"] is False
