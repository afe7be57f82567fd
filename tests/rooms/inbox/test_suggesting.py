"""A member hands an entry to the desk, which gets the item and the note, and learns nothing about the member."""

import json

import pytest

from chalicelib.events.store import EventRow
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import LONGEST_NOTE, State
from tests.rooms.inbox.box import Box
from tests.rooms.inbox.things import article, entry, events, receive, states, video
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
    assert (after.note, after.state, after.received_at) == ("Ours\n\nHers", state, before.received_at)
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
