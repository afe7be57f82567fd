"""Saving links on a page: from the bookmarklet, from the share sheet, and many at once."""

import json
import re
from html import unescape

import pytest

from chalicelib.kernel.http.client import FetchFailed
from tests.rooms.inbox.box import Box
from tests.rooms.inbox.test_pages import HERE, LARGEST, path, words
from tests.rooms.inbox.things import entry, states, video
from tests.rooms.inbox.web import page as html
from tests.rooms.sightings.person import Person

FROST = "https://example.org/frost"


def add(box, **fields):
    return box.ask("POST", f"{path(box)}/add", form=fields, Origin=HERE)


def typed(page):
    return unescape(re.search(r'name="text"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)[1])


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", ""),
        ("?url=https%3A%2F%2Fexample.org%2Ffrost&title=Frost", FROST),
        ("?text=Read+this%3A+https%3A%2F%2Fexample.org%2Ffrost%21&title=x", FROST),
        ("?url=&text=https%3A%2F%2Fexample.org%2Ffrost", FROST),
        ("?url=%3Cscript%3E", "<script>"),
    ],
)
def test_opening_the_form_saves_nothing(box, web, query, shown):
    page = box.ask("GET", f"{path(box)}/add{query}")
    assert (page.status, typed(page)) == (200, shown)
    assert web.asked == []
    assert states(box.owner) == {}


def test_a_link_is_saved_with_note_and_section(desk, web):
    web.says[FROST] = html("What the frost left standing")
    answer = add(desk, text=FROST, note="For November", section="Reading")
    (id,) = states("desk")
    assert answer.headers["Location"] == f"/admin/inbox/{id}?notice=clipped"
    assert (entry("desk", id).note, entry("desk", id).section) == ("For November", "Reading")
    page = desk.ask("GET", answer.headers["Location"])
    assert "What the frost left standing" in words(page)
    again = add(desk, text=f"Look: {FROST}?utm_source=x", note="Twice")
    assert again.headers["Location"] == f"/admin/inbox/{id}?notice=known"
    assert entry("desk", id).note == "For November\n\nTwice"


def test_many_are_saved_at_once(box, web):
    for name in ("a", "b"):
        web.says[f"https://example.org/{name}"] = html(f"Page {name}")
    web.says["http://10.0.0.1/c"] = FetchFailed("refused", "private")
    page = add(box, text="- https://example.org/a\n- https://example.org/b\nhttp://10.0.0.1/c", note="All of these")
    assert page.status == 200
    assert "2 of 3 saved" in words(page)
    assert "Page a" in words(page)
    assert {entry(box.owner, id).note for id in states(box.owner)} == {"All of these"}


@pytest.mark.parametrize("text", ["", "nothing", "ftp://example.org/x", "https://x/" + "a" * 3_000])
def test_what_cannot_be_saved_is_said_and_stays_in_the_form(box, web, text):
    page = add(box, text=text, note="Kept")
    assert page.status == 400
    assert 'role="alert"' in page.text
    assert (typed(page), "Kept" in page.text) == (text, True)
    assert states(box.owner) == {}


def test_refused_texts_do_not_make_the_page_large(box, web):
    assert len(add(box, text="&" * 50_000, note="&" * 3_000).body) <= LARGEST


def suggest(box, id):
    return box.ask("POST", f"/inbox/{id}", form={"suggest": "yes", "message": "The newt!"}, Origin=HERE)


def test_a_member_suggests_an_entry(ada, desk):
    (id,) = ada.receive(video())
    assert "Suggest to the publication" in words(ada.ask("GET", f"/inbox/{id}"))
    assert suggest(ada, id).headers["Location"] == f"/inbox/{id}?notice=suggested"
    assert (entry("desk", id).note, entry("desk", id).suggestion) == ("", "The newt!")


def test_who_is_not_verified_keeps_what_was_written(http, desk):
    person = Person(http, "cy", verified=False)
    cy = Box(person.id, "/api", person.ask)
    (id,) = cy.receive(video())
    answer = suggest(cy, id)
    assert (answer.status, "Verify your email address first" in words(answer)) == (403, True)
    assert "The newt!" in answer.text
    assert states("desk") == {}


def test_notes_are_written_and_acts_done_on_the_entry_s_own_page(box):
    (id,) = box.receive(video())
    here = f"{path(box)}/{id}"
    box.ask("POST", here, form={"note": "Mine"}, Origin=HERE)
    assert "Mine" in words(box.ask("GET", here))
    answer = box.ask("POST", here, form={"note": "x" * 2_001}, Origin=HERE)
    assert (answer.status, "note must be at most" in words(answer)) == (400, True)
    answer = box.ask("POST", here, form={"archive": "yes"}, Origin=HERE)
    assert answer.headers["Location"] == f"{here}?notice=archive"
    answer = box.ask("POST", here, form={"dismiss": "yes"}, Origin=HERE)
    assert answer.headers["Location"] == f"{path(box)}?items=1&notice=dismiss"
    assert box.ask("GET", here).status == 404


def test_the_manifest_offers_the_form_to_the_share_sheet(box):
    prefix = path(box).removesuffix("/inbox")
    answer = box.ask("GET", f"{prefix}/app.webmanifest")
    assert answer.headers["Content-Type"].startswith("application/manifest+json")
    target = json.loads(answer.text)["share_target"]
    assert (target["action"], target["method"]) == (f"{path(box)}/add", "GET")
    page = box.ask("GET", path(box))
    assert f'rel="manifest" href="{prefix}/app.webmanifest"' in page.text
    assert "manifest-src 'self'" in page.headers["Content-Security-Policy"]
