"""What editors see and change of one subscriber, and removing many at once."""

import csv
import io

import pytest

from chalicelib.audience import editing, erasure
from chalicelib.audience.editing import Edits
from chalicelib.audience.stores import subscribers
from chalicelib.events import service as events
from chalicelib.kernel import ids
from chalicelib.kernel.errors import Conflict
from tests.conftest import received
from tests.rooms.audience.conftest import nobody_answers

PATH = "/admin/api/subscribers"


def _id(admin, email="ada@example.net"):
    return next(item["id"] for item in admin.get(PATH).json["items"] if item["email"] == email)


def test_a_subscriber_is_answered_with_every_capture_and_its_metadata(reader, admin):
    ada = reader().join(nickname="Ada", source="blog", tags=["maths"], metadata={"ref": {"page": 7}})
    ada.subscribe(source="podcast", tags=["audio"], metadata={"episode": 3})
    found = admin.get(f"{PATH}/{_id(admin)}").json
    assert (found["email"], found["nickname"], found["status"]) == ("ada@example.net", "Ada", "Activated")
    assert (found["sources"], found["tags"], found["confirmation_expires_at"]) == (["blog"], ["maths"], None)
    first, second = found["captures"]
    assert (first["source"], first["status"], first["tags"]) == ("blog", "CONFIRMED", ["maths"])
    assert first["metadata"] == {"ref": {"page": 7}}
    assert (second["source"], second["status"], second["metadata"]) == ("podcast", "PENDING", None)
    waiting = second["waits_for_confirmation"]
    assert (waiting["tags"], waiting["metadata"]) == (["audio"], {"episode": 3})
    assert waiting["expires_at"] > waiting["requested_at"]
    assert first["waits_for_confirmation"] is None
    assert "ip_hash" not in str(found)


def test_a_pending_subscriber_is_answered_with_the_source_that_waits(reader, admin, later):
    reader().subscribe(source="footer")
    id = _id(admin)
    found = admin.get(f"{PATH}/{id}").json
    assert (found["status"], found["sources"]) == ("Pending", [])
    assert [capture["source"] for capture in found["captures"]] == ["footer"]
    assert found["confirmation_expires_at"]
    later(hours=25)
    assert admin.get(f"{PATH}/{id}").status == 404
    assert admin.get(f"{PATH}/nobody").status == 404


def test_name_and_tags_are_changed_each_by_itself(reader, admin):
    reader().join(nickname="Ada", tags=["maths"])
    path = f"{PATH}/{_id(admin)}"
    changed = admin.patch(path, json={"nickname": "Countess"}).json
    assert (changed["nickname"], changed["tags"]) == ("Countess", ["maths"])
    changed = admin.patch(path, json={"tags": ["VIP ", "a,b", "vip"]}).json
    assert (changed["nickname"], changed["tags"]) == ("Countess", ["a,b", "vip"])
    changed = admin.patch(path, json={"nickname": None, "tags": []}).json
    assert (changed["nickname"], changed["tags"]) == (None, [])
    assert admin.patch(path, json={}).json["tags"] == []


@pytest.mark.parametrize(
    "edits",
    [
        {"nickname": ""},
        {"nickname": " Ada"},
        {"nickname": "x" * 51},
        {"nickname": 7},
        {"tags": "x" * 65},
        {"tags": ["x" * 65]},
        {"tags": [7]},
        {"tags": [f"t{number}" for number in range(201)]},
    ],
)
def test_invalid_names_and_tags_are_refused(reader, admin, edits):
    reader().join(nickname="Ada", tags=["maths"])
    path = f"{PATH}/{_id(admin)}"
    assert admin.patch(path, json=edits).status == 400
    assert admin.get(path).json["tags"] == ["maths"]


def test_tags_of_an_editor_are_kept_when_a_pending_subscriber_confirms(reader, admin):
    ada = reader()
    ada.subscribe(source="blog", tags=["own"])
    admin.patch(f"{PATH}/{_id(admin)}", json={"tags": ["vip"]})
    ada.confirm()
    assert admin.get(f"{PATH}/{_id(admin)}").json["tags"] == ["own", "vip"]


def test_a_change_does_not_overwrite_one_made_meanwhile(reader, admin, monkeypatch):
    """Somebody renames them between the editor's read and write: the write is tried again on what is there."""
    reader().join(nickname="Ada", tags=["maths"])
    id = _id(admin)
    real = subscribers.edit_write
    others = iter([lambda: editing.change(id, Edits(nickname="Countess"))])

    def late(*arguments):
        for other in others:
            other()
        return real(*arguments)

    monkeypatch.setattr(subscribers, "edit_write", late)
    detail = editing.change(id, Edits(tags=frozenset({"vip"})))
    assert (detail.entry.nickname, detail.entry.tags) == ("Countess", ("vip",))


def test_what_an_editor_did_not_see_is_not_overwritten(reader, admin):
    reader().join(nickname="Ada", tags=["maths"])
    seen = editing.view(_id(admin))
    editing.change(seen.entry.id, Edits(nickname="Countess"))
    with pytest.raises(Conflict):
        editing.change(seen.entry.id, Edits(tags=frozenset()), seen.fingerprint)


def test_a_confirmation_is_sent_again_until_the_limit(reader, admin):
    ada = reader()
    ada.subscribe()
    path = f"{PATH}/{_id(admin)}/resend"
    first = ada.link()
    answer = admin.post(path)
    assert (answer.status, answer.json) == (202, {"status": "confirmation_sent"})
    ada.deliver()
    assert ada.link() != first
    for _ in range(3):
        assert admin.post(path).status == 202
        ada.deliver()
    refused = admin.post(path)
    assert refused.status == 429
    assert refused.json == {"error": "At most 5 confirmation emails an hour to one address"}
    assert 0 < int(refused.headers["Retry-After"]) <= 3600
    assert len(ada.mails()) == 5
    assert ada.confirm().status == 303
    assert admin.post(path).status == 409
    assert admin.post(f"{PATH}/{ids.new()}/resend").status == 404


def test_the_link_for_a_further_source_of_a_reader_is_sent_again(reader, admin):
    ada = reader().join(source="blog")
    path = f"{PATH}/{_id(admin)}/resend"
    assert admin.post(path).status == 409
    ada.subscribe(source="podcast")
    sent = len(ada.mails())
    assert admin.post(path).status == 202
    ada.deliver()
    assert len(ada.mails()) == sent + 1
    ada.confirm()
    assert admin.get(f"{PATH}/{_id(admin)}").json["sources"] == ["blog", "podcast"]


def test_a_confirmation_beyond_the_limit_of_the_hour_is_held_and_said_to_be(reader, admin, configure):
    ada = reader()
    ada.subscribe(source="blog")
    path = f"{PATH}/{_id(admin)}"
    configure(MAILS_PER_HOUR="1", DISABLE_AUTH="true")
    assert admin.post(f"{path}/resend").json == {"status": "confirmation_held"}
    ada.deliver()
    assert len(ada.mails()) == 1
    found = admin.get(path).json
    assert found["confirmation_expires_at"] is None
    assert found["captures"][0]["waits_for_confirmation"]["expires_at"] is None
    assert admin.post(f"{path}/resend").json == {"status": "confirmation_held"}


def test_many_are_removed_at_once_and_each_is_answered(reader, admin, rows):
    reader("a@example.net").join()
    reader("b@example.net").subscribe()
    reader("c@example.net").join()
    known = {item["email"]: item["id"] for item in admin.get(PATH).json["items"]}
    gone = ids.new()
    wanted = [known["a@example.net"], known["b@example.net"], gone, known["a@example.net"]]
    answer = admin.post(f"{PATH}/remove", json={"ids": wanted})
    assert answer.json == {"removed": wanted[:2], "pending": [], "not_found": [gone]}
    assert [row["email"]["S"] for row in rows("subscribers")] == ["c@example.net"]
    assert len(rows("captures")) == 1


@pytest.mark.parametrize("wanted", [[], None, "x", ["nobody"], [7], [ids.new() for _ in range(101)]])
def test_a_selection_of_nobody_or_too_many_is_refused(admin, wanted):
    assert admin.post(f"{PATH}/remove", json={"ids": wanted}).status == 400


def test_a_removal_that_has_to_wait_is_pending_and_happens_later(reader, admin, rows, deliver, monkeypatch):
    reader().join()
    id = _id(admin)
    with monkeypatch.context() as busy:
        busy.setattr(events, "ensure_relayed", lambda _: False)
        busy.setattr(erasure, "_RETRY_SECONDS", 0)
        assert admin.post(f"{PATH}/remove", json={"ids": [id]}).json["pending"] == [id]
    deliver()
    assert rows("subscribers") == []


def test_what_takes_too_long_is_left_to_the_queue(reader, admin, rows, deliver, monkeypatch):
    reader().join()
    id = _id(admin)
    received("audience")
    monkeypatch.setattr(editing, "_SECONDS", -1.0)
    assert admin.post(f"{PATH}/remove", json={"ids": [id]}).json["pending"] == [id]
    assert len(rows("subscribers")) == 1
    deliver()
    assert rows("subscribers") == []


def test_a_removal_that_fails_halfway_is_left_to_the_queue(reader, admin, rows, deliver, monkeypatch):
    reader().join()
    id = _id(admin)
    with monkeypatch.context() as broken:
        broken.setattr(erasure, "erase", lambda *_: nobody_answers("", ""))
        assert admin.post(f"{PATH}/remove", json={"ids": [id]}).json["pending"] == [id]
    deliver()
    assert rows("subscribers") == []


def _full_export(admin, query=""):
    answer = admin.get(f"{PATH}/export?full=true{query}")
    assert answer.status == 200
    return list(csv.DictReader(io.StringIO(answer.body.decode("utf-8-sig"))))


def test_the_full_export_adds_id_time_sources_tags_and_metadata(reader, admin):
    reader("a@example.net").join(source="blog, mine", tags=["x", "y"], metadata={"n": 1})
    reader("b@example.net").join(source="podcast")
    second, first = _full_export(admin)
    assert list(first)[:4] == ["email", "nickname", "status", "activated_at"]
    assert list(first)[4:] == ["id", "created_at", "sources", "tags", "metadata", "paused_because"]
    assert first["id"] == _id(admin, "a@example.net")
    assert first["created_at"].endswith("Z")
    assert (first["sources"], first["tags"]) == ('["blog, mine"]', '["x","y"]')
    assert first["metadata"] == '{"blog, mine":{"n":1}}'
    assert (second["sources"], second["metadata"]) == ('["podcast"]', "")
    assert [row["email"] for row in _full_export(admin, "&tag=x")] == ["a@example.net"]
    assert admin.get(f"{PATH}/export?full=maybe").status == 400


def test_the_full_export_shows_of_a_pending_subscriber_what_waits(reader, admin):
    reader("a@example.net").subscribe(source="blog", tags=["x"], metadata={"n": 1})
    reader("b@example.net").join(source="blog").subscribe(source="podcast", tags=["y"], metadata={"n": 2})
    active, pending = _full_export(admin)
    assert (pending["status"], pending["sources"], pending["tags"]) == ("Pending", '["blog"]', '["x"]')
    assert pending["metadata"] == '{"blog":{"n":1}}'
    assert (active["sources"], active["tags"], active["metadata"]) == ('["blog"]', "[]", "")


def test_a_formula_in_a_tag_or_in_metadata_is_only_text_in_the_full_export(reader, admin):
    reader("a@example.net").join(source="a;=1+1", tags=["b;=2"], metadata={"k": "v;=cmd|x"})
    (row,) = _full_export(admin)
    assert ";=" not in row["sources"] + row["tags"] + row["metadata"]


def test_the_full_export_reads_metadata_of_a_hundred_at_a_time(reader, admin, http, monkeypatch):
    from chalicelib.kernel.aws import raw

    for number in range(3):
        http.source_ip = f"192.0.2.{number}"
        reader(f"r{number}@example.net").join(source="blog", metadata={"n": number})
    calls = []
    monkeypatch.setattr(raw, "dynamodb", lambda *call, ask=raw.dynamodb: calls.append(call[0]) or ask(*call))
    assert [row["metadata"] for row in _full_export(admin)] == [f'{{"blog":{{"n":{n}}}}}' for n in (2, 1, 0)]
    assert calls.count("BatchGetItem") == 1
