"""Members as editors see them."""

import json

import pytest

from chalicelib.kernel.aws import tables
from chalicelib.members import service
from chalicelib.members.stores import members
from tests.rooms.members.person import PASSWORD


def _dashed(id):
    return "-".join((id[:8], id[8:12], id[12:16], id[16:20], id[20:]))


def test_members_are_listed_newest_first_with_counts_and_last_sign_in(person, editor):
    ada = person("Ada@example.net").join_verified()
    bob = person("bob@example.net").join()
    account = ada.sign_in().json
    tables.transact(service.count_write(_dashed(account["id"]), sightings=3, shared=1))
    answer = editor.get("/admin/api/members")
    assert answer.status == 200
    assert answer.json == {
        "page": 1,
        "per_page": 20,
        "total": 2,
        "items": [
            {**bob.me().json, "sightings": 0, "shared": 0},
            {**account, "sightings": 3, "shared": 1},
        ],
    }
    assert set(answer.json["items"][0]) == {
        *("id", "email", "verified", "created_at", "last_login_at", "sightings", "shared")
    }


def test_the_list_has_pages(person, editor):
    for number in range(5):
        person(f"m{number}@example.net").join()
    pages = [editor.get(f"/admin/api/members?page={number}&per_page=2").json for number in (1, 2, 3, 4)]
    assert [[item["email"][:2] for item in page["items"]] for page in pages] == [
        ["m4", "m3"],
        ["m2", "m1"],
        ["m0"],
        [],
    ]
    assert {(page["per_page"], page["total"]) for page in pages} == {(2, 5)}
    assert [page["page"] for page in pages] == [1, 2, 3, 4]


def test_an_empty_list(editor):
    assert editor.get("/admin/api/members").json == {"items": [], "page": 1, "per_page": 20, "total": 0}


@pytest.mark.parametrize("query", ["page=0", "page=x", "per_page=101", "per_page=0", "page=-1"])
def test_a_page_that_is_none_is_refused(editor, query):
    assert editor.get(f"/admin/api/members?{query}").status == 400


def test_a_page_far_beyond_the_last_reads_no_members(person, editor, calls):
    person().join()
    calls.clear()
    assert editor.get("/admin/api/members?page=1000000&per_page=100").json["items"] == []
    assert calls == ["GetItem"]


def test_closing_an_account_does_what_deleting_does(person, editor, rows):
    ada = person().join()
    id = ada.me().json["id"]
    answer = editor.post(f"/admin/api/members/{id}/close")
    assert (answer.status, answer.body) == (204, b"")
    assert ada.me().status == 401
    assert ada.sign_in().status == 401
    assert editor.get("/admin/api/members").json["items"] == []
    assert members.count() == 0
    assert rows("member-emails") == []
    ada.deliver()
    assert "todo" not in next(row for row in rows("members") if row["id"]["S"] != "count")
    assert ada.sign_up().status == 201


def test_closing_twice_or_nobodys_account_is_not_found(person, editor):
    ada = person().join()
    id = ada.me().json["id"]
    assert editor.post(f"/admin/api/members/{id}/close").status == 204
    for unknown in (id, "x", "count", "0" * 32, "0193a5c411f07a6b8c012d3e4f506172", _dashed(id), id.upper(), "é"):
        answer = editor.post(f"/admin/api/members/{unknown}/close")
        assert (answer.status, answer.json) == (404, {"error": "No such member"}), unknown


def test_closing_is_audited_by_id(person, editor, capsys):
    ada = person().join()
    id = ada.me().json["id"]
    capsys.readouterr()
    editor.post(f"/admin/api/members/{id}/close")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (audit,) = [line for line in lines if line["event"] == "audit"]
    assert (audit["action"], audit["by"], audit["member_id"]) == ("member.close", "dev@localhost", _dashed(id))
    assert ada.email not in str(lines)


def test_editors_need_no_members_to_look(editor, configure, person):
    ada = person().join()
    id = ada.me().json["id"]
    configure(MEMBERS="off")
    assert editor.get("/admin/api/members").json["total"] == 1
    assert editor.post(f"/admin/api/members/{id}/close").status == 204


def test_a_member_is_no_editor(person, http):
    ada = person().join()
    calls = [
        ("GET", "/admin/api/members"),
        ("GET", "/admin/api/members/invitations"),
        ("POST", "/admin/api/members/invitations"),
        ("POST", f"/admin/api/members/{ada.me().json['id']}/close"),
    ]
    for method, path in calls:
        assert ada.send(method, path).status == 401, path
    assert ada.sign_in(PASSWORD).status == 200
