"""A member hands an entry to the desk, which gets the item and the note, and learns nothing about the member."""

import csv
import io
import json
import re

import pytest

from chalicelib.campaigns.content import blocks
from chalicelib.events.store import EventRow
from chalicelib.inbox import entry_store, triage
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import LONGEST_NOTE, Act, State
from chalicelib.kernel.spreadsheets import BOM
from tests.rooms.inbox.box import Box
from tests.rooms.inbox.test_pages import HERE
from tests.rooms.inbox.things import article, entry, events, receive, row, states, video
from tests.rooms.sightings.person import Person


@pytest.fixture
def kept(ada):
    (id,) = ada.receive(video(), state=State.BOOKMARKED)
    return id


def test_it_enters_the_desk_s_inbox_with_the_note(desk, ada, kept):
    answer = ada.suggest(kept, note="The best ten minutes of November.")
    assert (answer.status, answer.body) == (204, b"")
    (found,) = desk.entries()
    assert (found["id"], found["state"], found["provider"]) == (kept, "INBOX", "YOUTUBE")
    assert (found["note"], found["follow_id"]) == ("The best ten minutes of November.", None)
    (event,) = events()
    assert event.payload == {"entry_id": kept, "provider": "YOUTUBE", "content_type": "VIDEO"}
    assert states(ada.owner) == {kept: "BOOKMARKED"}


def test_a_note_is_not_needed(desk, ada, kept):
    assert ada.suggest(kept).status == 204
    assert desk.entries()[0]["note"] is None
    assert ada.ask("POST", f"{ada.prefix}/{kept}/suggest").status == 204


def test_the_desk_learns_nothing_about_the_member(desk, ada, kept):
    ada.write(kept, {"note": "Private: mine"})
    ada.suggest(kept, note="Look")
    of_the_desk = EntryRow.get("desk", kept).serialize()
    told = json.dumps([of_the_desk, *(row.serialize() for row in (*EventRow.scan(), *ItemRow.scan()))], default=str)
    assert ada.owner not in told
    assert ada.owner.replace("-", "") not in told
    assert "Private" not in told
    assert "follow-1" not in told


@pytest.mark.parametrize("state", State)
def test_if_the_desk_has_it_the_note_is_added(desk, ada, kept, state):
    desk.receive(video(), state=state)
    desk.write(kept, {"note": "Ours"})
    before = entry("desk", kept)
    ada.suggest(kept, note="Hers")
    ada.suggest(kept, note="Hers")
    ada.suggest(kept)
    after = entry("desk", kept)
    assert (after.note, after.suggestion) == ("Ours", "Hers")
    assert (after.state, after.received_at) == (state, before.received_at)
    assert desk.entries(f"?state={state}")[0]["note"] == "Ours\n\nHers"
    assert len(events()) == 1


def test_what_the_desk_has_dismissed_comes_back_when_a_person_asks(desk, ada, kept, later):
    desk.receive(video())
    desk.dismiss(kept)
    later(hours=1)
    ada.suggest(kept, note="Really")
    (found,) = desk.entries()
    assert (found["note"], found["follow_id"]) == ("Really", None)
    assert len(events()) == 2
    receive("desk", video())
    assert len(events()) == 2


def test_notes_have_an_end(desk, ada, bob, kept):
    bob.receive(video())
    ada.suggest(kept, note="a" * LONGEST_NOTE)
    bob.suggest(kept, note="b" * LONGEST_NOTE)
    assert desk.entries()[0]["note"] == "a" * (LONGEST_NOTE - 1) + "…"


def test_what_members_suggest_is_added_by_paragraph(desk, ada, kept):
    for note in ("Great", "eat", "Great\n\neat", "eat"):
        ada.suggest(kept, note=note)
    assert entry("desk", kept).suggestion == "Great\n\neat"


def test_no_reader_gets_what_a_member_suggests(desk, ada, kept):
    """Neither as a note of the editors, nor as a link, a picture or somebody's name."""
    desk.receive(video())
    desk.write(kept, {"note": "Ours"})
    ada.suggest(kept, note="{{nickname}} ![x](https://spy.example/x.png) <b>Hers</b>")
    made = desk.ask("POST", "/admin/api/inbox/compose", json={"sections": [{"ids": [kept]}]}).json
    (item,) = blocks.items(made["body"])
    assert item.note == "Ours"
    assert "spy.example" not in made["body"]


def test_editors_see_it_as_a_quotation_in_plain_text(desk, ada, kept):
    ada.suggest(kept, note="Read <b>this</b> & *that*\n\nPlease")
    for path in ("", f"/{kept}", f"/compose?ids={kept}"):
        page = desk.ask("GET", f"/admin/inbox{path}").text
        assert "<p>A member suggests:</p>" in page
        assert "<blockquote>Read &lt;b&gt;this&lt;/b&gt; &amp; *that*" in page
    assert page.count("Read &lt;b&gt;") == 1  # not in the field of the note


def test_the_editor_s_note_is_saved_beside_it(desk, ada, kept):
    ada.suggest(kept, note="Hers")
    desk.ask("POST", f"/admin/inbox/{kept}", form={"note": "Ours"}, Origin=HERE)
    assert (entry("desk", kept).note, entry("desk", kept).suggestion) == ("Ours", "Hers")
    (found,) = desk.entries()
    assert found["note"] == "Ours\n\nHers"


@pytest.mark.parametrize(
    ("text", "note", "suggestion"),
    [
        ("Mine", "Mine", ""),
        (None, "", ""),
        ("Ours\n\nHers", "Ours", "Hers"),
        ("Changed\n\nHers", "Changed", "Hers"),
        ("Hers", "", "Hers"),
        ("Others", "Others", ""),
        ("Hers\n\nOurs", "Hers\n\nOurs", ""),
    ],
)
def test_what_is_sent_back_as_it_was_told_does_not_become_the_editor_s(desk, ada, kept, text, note, suggestion):
    desk.receive(video())
    desk.write(kept, {"note": "Ours"})
    ada.suggest(kept, note="Hers")
    assert desk.write(kept, {"note": text}).status == 200
    assert (entry("desk", kept).note, entry("desk", kept).suggestion) == (note, suggestion)


def test_it_is_deleted_on_its_page_unless_there_is_more_by_now(desk, ada, bob, kept):
    def delete(page):
        was = re.search(r'name="was" value="(\w+)"', page.text)[1]
        return desk.ask("POST", f"/admin/inbox/{kept}", form={"forget": "yes", "was": was}, Origin=HERE)

    bob.receive(video())
    ada.suggest(kept, note="Hers")
    page = desk.ask("GET", f"/admin/inbox/{kept}")
    bob.suggest(kept, note="His")
    assert delete(page).status == 409
    assert entry("desk", kept).suggestion == "Hers\n\nHis"
    assert delete(desk.ask("GET", f"/admin/inbox/{kept}")).status == 303
    assert (entry("desk", kept).suggestion, desk.ids("?q=hers")) == ("", [])


def test_undo_brings_it_back_and_dismissing_takes_it_away(desk, ada, kept):
    ada.suggest(kept, note="Hers")
    (done,) = triage.act("desk", [kept], Act.DISMISS)
    assert not {"suggestion", "folded_suggestion"} & row("desk", kept)
    triage.undo("desk", [done.undo])
    assert (entry("desk", kept).note, entry("desk", kept).suggestion) == ("", "Hers")
    assert desk.ids("?q=HERS") == [kept]


def test_a_suggestion_at_the_same_moment_is_not_dismissed_unread(desk, ada, kept, monkeypatch):
    desk.receive(video())
    dismiss, turns = entry_store.dismiss_as, iter([True])

    def suggested_meanwhile(before):
        if next(turns, False):
            ada.suggest(kept, note="Hers")
        return dismiss(before)

    monkeypatch.setattr(entry_store, "dismiss_as", suggested_meanwhile)
    (done,) = triage.act("desk", [kept], Act.DISMISS)
    assert "Hers" in done.undo


def test_exports_name_it_apart(desk, ada, kept):
    desk.receive(video())
    desk.write(kept, {"note": "*Ours*"})
    ada.suggest(kept, note="# Hers\n1. <script>")
    exported = desk.get("/export?format=markdown").text
    assert exported.endswith("\n  > *Ours*\n  >\n  > A member suggests: \\# Hers 1\\. \\<script\\>\n")
    (found,) = desk.get("/export").json["items"]
    assert (found["note"], found["suggestion"]) == ("*Ours*\n\n# Hers\n1. <script>", "# Hers\n1. <script>")
    (found,) = csv.DictReader(io.StringIO(desk.get("/export?format=csv").text.removeprefix(BOM)))
    assert (found["note"], found["suggestion"]) == ("*Ours*", "# Hers\n1. <script>")


def test_only_one_s_own_entries(desk, ada, bob, kept):
    for answer in (bob.suggest(kept), ada.suggest("0" * 32), ada.suggest("x")):
        assert (answer.status, answer.json) == (404, {"error": "No such entry"})
    ada.dismiss(kept)
    assert ada.suggest(kept).status == 404
    assert desk.entries() == []


@pytest.mark.parametrize(
    ("note", "reason"),
    [
        (7, "note must be text"),
        ("x" * (LONGEST_NOTE + 1), f"note must be at most {LONGEST_NOTE} characters"),
        ("a\0b", "note must not contain control characters"),
    ],
)
def test_what_is_no_note(desk, ada, kept, note, reason):
    answer = ada.suggest(kept, note=note)
    assert (answer.status, answer.json) == (400, {"error": reason})
    assert desk.entries() == []


def test_only_members_whose_address_is_verified(http, desk):
    person = Person(http, "cy", verified=False)
    cy = Box(person.id, "/api", person.ask)
    (id,) = cy.receive(video())
    answer = cy.suggest(id, note="Hello")
    assert (answer.status, answer.json) == (403, {"error": "Verify your email address first"})
    assert desk.entries() == []


@pytest.mark.usefixtures("still")
def test_twenty_an_hour(ada, bob):
    ids = ada.receive(*(article(f"number {number}") for number in range(21)))
    bob.receive(article("number 0"))
    assert {ada.suggest(id).status for id in ids[:20]} == {204}
    assert ada.suggest(ids[20]).status == 429
    assert bob.suggest(ids[0]).status == 204


def test_it_is_a_call_for_members(admin, ada, kept):
    assert admin.post(f"/admin/api/inbox/{kept}/suggest", json={}).status == 404
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert ada.ask("POST", f"{ada.prefix}/{kept}/suggest", json={}, headers=foreign).status == 403
