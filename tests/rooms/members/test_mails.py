"""Mails to members: what they say, and to whom none goes."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from chalicelib.kernel.aws import queues
from chalicelib.members import jobs, mail_limits, service
from tests.conftest import received
from tests.rooms.members.person import OTHER

NEVER = re.compile(r"https://news\.example\.org/never\?token=\S+")


def _never(mail):
    found = NEVER.search(mail["text"])
    return found and parse_qs(urlsplit(found.group(0)).query)["token"][0]


@pytest.fixture
def delays(monkeypatch):
    """How long each message was asked to wait."""
    asked = []
    real = queues.send

    def send(queue, message, delay_seconds=0):
        asked.append(delay_seconds)
        real(queue, message)

    monkeypatch.setattr(queues, "send", send)
    return asked


def _opt_out(http, mail):
    return http.post("/never", form={"token": _never(mail)}, Origin="https://news.example.org")


def test_the_verification_says_what_happens_without_it(person):
    (mail,) = person().join().mails()
    assert mail["subject"] == "Please verify your address for The Daily Test"
    for text in (mail["text"], mail["html"]):
        words = " ".join(text.split())
        assert "24 hours" in words
        assert "after 30 days the account is deleted" in words
        assert "https://news.example.org/verify?token=" in words
    assert _never(mail)


def test_the_reset_says_how_long_it_works_and_a_verified_member_need_not_be_asked_whether_to_be_mailed(person):
    ada = person().join_verified()
    ada.request_reset()
    mail = ada.mails()[0]
    assert mail["subject"] == "Set a new password for The Daily Test"
    assert "30 minutes" in mail["text"]
    assert "https://news.example.org/reset?token=" in mail["text"]
    assert not _never(mail)
    assert "never email me" not in mail["html"]
    bob = person("bob@example.net").join()
    bob.request_reset()
    assert _never(bob.mails()[0])


def test_the_invitation_has_its_link_and_the_way_out(invite, person):
    invite()
    (mail,) = person().mails()
    assert mail["subject"] == "You are invited to join The Daily Test"
    assert "seven days" in mail["text"]
    assert "https://news.example.org/join?invitation=" in mail["text"]
    assert _never(mail)


def test_mails_are_automatic_and_quote_nothing_a_stranger_typed(person):
    (mail,) = person("Buy-Now+cheap.pills@example.net").join().mails()
    assert "cheap" not in mail["html"] + mail["text"]
    assert mail["headers"]["Auto-Submitted"] == "auto-generated"


def test_who_asked_never_to_be_mailed_gets_nothing_because_a_stranger_typed_their_address(person, editor, ses):
    editor.post("/admin/api/do-not-contact", json={"email": "ADA@example.net"})
    ada = person().join()
    ada.send("POST", "/api/auth/request-verify")
    ada.request_reset()
    assert ses.mails() == []
    assert ada.me().status == 200


def test_a_verified_member_gets_a_reset_whether_or_not_they_want_campaigns(person, editor):
    ada = person().join_verified()
    editor.post("/admin/api/do-not-contact", json={"email": ada.email})
    ada.request_reset()
    assert ada.reset().status == 200


def test_opting_out_closes_an_account_that_was_never_verified(person, http, rows):
    stranger = person().join()
    assert _opt_out(http, stranger.mails()[0]).status == 200
    assert stranger.me().status == 401
    assert rows("member-emails") == []
    assert [message["kind"] for message in received("members")] == ["depart"]


@pytest.mark.parametrize("path", ["/admin/api/do-not-contact", "/admin/do-not-contact"])
def test_an_editor_who_sets_do_not_contact_closes_an_account_that_was_never_verified(person, editor, path, rows):
    stranger, other = person().join(), person("bob@example.net").join_verified()
    kind = "json" if "api" in path else "form"
    for email in (stranger.email.upper(), other.email):
        editor.post(path, **{kind: {"email": email}}, Origin="https://news.example.org")
    assert stranger.me().status == 401
    assert other.me().status == 200
    assert len(rows("suppressions")) == 2


def test_a_complaint_closes_an_account_that_was_never_verified(person, http, ses, deliver):
    from chalicelib.audience import jobs as audience_jobs
    from chalicelib.bounces import jobs as bounce_jobs
    from tests.rooms.bounces.test_service import event

    http.post("/api/subscribe", json={"email": "reader@example.org"})
    for message in received("audience"):
        audience_jobs.handle(message)
    stranger = person("reader@example.org").join()
    for _ in range(2):  # complaints come twice
        bounce_jobs.handle(event("event_complaint"))
    assert stranger.me().status == 401


def test_do_not_contact_that_was_cut_short_is_finished_by_the_next_attempt(person, http, monkeypatch, rows):
    from chalicelib.audience import erasure
    from chalicelib.kernel.errors import Unavailable

    stranger = person().join()

    def fail(*_):
        raise Unavailable

    with monkeypatch.context() as broken:
        broken.setattr(erasure, "_suppress", fail)
        assert _opt_out(http, stranger.mails()[0]).status == 503
    assert _opt_out(http, stranger.mails()[0]).status == 200
    assert stranger.me().status == 401
    assert len(rows("suppressions")) == 1


def test_opting_out_leaves_a_verified_account_as_it_is(person, http):
    ada = person().join()
    (mail,) = ada.mails()
    ada.verify()
    assert _opt_out(http, mail).status == 200
    assert ada.me().status == 200
    ada.request_reset()
    assert ada.reset().status == 200


def test_opting_out_by_a_profile_link_does_the_same(person, http, ses):
    from chalicelib.audience import jobs as audience_jobs

    stranger = person().join()
    ses.clear()

    def token(path):
        for message in received("audience"):
            audience_jobs.handle(message)
        text = ses.mails(to=stranger.email)[0]["text"]
        return re.search(rf"{path}\?token=(\S+)", text).group(1)

    http.post("/api/subscribe", json={"email": stranger.email})
    http.get(f"/confirm?token={token('/confirm')}")
    http.post("/api/profile/request-link", json={"email": stranger.email})
    form = {"token": token("/profile")}
    assert http.post("/profile/never", form=form, Origin="https://news.example.org").status == 200
    assert stranger.me().status == 401


def test_opting_out_ends_an_invitation(invite, person, http, editor):
    invite()
    invite("bob@example.net")
    token = person().token("/join", "invitation")
    assert _opt_out(http, person().mails()[0]).status == 200
    assert [entry["email"] for entry in editor.get("/admin/api/members/invitations").json["items"]] == [
        "bob@example.net"
    ]
    assert person().sign_up(invitation=token).json["verified"] is False


def test_forgetting_an_address_nobody_has_is_nothing(aws, rows):
    service.forget_address("nobody@example.net")
    assert rows("members") == []


def test_verifications_beyond_the_hours_limit_wait_in_the_queue_and_are_not_lost(
    person, configure, delays, later, still, ses
):
    configure(MAILS_PER_HOUR="2")
    people = [person(f"{name}@example.net") for name in "abc"]
    for somebody in people:
        assert somebody.sign_up().status == 201
    for message in received("members"):
        jobs.handle(message)
    assert len(ses.mails()) == 2
    for _ in range(3):
        (waiting,) = received("members")
        assert set(waiting) == {"kind", "member_id", "network"}
        assert delays[-1] == 900
        jobs.handle(waiting)
    assert len(ses.mails()) == 2
    later(hours=1)
    (waiting,) = received("members")
    jobs.handle(waiting)
    assert len(ses.mails()) == 3
    assert all(somebody.verify().status == 200 for somebody in people)


def test_what_waits_is_dropped_when_there_is_no_reason_for_it_any_more(person, configure, still, ses):
    configure(MAILS_PER_HOUR="1")
    person("bob@example.net").join()
    ada = person()
    ada.sign_up()
    ada.deliver()
    ada.delete()
    ada.deliver()
    assert [message["kind"] for message in received("members")] in ([], ["depart"])
    assert ses.mails(to=ada.email) == []


def test_resets_of_verified_members_do_not_wait_for_strangers(person, configure, still):
    ada = person().join_verified()
    configure(MAILS_PER_HOUR="1")
    person("bob@example.net").join()
    ada.request_reset()
    assert ada.reset().status == 200


def test_one_address_gets_a_few_mails_an_hour_however_often_strangers_sign_it_up(person, still, configure):
    configure(MAILS_PER_HOUR="100")
    for _ in range(mail_limits.MAILS_TO_ONE + 3):
        stranger = person().join()
        assert stranger.delete().status == 204
    assert len(stranger.mails()) == mail_limits.MAILS_TO_ONE


def test_nothing_is_mailed_while_there_are_no_members(person, configure, ses, editor):
    ada = person()
    ada.sign_up()
    ada.send("POST", "/api/auth/request-reset", json={"email": ada.email})
    editor.post("/admin/api/members/invitations", json={"email": "bob@example.net"})
    configure(MEMBERS="off")
    ada.deliver()
    assert ses.mails() == []


def test_a_mail_that_is_refused_is_not_tried_again(person, ses, monkeypatch):
    from chalicelib.mail import sender
    from chalicelib.mail.failures import Rejected

    def reject(_):
        raise Rejected("no")

    monkeypatch.setattr(sender, "send", reject)
    ada = person().join()
    assert received("members") == []
    assert ada.me().status == 200


def test_a_reset_for_somebody_who_changed_their_password_meanwhile_is_not_mailed(person, ses, monkeypatch):
    from chalicelib.members.stores import members

    ada = person().join_verified()
    ses.clear()
    ada.send("POST", "/api/auth/request-reset", json={"email": ada.email})
    real = members.find

    def find(member_id):
        monkeypatch.setattr(members, "find", real)
        found = real(member_id)
        assert ada.change(password=OTHER, confirm=OTHER).status == 200
        return found

    monkeypatch.setattr(members, "find", find)
    ada.deliver()
    assert ses.mails() == []
