"""What pages do with entries while others look at the same list: conflicts are told, and everything can be undone."""

import re

import pytest

from chalicelib.inbox import entry_store, item_store, triage
from chalicelib.inbox.model import Act, State
from tests.rooms.inbox.test_pages import HERE, lead, path, show, titles, words
from tests.rooms.inbox.things import FOLLOW, article, entry, states, video

MEANWHILE = "meanwhile, by somebody else or in another tab"


def ask(box, **fields):
    """As the script asks."""
    answer = box.ask("POST", path(box), form=fields, Origin=HERE, Accept="application/json")
    assert answer.status == 200, answer.text
    return answer.json["results"]


@pytest.mark.parametrize("act", [act for act in Act if act is not Act.ARCHIVE])
def test_what_somebody_else_has_moved_meanwhile_is_told_and_stays(box, act):
    (id,) = box.receive(video())
    box.act(id, "archive")
    expected = "BOOKMARKED" if act is Act.RESTORE else "INBOX"
    (result,) = ask(box, act=act.value, id=id, expected=expected)
    assert result == {"id": id, "ok": False, "error": f"Archived {MEANWHILE}", "moved": True}
    assert states(box.owner) == {id: "ARCHIVED"}


def test_what_is_done_already_is_no_conflict(box):
    (id,) = box.receive(video())
    for _ in range(2):
        assert ask(box, act="archive", id=id, expected="INBOX") == [{"id": id, "ok": True}]
    ask(box, act="dismiss", id=id, expected="ARCHIVED")
    assert ask(box, act="dismiss", id=id, expected="ARCHIVED") == [{"id": id, "ok": True}]


def test_the_form_tells_a_conflict_too(box):
    (id,) = box.receive(video())
    box.act(id, "bookmark")
    assert "somebody else was faster" in words(lead(box, archive=id))
    assert states(box.owner) == {id: "BOOKMARKED"}


def test_a_move_at_the_same_moment_is_noticed(box, monkeypatch):
    (id,) = box.receive(video())
    find = entry_store.find_any

    def moved_meanwhile(*args):
        found = find(*args)
        monkeypatch.setattr(entry_store, "find_any", find)
        entry_store.move(box.owner, id, State.BOOKMARKED, found.received_at)
        return found

    monkeypatch.setattr(entry_store, "find_any", moved_meanwhile)
    (done,) = triage.act(box.owner, [id], Act.ARCHIVE, State.INBOX)
    assert done.moved
    assert states(box.owner) == {id: "BOOKMARKED"}


def test_a_dismissal_is_taken_back_with_its_note_and_follow_and_place(box):
    ids = box.receive(video("a"), video("b"), video("c"), state=State.BOOKMARKED)
    box.write(ids[1], {"note": "For the spring issue"})
    triage.set_section(box.owner, ids[1], "Watching")
    before = entry(box.owner, ids[1])
    (result,) = ask(box, act="dismiss", id=ids[1], expected="BOOKMARKED")
    assert states(box.owner)[ids[1]] is None
    for _ in range(2):
        assert ask(box, act="undo", undo=result["undo"]) == [{"id": ids[1], "ok": True}]
    assert entry(box.owner, ids[1]) == before
    assert before.follow_id == FOLLOW
    assert box.ids("?state=BOOKMARKED") == ids[::-1]
    assert box.ids("?state=BOOKMARKED&q=spring") == [ids[1]]


def test_only_the_owner_takes_back_and_only_what_was_signed(desk, ada):
    (id,) = desk.receive(video())
    ada.receive(video())
    ada.dismiss(id)
    (result,) = ask(desk, act="dismiss", id=id)
    for token in (result["undo"], result["undo"][:-1], "", "x" * 40):
        assert not ask(ada, act="undo", undo=token)[0]["ok"]
    assert states(ada.owner) == {id: None}


def test_what_is_gone_cannot_be_taken_back(desk):
    (id,) = desk.receive(video())
    (result,) = ask(desk, act="dismiss", id=id)
    item_store.ItemRow(id).delete()
    assert ask(desk, act="undo", undo=result["undo"]) == [{"ok": False, "error": "It is no longer there"}]


def test_what_was_dismissed_is_found_under_everything_and_brought_back(box):
    (id,) = box.receive(video())
    box.dismiss(id)
    page = show(box, "?state=all")
    assert titles(page) == ["The first video"]
    assert "Dismissed" in words(page)
    assert "Back in the inbox: 1 item." in words(lead(box, restore=id, state="ALL"))
    assert states(box.owner) == {id: "INBOX"}


def test_many_at_once_by_the_form(box):
    ids = box.receive(*(video(f"number {number}") for number in range(3)), article())
    page = lead(box, act="archive", id=ids[:3])
    assert "Archived: 3 items." in words(page)
    assert titles(page) == ["The post"]
    assert "Nothing was selected" in words(lead(box, act="archive"))


def test_a_list_is_narrowed_down_and_stays_so_after_an_act(box):
    box.receive(video("a"), article("one"), article("two", creator="Orchard Notes"))
    page = show(box, "?provider=rss")
    assert titles(page) == ["The two", "The one"]
    assert titles(show(box, "?type=VIDEO")) == ["The a video"]
    assert titles(show(box, "?q=ORCHARD+two")) == ["The two"]
    assert "No matches" in words(show(box, "?q=nothing"))
    page = lead(box, archive=article("one").id, provider="RSS")
    assert titles(page) == ["The two"]
    assert titles(show(box, "?state=nonsense&provider=x&type=y")) == ["The two", "The a video"]


def test_a_section_is_kept_until_it_is_dismissed(desk):
    (id,) = desk.receive(video())
    page = desk.ask("POST", f"/admin/inbox/{id}", form={"note": "Good", "section": " Watching "}, Origin=HERE)
    assert page.status == 303
    assert (entry("desk", id).section, entry("desk", id).note) == ("Watching", "Good")
    assert "Watching" in words(show(desk))
    desk.dismiss(id)
    desk.clip("https://www.youtube.com/watch?v=first")
    assert not re.search("Watching", words(show(desk)))
