"""Bringing a list: what is answered, what is stored, and what is not."""

import csv
import io
import json
import os
import time

import pytest

from chalicelib.audience import recipients
from chalicelib.audience.imports import jobs
from chalicelib.audience.stores import subscribers
from tests.rooms.audience.imports.conftest import DOUBLE, STATEMENT

FILE = """email,name,status,tags,created_at
ada@example.net,Ada,subscribed,"news, vip",2021-03-04T05:06:07Z
bob@example.net,Bob,unsubscribed,,2020-01-01T00:00:00Z
"""


def leave(editor, person):
    token = subscribers.find(person.stored()["id"]).unsubscribe_token
    assert editor.http.get(f"/api/unsubscribe?token={token}").status == 200


def test_a_file_is_recognised_and_tried_without_keeping_anything_of_anybody(editor, rows, bucket):
    answer = editor.bring(FILE)
    assert answer.status == 201
    found = answer.json
    assert (found["state"], found["rows"], found["done"]) == ("read", 2, 2)
    assert found["columns"] == ["email", "name", "status", "tags", "created_at"]
    assert found["mapping"]["email"] == 0
    assert (found["delimiter"], found["encoding"], found["header"]) == (",", "utf-8", True)
    assert found["preview"][0][:2] == ["ada@example.net", "Ada"]
    assert found["counts"]["imported"] == 1
    assert found["counts"]["left_elsewhere"] == 1
    assert sum(found["counts"].values()) == 2
    assert not any(rows(table) for table in ("subscribers", "emails", "captures", "leavers", "suppressions"))
    assert len(bucket()) == 1
    assert "example.net" not in json.dumps(rows("imports"))


def test_an_import_adds_active_subscribers_with_proof_and_without_a_mail(editor, rows, bucket, ses, deliver):
    found = editor.run(FILE, source="Old Site", tags=["moved"])
    assert found["state"] == "done"
    assert found["counts"]["imported"] == 1
    ada = editor.subscribers()["ada@example.net"]
    assert (ada["status"], ada["nickname"], ada["sources"]) == ("Activated", "Ada", ["old site"])
    assert ada["tags"] == ["moved", "news", "vip"]
    assert ada["created_at"].startswith("2021-03-04T05:06:07")
    (capture,) = ada["captures"]
    assert capture["status"] == "CONFIRMED"
    assert capture["metadata"]["import"]["statement"] == STATEMENT
    assert capture["metadata"]["import"]["joined_at"].startswith("2021-03-04")
    (row,) = rows("subscribers")
    assert row["import_id"]["S"] == found["id"]
    assert row["unmailed"]["S"] == f"{ada['created_at']}#{ada['id']}"
    deliver()
    assert ses.mails() == []
    assert [event["type"]["S"] for event in rows("events")] == ["IMPORT_FINISHED"]
    assert all("file" not in key for key in bucket()), "the file is deleted when it is done"
    assert sum(int(row["joined"]["N"]) for row in rows("census") if "joined" in row) == 1


def test_who_left_elsewhere_is_remembered_and_can_still_sign_up(editor, reader):
    editor.run(FILE)
    again = editor.run("email\nbob@example.net\n")
    assert again["counts"]["left_elsewhere"] == 1
    bob = reader("bob@example.net")
    bob.subscribe()
    bob.confirm()
    assert editor.subscribers()["bob@example.net"]["status"] == "Activated"
    assert editor.run("email\nbob@example.net\n")["counts"]["already"] == 1


def test_a_complaint_goes_to_do_not_contact(editor, rows):
    found = editor.run("email,status\ncy@example.net,complained\n")
    assert found["counts"]["suppressed"] == 1
    assert len(rows("suppressions")) == 1
    assert editor.run("email\ncy@example.net\n")["counts"]["suppressed"] == 1
    assert editor.subscribers() == {}


def test_each_row_counts_once_and_the_first_of_a_person_carries_the_most_restrictive_result(editor, reader):
    ada = reader("ada@example.net")
    ada.subscribe()
    ada.confirm()
    text = """email,status
ada@example.net,subscribed
new@example.net,subscribed
NEW@example.net,subscribed
gone@example.net,subscribed
gone@example.net,unsubscribed
odd@example.net,flabbergasted
not an address,subscribed
,subscribed

pending@example.net,pending
bad@example.net,bounced
cross@example.net,junk
empty@example.net,
"""
    found = editor.run(text)
    assert found["counts"] == {
        "imported": 2,
        "asked": 0,
        "already": 1,
        "duplicate": 2,
        "invalid": 2,
        "unconfirmed": 2,
        "left_elsewhere": 2,
        "suppressed": 1,
    }
    assert found["done"] == found["rows"] == 12
    assert set(editor.subscribers()) == {"ada@example.net", "new@example.net", "empty@example.net"}


def test_an_active_reader_is_not_changed_but_for_added_tags(editor, reader):
    ada = reader("ada@example.net")
    ada.subscribe(nickname="Countess", tags=["old"], source="blog")
    ada.confirm()
    before = editor.subscribers()["ada@example.net"]
    found = editor.run("email,name,tags\nADA@example.net,Ada,new\n", tags=["moved"])
    assert found["counts"]["already"] == 1
    after = editor.subscribers()["ada@example.net"]
    assert after == before | {"tags": ["moved", "new", "old"]}


def test_somebody_pending_is_left_alone(editor, reader):
    ada = reader("ada@example.net")
    ada.subscribe()
    found = editor.run("email,tags\nada@example.net,new\n")
    assert found["counts"]["already"] == 1
    assert editor.subscribers()["ada@example.net"]["status"] == "Pending"


def test_unsure_imports_nobody(editor):
    found = editor.run(FILE, {"joined": "unsure", "statement": "I do not know."})
    assert found["counts"]["unconfirmed"] == 1
    assert found["counts"]["left_elsewhere"] == 1
    assert editor.subscribers() == {}


@pytest.mark.parametrize(
    ("last_mailed", "expected"), [("2026-11-01", "imported"), ("2020-01-01", "asked"), (None, "asked")]
)
def test_single_opt_in_is_active_only_if_mailed_within_a_year(editor, last_mailed, expected):
    consent = {"joined": "single", "statement": STATEMENT, "last_mailed": last_mailed}
    found = editor.run("email\nada@example.net\n", consent)
    assert found["counts"][expected] == 1
    status = editor.subscribers()["ada@example.net"]["status"]
    assert status == ("Activated" if expected == "imported" else "Pending")


def test_who_left_is_remembered_only_if_the_operator_wants_it(editor, reader, rows, configure):
    for wanted, expected in (("false", "imported"), ("true", "left_elsewhere")):
        configure(REMEMBER_LEAVERS=wanted)
        name = f"{wanted}@example.net"
        ada = reader(name)
        ada.subscribe()
        ada.confirm()
        leave(editor, ada)
        assert editor.run(f"email\n{name}\n")["counts"][expected] == 1
    assert "example.net" not in json.dumps(rows("leavers"))


def test_the_report_lists_what_was_not_imported_and_can_be_imported_again(editor):
    text = 'email,name,status\n=cmd@example.net,"=1+1",unsubscribed\nnot one,Eve,\nada@example.net,Ada,\n'
    id = editor.bring(text).json["id"]
    before = editor.report(id).text
    editor.start(id)
    assert editor.report(id).status == 409
    editor.work()
    answer = editor.report(id)
    assert answer.status == 200
    assert answer.text == before
    found = list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))
    assert [(row["line"], row["result"]) for row in found] == [("2", "left_elsewhere"), ("3", "invalid")]
    assert found[0]["name"] == "'=1+1"
    again = editor.bring(answer.body).json
    assert (again["rows"], again["counts"]["left_elsewhere"], again["counts"]["invalid"]) == (2, 1, 1)


def test_a_report_is_gone_after_a_day(editor, later, bucket):
    found = editor.run("email\nnot one\n")
    later(hours=25)
    jobs.sweep(lambda: True)
    assert editor.report(found["id"]).status == 404
    assert bucket() == []


def test_a_large_file_is_posted_and_then_read(editor, media_bucket):
    import boto3

    answer = editor.http.post("/admin/api/imports", json={"size": 40, "content_type": "text/csv"})
    assert answer.status == 201
    assert (answer.json["state"], set(answer.json["upload"])) == ("waiting", {"url", "fields"})
    id = answer.json["id"]
    assert editor.read(id).status == 409, "nothing has arrived yet"
    key = answer.json["upload"]["fields"]["key"]
    boto3.client("s3").put_object(Bucket=media_bucket, Key=key, Body=FILE.encode())
    read = editor.read(id)
    assert (read.status, read.json["state"], read.json["rows"]) == (201, "read", 2)
    again = editor.read(id, mapping={"email": 0}, delimiter=",", encoding="utf-8", header=False)
    assert (again.status, again.json["rows"], again.json["header"]) == (200, 3, False)


@pytest.mark.parametrize("body", [b"", b"\x00\x01\x02\xff\xfe\xfd" * 50])
def test_what_is_no_list_is_refused(editor, body):
    assert editor.bring(body).status == 400


def test_a_broken_zip_is_refused(editor):
    assert editor.bring(b"PK\x03\x04 nonsense", "application/zip").status == 400


def test_more_than_four_megabytes_are_refused(editor):
    assert editor.bring(b"email\n" + b"a@example.net\n" * 310_000).status == 413
    large = {"size": 101 * 1024 * 1024, "content_type": "text/csv"}
    assert editor.http.post("/admin/api/imports", json=large).status == 413


@pytest.mark.parametrize(
    "consent",
    [
        None,
        {},
        {"joined": "double"},
        {"joined": "double", "statement": "  "},
        {"joined": "double", "statement": "x" * 501},
        {"joined": "perhaps", "statement": STATEMENT},
        {"joined": "single", "statement": STATEMENT, "last_mailed": "2999-01-01"},
        {"joined": "single", "statement": STATEMENT, "last_mailed": "last year"},
    ],
)
def test_nothing_starts_without_a_word_on_consent(editor, consent):
    id = editor.bring(FILE).json["id"]
    assert editor.start(id, consent).status == 400
    assert editor.see(id)["state"] == "read"


def test_an_import_starts_once(editor):
    id = editor.bring(FILE).json["id"]
    assert editor.start(id).status == 202
    assert editor.start(id).status == 409
    assert editor.read(id).status == 409


def test_the_answer_says_how_many_left_since_the_file_was_exported(editor, reader):
    ada = reader("ada@example.net")
    ada.subscribe()
    ada.confirm()
    leave(editor, ada)
    id = editor.bring(FILE).json["id"]
    assert editor.read(id, exported_on="2026-01-01").json["left_since"] == 1
    assert editor.see(id)["left_since"] == 1


def test_a_cancelled_import_stops_where_it_is(editor, bucket):
    id = editor.bring(FILE).json["id"]
    editor.start(id)
    assert editor.act(id, "cancel").json["state"] == "cancelled"
    editor.work()
    found = editor.see(id)
    assert (found["state"], found["done"]) == ("cancelled", 0)
    assert editor.subscribers() == {}
    assert len(editor.report(id).text.splitlines()) == 3
    assert all("file" not in key for key in bucket())
    assert editor.act(id, "cancel").status == 200


def test_cancelling_before_the_start_deletes_the_file(editor, bucket):
    id = editor.bring(FILE).json["id"]
    assert editor.act(id, "cancel").json["state"] == "cancelled"
    assert bucket() == []


def test_undo_removes_exactly_those_who_have_done_nothing_since(editor, reader, rows):
    old = reader("old@example.net")
    old.subscribe()
    old.confirm()
    text = "email,status\nold@example.net,\nada@example.net,\neve@example.net,\nbob@example.net,unsubscribed\n"
    found = editor.run(text)
    eve = editor.subscribers()["eve@example.net"]
    assert editor.http.patch(f"/admin/api/subscribers/{eve['id']}", json={"nickname": "Eve"}).status == 200
    answer = editor.act(found["id"], "undo")
    assert (answer.status, answer.json["state"], answer.json["removed"]) == (200, "undone", 1)
    assert set(editor.subscribers()) == {"old@example.net", "eve@example.net"}
    assert len(rows("emails")) == 2
    assert rows("leavers") == []
    assert editor.act(found["id"], "undo").json["removed"] == 1
    types = [event["type"]["S"] for event in rows("events")]
    assert (types.count("IMPORT_UNDONE"), types.count("UNSUBSCRIBED")) == (1, 0)


def test_undo_ends_after_thirty_days(editor, later):
    found = editor.run(FILE)
    later(days=31)
    assert editor.act(found["id"], "undo").status == 409


def test_our_full_export_is_imported_without_loss(editor, reader):
    ada = reader("ada@example.net")
    ada.subscribe(nickname="Ada", tags=["a", "b"], source="blog", metadata={"page": "/x", "deep": {"n": 1}})
    ada.confirm()
    ada.subscribe(tags=["c, d"], source="Shop; corner")
    ada.confirm()
    before = editor.subscribers()["ada@example.net"]
    export = editor.http.get("/admin/api/subscribers/export?full=true").body
    editor.http.delete(f"/admin/api/subscribers/{before['id']}")
    assert editor.run(export)["counts"]["imported"] == 1
    after = editor.subscribers()["ada@example.net"]
    same = ("email", "nickname", "status", "sources", "tags", "created_at")
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    by_source = {capture["source"]: capture["metadata"] for capture in after["captures"]}
    assert set(by_source) == {"blog", "shop; corner"}
    assert {name: by_source["blog"][name] for name in ("page", "deep")} == {"page": "/x", "deep": {"n": 1}}


def test_ip_addresses_are_kept_as_keyed_hash_and_only_if_wanted(editor, rows, configure):
    text = "Email Address,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP\n{},2021-01-01 00:00:01,192.0.2.7,{}\n"
    editor.run(text.format("ada@example.net", "2021-01-01 00:00:02,192.0.2.7"))
    configure(KEEP_IP_HASH="true")
    editor.run(text.format("eve@example.net", "2021-01-01 00:00:03,192.0.2.7"))
    hashes = ["ip_hash" in row for row in rows("captures")]
    assert sorted(hashes) == [False, True]
    assert "192.0.2.7" not in json.dumps(rows("captures"))


def test_rows_without_proof_are_counted_beside_the_eight(editor):
    found = editor.run("email\nada@example.net\nnot one\n")
    assert found["weak_proof"] == 1
    assert sum(found["counts"].values()) == 2


def test_a_bare_list_of_bounces_is_imported_as_that(editor):
    id = editor.bring("email\nada@example.net\n").json["id"]
    assert editor.read(id, status="bounced").json["counts"]["left_elsewhere"] == 1
    editor.start(id)
    editor.work()
    assert editor.see(id)["counts"]["left_elsewhere"] == 1


def test_imports_are_listed_newest_first(editor):
    first, second = editor.bring(FILE).json["id"], editor.bring(FILE).json["id"]
    assert [item["id"] for item in editor.http.get("/admin/api/imports").json["items"]] == [second, first]


def test_an_import_that_is_never_started_ends_after_a_day(editor, later, bucket):
    id = editor.bring(FILE).json["id"]
    later(hours=25)
    jobs.sweep(lambda: True)
    found = editor.see(id)
    assert found["state"] == "failed"
    assert "Upload it again" in found["error"]
    assert bucket() == []


def test_a_lost_message_is_found_again(editor, later):
    from tests.conftest import received

    id = editor.bring(FILE).json["id"]
    editor.start(id)
    received("feed")
    jobs.sweep(lambda: True)
    editor.work()
    assert editor.see(id)["state"] == "done"


def test_an_import_whose_file_is_gone_fails_with_a_reason(editor, media_bucket, bucket):
    import boto3

    id = editor.bring(FILE).json["id"]
    editor.start(id)
    for key in bucket():
        boto3.client("s3").delete_object(Bucket=media_bucket, Key=key)
    editor.work()
    assert editor.see(id)["state"] == "failed"


def test_one_subscriber_is_added_by_hand(editor, rows, deliver, ses):
    body = {"email": "Ada@Example.net", "nickname": "Ada", "tags": ["vip"], "consent": DOUBLE}
    answer = editor.http.post("/admin/api/subscribers", json=body)
    assert answer.status == 201
    assert (answer.json["status"], answer.json["tags"]) == ("Activated", ["vip"])
    assert editor.http.post("/admin/api/subscribers", json=body).status == 409
    deliver()
    assert ses.mails() == []
    types = [event["type"]["S"] for event in rows("events")]
    assert sorted(types) == ["SUBSCRIPTION_CONFIRMED", "SUBSCRIPTION_CREATED"]
    assert "import_id" not in rows("subscribers")[0]


def test_somebody_added_by_hand_without_confirmation_is_asked_once(editor, deliver, ses):
    consent = {"joined": "single", "statement": "At my stall"}
    answer = editor.http.post("/admin/api/subscribers", json={"email": "ada@example.net", "consent": consent})
    assert (answer.status, answer.json["status"]) == (201, "Pending")
    deliver()
    deliver()
    assert len(ses.mails()) == 1


@pytest.mark.parametrize("body", [{}, {"email": "ada@example.net"}, {"email": "nobody", "consent": DOUBLE}])
def test_by_hand_needs_an_address_and_consent(editor, body):
    assert editor.http.post("/admin/api/subscribers", json=body).status == 400


def test_nobody_on_the_do_not_contact_list_is_added_by_hand(editor):
    editor.http.post("/admin/api/do-not-contact", json={"email": "ada@example.net"})
    body = {"email": "ada@example.net", "consent": DOUBLE}
    assert editor.http.post("/admin/api/subscribers", json=body).status == 409
    unsure = {"email": "eve@example.net", "consent": {"joined": "unsure", "statement": "?"}}
    assert editor.http.post("/admin/api/subscribers", json=unsure).status == 409


def test_taking_an_import_back_does_not_forget_what_another_file_said(editor, rows):
    left = "email,status\nbob@example.net,unsubscribed\n"
    first, second = editor.run(left), editor.run(left)
    editor.act(first["id"], "undo")
    assert editor.run("email\nbob@example.net\n")["counts"]["left_elsewhere"] == 1
    editor.act(second["id"], "undo")
    assert rows("leavers") == [], "nobody says so any more"
    assert editor.run("email\nbob@example.net\n")["counts"]["imported"] == 1


@pytest.mark.parametrize(
    ("word", "result", "table"),
    [("unsubscribed", "left_elsewhere", "leavers"), ("cleaned", "left_elsewhere", "leavers"),
     ("complained", "suppressed", "suppressions")],
)  # fmt: skip
@pytest.mark.parametrize("joined", ["double", "single"])
def test_the_most_restrictive_file_wins_in_either_order(editor, rows, word, result, table, joined):
    consent = {"joined": joined, "statement": STATEMENT}
    editor.run("email,tags\nada@example.net,vip\nbea@example.net,\n", consent)
    found = editor.run(f"email,status\nada@example.net,{word}\n")
    assert found["counts"][result] == 1
    assert list(editor.subscribers()) == ["bea@example.net"]
    assert len(rows(table)) == 1
    assert len(rows("emails")) == 1
    if joined == "double":
        assert sum(int(row["joined"]["N"]) - int(row["left"]["N"]) for row in rows("census") if "joined" in row) == 1
    assert editor.run("email\nada@example.net\n")["counts"][result] == 1
    assert list(editor.subscribers()) == ["bea@example.net"]


def test_a_file_does_not_remove_imported_people_who_get_campaigns_or_have_done_something(editor, reader):
    editor.run("email\nada@example.net\nbea@example.net\n")
    people = editor.subscribers()
    recipients.clear_unmailed([people["ada@example.net"]["id"]])
    bea = f"/admin/api/subscribers/{people['bea@example.net']['id']}"
    assert editor.http.patch(bea, json={"nickname": "Bea"}).status == 200
    editor.run("email,status\nada@example.net,unsubscribed\nbea@example.net,complained\n")
    assert sorted(editor.subscribers()) == ["ada@example.net", "bea@example.net"]


def test_what_a_misshapen_row_says_against_somebody_holds_for_their_other_rows(editor):
    broken = "ada@example.net,Smith, Jr,unsubscribed\n"
    for lines in (f"ada@example.net,Ada,subscribed\n{broken}", f"{broken}ada@example.net,Ada,subscribed\n"):
        found = editor.run(f"email,name,status\n{lines}bea@example.net,Bea,subscribed\n")
        assert (found["counts"]["left_elsewhere"], found["counts"]["invalid"]) == (1, 1)
    assert list(editor.subscribers()) == ["bea@example.net"]


def test_a_misshapen_row_without_a_word_against_somebody_changes_nothing_for_their_other_rows(editor):
    found = editor.run("email,name,status\nada@example.net,Smith, Jr,subscribed\nada@example.net,Ada,subscribed\n")
    assert (found["counts"]["imported"], found["counts"]["invalid"]) == (1, 1)


def test_what_a_killed_call_left_on_disk_is_removed(editor, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    killed, at_work = tmp_path / "import-killed", tmp_path / "import-at-work"
    for folder in (killed, at_work):
        folder.mkdir()
        (folder / "file").write_text("ada@example.net")
    os.utime(killed, (time.time() - 4000,) * 2)
    editor.bring(FILE)
    assert list(tmp_path.iterdir()) == [at_work]
