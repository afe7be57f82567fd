"""Bookmarking, archiving, restoring, dismissing and noting, one by one and in bulk."""

import pytest

from chalicelib.inbox import entry_store
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.model import LONGEST_NOTE, State
from tests.rooms.inbox.things import FOLLOW, article, entry, receive, row, states, video

NOT_FOUND = (404, {"error": "No such entry"})
ACTS = {"bookmark": "BOOKMARKED", "archive": "ARCHIVED", "restore": "INBOX"}
CALLS = [
    ("POST", "/bookmark", None),
    ("POST", "/archive", None),
    ("POST", "/restore", None),
    ("PATCH", "", {"note": "Mine"}),
    ("PATCH", "", {}),
    ("PATCH", "", {"note": 7}),
    ("DELETE", "", None),
]


def answered(box, method, id, rest, body):
    answer = box.ask(method, f"{box.prefix}/{id}{rest}", **({} if body is None else {"json": body}))
    return answer.status, answer.json


@pytest.mark.parametrize("before", State)
@pytest.mark.parametrize(("act", "after"), ACTS.items())
def test_every_state_leads_to_every_other_and_to_itself(box, before, act, after):
    (id,) = box.receive(video(), state=before)
    answer = box.act(id, act)
    assert answer.status == 200
    assert answer.json["state"] == after
    assert box.entries(f"?state={after}") == [answer.json]
    assert states(box.owner) == {id: after}


def test_restoring_puts_it_back_where_it_was(box):
    ids = box.receive(video("a"), video("b"), video("c"))
    box.act(ids[1], "archive")
    box.act(ids[1], "restore")
    assert box.ids() == ids[::-1]
    assert entry(box.owner, ids[1]).follow_id == FOLLOW


def test_a_note_is_written_replaced_and_taken_away(box):
    (id,) = box.receive(video())
    answer = box.write(id, {"note": "  For the spring issue\r\nsecond line\t.  "})
    assert answer.status == 200
    assert answer.json["note"] == "For the spring issue\nsecond line\t."
    box.act(id, "archive")
    assert box.entries("?state=ARCHIVED")[0]["note"] == "For the spring issue\nsecond line\t."
    for nothing in ("", "   ", None):
        box.write(id, {"note": "Again"})
        assert box.write(id, {"note": nothing}).json["note"] is None


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "note is required"),
        ({"title": "Mine"}, "note is required"),
        ({"note": 7}, "note must be text"),
        ({"note": ["x"]}, "note must be text"),
        ({"note": "x" * (LONGEST_NOTE + 1)}, f"note must be at most {LONGEST_NOTE} characters"),
        ({"note": "a\0b"}, "note must not contain control characters"),
        ({"note": "a\u2028b"}, "note must not contain control characters"),
    ],
)
def test_what_is_no_note(box, body, reason):
    (id,) = box.receive(video())
    answer = box.write(id, body)
    assert (answer.status, answer.json) == (400, {"error": reason})
    assert entry(box.owner, id).note == ""


def test_the_longest_note(box):
    (id,) = box.receive(video())
    assert box.write(id, {"note": "ä" * LONGEST_NOTE}).json["note"] == "ä" * LONGEST_NOTE


@pytest.mark.parametrize("state", State)
def test_what_is_dismissed_leaves_nothing_but_what_it_is_found_by(box, state):
    (id,) = box.receive(video(), state=state)
    box.write(id, {"note": "Private"})
    answer = box.dismiss(id)
    assert (answer.status, answer.body) == (204, b"")
    assert box.ids(f"?state={state}") == []
    kept = {"owner", "item_id", "placed", "provider", "content_type", "shelf", "held", "folded"}
    assert row(box.owner, id) == kept


@pytest.mark.parametrize(("method", "rest", "body"), CALLS)
def test_what_was_dismissed_is_not_found_and_stays_so(box, method, rest, body):
    (id,) = box.receive(video())
    box.dismiss(id)
    assert answered(box, method, id, rest, body) == NOT_FOUND
    assert states(box.owner) == {id: None}


@pytest.mark.parametrize(("method", "rest", "body"), CALLS)
def test_somebody_elses_is_not_found(desk, ada, bob, method, rest, body):
    (hers,) = ada.receive(video(), state=State.BOOKMARKED)
    (theirs,) = desk.receive(article())
    for other, id in ((bob, hers), (desk, hers), (bob, theirs), (ada, theirs)):
        assert answered(other, method, id, rest, body) == NOT_FOUND
    assert entry(ada.owner, hers).state is State.BOOKMARKED
    assert entry("desk", theirs).state is State.INBOX
    assert len(list(EntryRow.scan())) == 2


@pytest.mark.parametrize(("method", "rest", "body"), CALLS)
@pytest.mark.parametrize("id", ["0" * 32, "x", "%00", "..", "%E0%A4%A", "a" * 1000, "A" * 32, f"{'a' * 32}%0A"])
def test_what_is_no_id_is_not_found(ada, method, rest, body, id):
    assert answered(ada, method, id, rest, body) == NOT_FOUND


def test_a_dismissal_at_the_same_moment_wins(box, monkeypatch):
    (id,) = box.receive(video())
    move = entry_store.move

    def dismissed_meanwhile(*args):
        entry_store.dismiss(box.owner, id)
        return move(*args)

    monkeypatch.setattr(entry_store, "move", dismissed_meanwhile)
    assert box.act(id, "bookmark").status == 404
    assert states(box.owner) == {id: None}


@pytest.mark.parametrize(("act", "after"), [*ACTS.items(), ("dismiss", None)])
def test_many_at_once(box, act, after):
    ids = box.receive(*(video(f"number {number}") for number in range(4)))
    box.receive(video("untouched"), state=State.ARCHIVED)
    answer = box.bulk({"ids": ids, "action": act})
    assert answer.status == 200
    assert answer.json == {"results": [{"id": id, "ok": True} for id in ids]}
    assert states(box.owner) == {**dict.fromkeys(ids, after), video("untouched").id: "ARCHIVED"}


def test_each_is_answered_for_itself(desk, ada):
    mine, gone = desk.receive(video("mine"), video("gone"))
    desk.dismiss(gone)
    (hers,) = ada.receive(article())
    ids = [mine, gone, hers, "0" * 32, "nonsense", "", mine]
    answer = desk.bulk({"ids": ids, "action": "archive"})
    refused = [{"id": id, "ok": False, "error": "No such entry"} for id in ids[1:6]]
    assert answer.json == {"results": [{"id": mine, "ok": True}, *refused]}
    assert states() == {mine: "ARCHIVED", gone: None}
    assert states(ada.owner) == {hers: "INBOX"}


def test_dismissing_the_same_twice_in_one_call_is_done_once(box):
    (id,) = box.receive(video())
    assert box.bulk({"ids": [id, id], "action": "dismiss"}).json == {"results": [{"id": id, "ok": True}]}


def test_up_to_a_hundred(box):
    ids = [video(f"number {number}").id for number in range(101)]
    assert len(box.bulk({"ids": ids[:100], "action": "archive"}).json["results"]) == 100
    assert box.bulk({"ids": ids, "action": "archive"}).status == 400


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"action": "archive"}, "ids must be a list of 1 to 100 ids"),
        ({"ids": [], "action": "archive"}, "ids must be a list of 1 to 100 ids"),
        ({"ids": "0" * 32, "action": "archive"}, "ids must be a list of 1 to 100 ids"),
        ({"ids": [1], "action": "archive"}, "ids must contain ids of entries"),
        ({"ids": ["x" * 101], "action": "archive"}, "ids must contain ids of entries"),
        ({"ids": ["x"]}, "action must be one of: bookmark, archive, restore, dismiss"),
        ({"ids": ["x"], "action": "delete"}, "action must be one of: bookmark, archive, restore, dismiss"),
        ({"ids": ["x"], "action": ["archive"]}, "action must be one of: bookmark, archive, restore, dismiss"),
        ([], "The body must be a JSON object"),
    ],
)
def test_what_cannot_be_done_in_bulk(box, body, reason):
    answer = box.bulk(body)
    assert (answer.status, answer.json) == (400, {"error": reason})


def test_another_site_cannot_act_for_somebody_signed_in(box):
    (id,) = box.receive(video())
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert box.ask("POST", f"{box.prefix}/{id}/archive", headers=foreign).status == 403
    assert box.ask("DELETE", f"{box.prefix}/{id}", headers=foreign).status == 403
    assert states(box.owner) == {id: "INBOX"}


def test_what_is_kept_by_hand_does_not_come_again_by_another_follow(box):
    (id,) = box.receive(video())
    box.act(id, "archive")
    receive(box.owner, video(), follow_id="other")
    assert states(box.owner) == {id: "ARCHIVED"}
    assert entry(box.owner, id).follow_id == FOLLOW
