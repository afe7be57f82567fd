"""Invitations, and a site that only the invited can join."""

import json

import pytest

from chalicelib.kernel import clock
from tests.conftest import received
from tests.rooms.members.person import PASSWORD

REQUIRED = (403, {"error": "Invitation required"})


@pytest.fixture(autouse=True)
def _invite_only(_open, configure):
    configure(MEMBERS="invite")


def _result(answer):
    return answer.status, answer.json


def _invite(editor, email="ada@example.net"):
    return editor.post("/admin/api/members/invitations", json={"email": email})


def test_an_invitation_is_answered_with_its_id_address_and_end(editor):
    answer = _invite(editor, "Ada@example.net")
    assert answer.status == 201
    assert list(answer.json) == ["id", "email", "expires_at"]
    assert len(answer.json["id"]) == 32
    assert answer.json["email"] == "ada@example.net"
    assert abs(answer.json["expires_at"] - clock.epoch(clock.now()) - 7 * 86_400) <= 5


def test_the_message_holds_an_id_alone_and_the_mail_has_the_link(editor, person, deliver):
    invitation = _invite(editor).json
    (message,) = received("members")
    assert set(message) == {"kind", "invitation_id"}
    assert message["invitation_id"].replace("-", "") == invitation["id"]
    _invite(editor, "bob@example.net")
    deliver()
    assert person("bob@example.net").token("/join", "invitation")


def test_accepting_an_invitation_verifies_the_address(person, invite):
    invite()
    ada = person("ADA@example.net")
    answer = ada.sign_up(invitation=person().token("/join", "invitation"))
    assert answer.status == 201
    assert answer.json["verified"] is True
    assert ada.me().json["verified"] is True
    assert received("members") == []  # nothing to verify


@pytest.mark.parametrize("invitation", [None, "", "x", "0193a5c4-11f0-7a6b-8c01-2d3e4f506172." + "a" * 32, "é" * 99])
def test_without_an_invitation_nobody_joins(person, invitation, hashes):
    assert _result(person().sign_up(invitation=invitation)) == REQUIRED
    assert _result(person().sign_up()) == REQUIRED
    assert hashes == []


def test_an_invitation_for_another_address_is_none(person, invite):
    invite()
    token = person().token("/join", "invitation")
    assert _result(person("bob@example.net").sign_up(invitation=token)) == REQUIRED
    assert person().sign_up(invitation=token).status == 201


def test_an_invitation_is_used_once(person, invite):
    invite()
    ada = person()
    token = ada.token("/join", "invitation")
    assert ada.sign_up(invitation=token).status == 201
    assert _result(person().sign_up(invitation=token)) == REQUIRED
    assert ada.delete().status == 204
    assert _result(person().sign_up(invitation=token)) == REQUIRED


def test_an_invitation_ends_after_seven_days(person, invite, later, editor):
    invite()
    token = person().token("/join", "invitation")
    later(days=7, seconds=1)
    assert _result(person().sign_up(invitation=token)) == REQUIRED
    assert editor.get("/admin/api/members/invitations").json == {"items": []}


def test_a_withdrawn_invitation_is_none(person, invite, editor):
    invitation = invite()
    token = person().token("/join", "invitation")
    path = f"/admin/api/members/invitations/{invitation['id']}"
    answer = editor.delete(path)
    assert (answer.status, answer.body) == (204, b"")
    assert _result(person().sign_up(invitation=token)) == REQUIRED
    assert _result(editor.delete(path)) == (404, {"error": "No such invitation"})


@pytest.mark.parametrize(
    "id", ["x", "0" * 32, "0193a5c4-11f0-7a6b-8c01-2d3e4f506172", "0193a5c411f07a6b8c012d3e4f506172"]
)
def test_an_invitation_that_is_none_cannot_be_withdrawn(editor, id):
    answer = editor.delete(f"/admin/api/members/invitations/{id}")
    assert _result(answer) == (404, {"error": "No such invitation"})


def test_a_withdrawn_invitation_is_not_mailed(editor, deliver, ses):
    invitation = _invite(editor).json
    editor.delete(f"/admin/api/members/invitations/{invitation['id']}")
    deliver()
    assert ses.mails() == []


def test_inviting_again_ends_the_invitation_before(person, invite, editor):
    invite()
    older = person().token("/join", "invitation")
    newer = invite("ADA@example.net")
    assert [entry["id"] for entry in editor.get("/admin/api/members/invitations").json["items"]] == [newer["id"]]
    assert _result(person().sign_up(invitation=older)) == REQUIRED
    token = person("ADA@example.net").token("/join", "invitation")
    assert person().sign_up(invitation=token).status == 201


def test_open_invitations_are_listed_newest_first(invite, editor):
    made = [invite(f"{name}@example.net") for name in "abc"]
    assert editor.get("/admin/api/members/invitations").json == {"items": made[::-1]}


@pytest.mark.parametrize("email", [None, 5, "", "ada", [], "x" * 500])
def test_what_is_no_address_is_not_invited(editor, email):
    assert _result(_invite(editor, email)) == (400, {"error": "Invalid email"})


def test_who_has_an_account_is_not_invited(editor, person, invite):
    invite()
    person().sign_up(invitation=person().token("/join", "invitation"))
    assert _result(_invite(editor, "ADA@example.net")) == (409, {"error": "Email already registered"})


def test_nobody_is_invited_while_there_are_no_members(editor, configure):
    configure(MEMBERS="off")
    assert _invite(editor).status == 409
    assert received("members") == []


def test_mistakes_come_before_the_invitation_and_the_invitation_before_the_address(person, invite):
    invite()
    ada = person()
    token = ada.token("/join", "invitation")
    assert ada.sign_up("weak", invitation=token).status == 400
    assert ada.sign_up(confirm="other", invitation=None).status == 400
    assert ada.sign_up(invitation=token).status == 201
    assert _result(person().sign_up()) == REQUIRED  # not: already registered
    invite("bob@example.net")
    assert _result(person().sign_up(invitation=person("bob@example.net").token("/join", "invitation"))) == REQUIRED


def test_on_an_open_site_an_invitation_verifies_and_a_bad_one_does_not_matter(person, invite, configure):
    configure(MEMBERS="open")
    invite()
    ada = person()
    assert ada.sign_up(invitation=ada.token("/join", "invitation")).json["verified"] is True
    assert person("bob@example.net").sign_up(invitation="bad").json["verified"] is False


def test_who_asked_never_to_be_mailed_is_not_invited(editor, http, ses, deliver):
    http.post("/admin/api/do-not-contact", json={"email": "ada@example.net"})
    assert _invite(editor).json == {"error": "This address is on the do-not-contact list"}
    _invite(editor, "bob@example.net")
    http.post("/admin/api/do-not-contact", json={"email": "bob@example.net"})
    deliver()
    assert ses.mails() == []


def test_an_editor_needs_to_be_one(http):
    assert http.post("/admin/api/members/invitations", json={"email": "ada@example.net"}).status == 401
    assert http.get("/admin/api/members/invitations").status == 401


def test_invitations_are_audited_by_id(editor, capsys):
    invitation = _invite(editor).json
    editor.delete(f"/admin/api/members/invitations/{invitation['id']}")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    audits = [line for line in lines if line["event"] == "audit"]
    assert [line["action"] for line in audits] == ["member.invite", "member.withdraw_invitation"]
    assert {line["invitation_id"].replace("-", "") for line in audits} == {invitation["id"]}
    assert {line["by"] for line in audits} == {"dev@localhost"}
    assert "ada@example.net" not in str(lines)
    assert PASSWORD not in str(lines)
