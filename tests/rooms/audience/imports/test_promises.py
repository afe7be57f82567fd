"""What the answers look like from outside: names, codes and numbers that programs rely on."""

import io
import json
import zipfile

import pytest

from chalicelib.audience import pausing
from chalicelib.audience.imports import jobs, running
from tests.rooms.audience.imports.conftest import DOUBLE, PATH, STATEMENT

COUNTS = {"imported", "asked", "already", "duplicate", "invalid", "unconfirmed", "left_elsewhere", "suppressed"}
FILE = "email,name,status\nada@example.net,Ada,subscribed\nbob@example.net,Bob,unsubscribed\n"


def zipped(files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return stream.getvalue()


def test_the_answer_to_a_file_has_every_promised_field(editor):
    found = editor.bring(FILE).json
    promised = {"id", "state", "format", "delimiter", "encoding", "columns", "rows", "preview", "mapping", "counts"}
    assert promised | {"header", "done", "weak_proof"} <= set(found)
    assert set(found["counts"]) == COUNTS
    assert found["mapping"] == {"email": 0, "name": 1, "status": 2}
    assert found["preview"] == [["ada@example.net", "Ada", "subscribed"], ["bob@example.net", "Bob", "unsubscribed"]]


def test_the_preview_has_ten_rows(editor):
    assert len(editor.bring("email\n" + "".join(f"a{n}@example.net\n" for n in range(12))).json["preview"]) == 10


def test_the_preview_shows_the_beginning_of_a_long_cell(editor):
    (row,) = editor.bring(f"email,notes\nada@example.net,{'long ' * 1000}\n").json["preview"]
    assert (row[0], len(row[1])) == ("ada@example.net", 500)


def test_the_list_has_what_each_import_has_done(editor):
    found = editor.run(FILE)
    (item,) = editor.http.get(PATH).json["items"]
    assert {name: item[name] for name in ("state", "rows", "done", "counts")} == {
        name: found[name] for name in ("state", "rows", "done", "counts")
    }


def test_calls_in_the_wrong_order_are_refused_and_change_nothing(editor):
    waiting = editor.http.post(PATH, json={"size": 10, "content_type": "text/csv"}).json["id"]
    assert editor.start(waiting).status == 409
    assert editor.act(waiting, "undo").status == 409
    id = editor.bring(FILE).json["id"]
    assert editor.act(id, "undo").status == 409
    editor.start(id)
    assert editor.act(id, "undo").status == 409
    editor.work()
    assert editor.start(id).status == 409
    assert editor.act(id, "cancel").status == 409
    assert editor.read(id).status == 409
    editor.act(id, "undo")
    assert editor.act(id, "cancel").status == 409
    assert editor.start(id).status == 409
    assert editor.see(id)["state"] == "undone"


@pytest.mark.parametrize(
    ("content", "encoding", "delimiter"),
    [
        ("email;name\nada@example.net;Jürgen\n".encode("cp1252"), "windows-1252", ";"),
        ("email\tname\nada@example.net\tJürgen\n".encode("utf-16"), "utf-16", "\t"),
        ("\ufeffemail,name\r\nada@example.net,Jürgen\r\n".encode(), "utf-8", ","),
    ],
)
def test_encodings_are_guessed_and_names_arrive_whole(editor, content, encoding, delimiter):
    tried = editor.bring(content).json
    assert (tried["encoding"], tried["delimiter"], tried["header"]) == (encoding, delimiter, True)
    editor.start(tried["id"])
    editor.work()
    assert editor.subscribers()["ada@example.net"]["nickname"] == "Jürgen"


def test_what_was_guessed_can_be_given_with_the_start(editor):
    id = editor.bring("name;email\nJürgen;ada@example.net\n".encode("cp1252")).json["id"]
    given = {"mapping": {"email": 1, "name": 0}, "delimiter": ";", "encoding": "windows-1252"}
    assert editor.start(id, **given).status == 202
    editor.work()
    assert editor.subscribers()["ada@example.net"]["nickname"] == "Jürgen"


def test_a_file_without_a_header_and_pasted_lines(editor):
    headerless = editor.bring("Ada,ada@example.net\nEve,eve@example.net\n").json
    assert (headerless["header"], headerless["rows"], headerless["mapping"]["email"]) == (False, 2, 1)
    lines = editor.bring("ada@example.net\nEve <eve@example.net>\n").json
    assert (lines["header"], lines["rows"], lines["counts"]["imported"]) == (False, 2, 2)


def test_limits_of_a_zip(editor):
    many = zipped({f"{n}.csv": "email\nada@example.net\n" for n in range(21)})
    assert editor.bring(many, "application/zip").status == 400
    large = zipped({"a.csv": "email\n" + "x" * (101 * 1024 * 1024)})
    assert editor.bring(large, "application/zip").status == 400
    assert editor.bring(b"email\n", "application/zip").status == 400
    assert editor.bring(b"", "application/zip").status == 400
    assert editor.http.get(PATH).json["items"] == []


def test_other_content_types_are_refused(editor):
    assert editor.bring(FILE, "application/pdf").status == 400
    assert editor.bring(FILE, "text/csv; charset=utf-8").status == 201


def test_who_was_paused_stays_paused_through_our_own_export(editor, reader):
    reader("ada@example.net").join(nickname="Ada")
    reader("eve@example.net").join()
    ada = editor.subscribers()["ada@example.net"]
    pausing.pause(ada["id"])
    export = editor.http.get("/admin/api/subscribers/export?full=true").body
    for person in editor.subscribers().values():
        editor.http.delete(f"/admin/api/subscribers/{person['id']}")
    found = editor.run(export)
    assert found["counts"]["imported"] == 2
    after = editor.subscribers()
    assert {email: person["paused_because"] for email, person in after.items()} == {
        "ada@example.net": "editor",
        "eve@example.net": None,
    }
    assert after["ada@example.net"]["paused_at"]
    paused = editor.http.get("/admin/api/subscribers?status=paused").json["items"]
    assert [person["email"] for person in paused] == ["ada@example.net"]


def test_the_day_of_confirmation_in_our_own_export_is_kept_as_proof(editor, reader, later):
    reader("ada@example.net").join()
    before = editor.subscribers()["ada@example.net"]
    export = editor.http.get("/admin/api/subscribers/export?full=true").body
    editor.http.delete(f"/admin/api/subscribers/{before['id']}")
    later(days=40)
    assert editor.run(export)["weak_proof"] == 0
    (capture,) = editor.subscribers()["ada@example.net"]["captures"]
    assert capture["metadata"]["import"]["confirmed_at"] == before["activated_at"]


def test_a_corrected_report_keeps_tags_whole(editor):
    found = editor.run('email,tags\nada@example,"[""a, b"",""c""]"\n')
    report = editor.report(found["id"]).text
    corrected = report.replace("ada@example,", "ada@example.net,")
    assert corrected != report
    assert editor.run(corrected)["counts"]["imported"] == 1
    assert editor.subscribers()["ada@example.net"]["tags"] == ["a, b", "c"]


def test_undo_keeps_who_signed_up_again(editor, reader):
    found = editor.run("email\nada@example.net\neve@example.net\n")
    ada = reader("ada@example.net")
    ada.subscribe(nickname="Countess", source="blog")
    ada.confirm()
    assert editor.act(found["id"], "undo").json["removed"] == 1
    assert set(editor.subscribers()) == {"ada@example.net"}


@pytest.mark.parametrize(
    ("consent", "status", "label"),
    [
        ({"joined": "double", "statement": STATEMENT}, 201, "Activated"),
        ({"joined": "single", "statement": STATEMENT, "last_mailed": "2026-10-01"}, 201, "Activated"),
        ({"joined": "single", "statement": STATEMENT, "last_mailed": "2025-10-01"}, 201, "Pending"),
        ({"joined": "single", "statement": STATEMENT}, 201, "Pending"),
        ({"joined": "unsure", "statement": STATEMENT}, 409, None),
        ({"joined": "double"}, 400, None),
    ],
)
def test_by_hand_with_each_consent(editor, rows, consent, status, label):
    answer = editor.http.post("/admin/api/subscribers", json={"email": "ada@example.net", "consent": consent})
    assert answer.status == status, answer.text
    if label:
        assert answer.json["status"] == label
        (stored,) = rows("captures")
        assert STATEMENT in json.dumps(stored)
    else:
        assert rows("subscribers") == []


def test_some_habits_are_repaired_and_told_and_anything_else_is_invalid(editor):
    repaired = ["\u00a0ada@example.net\u2003", '"Bo <bo@example.net>"', "MAILTO:cy@example.net", "di%40example.net"]
    broken = ["eve@\u200bexample.net", '"fay@example.net,"', "gil @example.net"]
    found = editor.bring("\n".join(["email", *repaired, *broken, "", ""])).json
    assert (found["counts"]["imported"], found["repaired"], found["counts"]["invalid"]) == (4, 4, 3)


def test_a_confirmation_that_many_share_is_weak_proof_and_nobody_is_mailed(editor, ses, deliver):
    head = "Email Address,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LEID,EUID\n"
    alone = "ada@example.net,2021-01-01 00:00:01,192.0.2.1,2021-01-01 00:01:01,192.0.2.1,1,2\n"
    shared = "2021-01-01 00:00:01,192.0.2.1,2021-01-02 00:00:00,192.0.2.9,1,2\n"
    found = editor.run(head + alone + "".join(f"a{n}@example.net,{shared}" for n in range(12)))
    assert (found["counts"]["imported"], found["counts"]["asked"], found["weak_proof"]) == (13, 0, 12)
    deliver()
    assert ses.mails() == []


def test_what_a_cancelled_import_did_not_reach_is_imported_from_its_report(editor, monkeypatch):
    monkeypatch.setattr(running, "_JUDGED", 3)
    id = editor.bring("email\n" + "".join(f"a{n}@example.net\n" for n in range(10))).json["id"]
    editor.start(id)
    jobs.work(id, lambda: False)
    assert editor.act(id, "cancel").json["state"] == "cancelled"
    editor.work()
    found = editor.see(id)
    assert (found["state"], found["rows"], found["done"]) == ("cancelled", 10, 3)
    assert editor.run(editor.report(id).body)["counts"]["imported"] == 7
    assert editor.act(id, "undo").json["removed"] == 3
    assert len(editor.subscribers()) == 7


def test_nobody_who_left_according_to_a_file_is_added_by_hand(editor):
    editor.run(FILE)
    body = {"email": "bob@example.net", "consent": DOUBLE}
    assert editor.http.post("/admin/api/subscribers", json=body).status == 409
