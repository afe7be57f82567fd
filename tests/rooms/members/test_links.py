"""Mailed links: verifying an address, and setting a new password."""

import pytest

from chalicelib.members import mail_limits, model, service
from tests.conftest import received
from tests.rooms.members.person import OTHER, PASSWORD

BAD = (401, {"error": "Invalid or expired token"})
BAD_TOKENS = [
    *(None, "", "x", "0193a5c4-11f0-7a6b-8c01-2d3e4f506172." + "a" * 32, "é" * 70),
    *("0193a5c4-11f0-7a6b-8c01-2d3e4f506172", "." * 100, "a" * 10_000),
]


def _result(answer):
    return answer.status, answer.json


def test_a_verification_verifies_once(person):
    ada = person().join()
    token = ada.token("/verify")
    assert _result(ada.elsewhere().verify(token)) == (200, {"status": "verified"})
    assert ada.me().json["verified"] is True
    assert _result(ada.verify(token)) == BAD


@pytest.mark.parametrize("token", BAD_TOKENS)
def test_a_token_we_did_not_mail_is_refused(person, http, token):
    person().join()
    assert _result(http.post("/api/auth/verify", json={"token": token})) == BAD
    body = {"token": token, "password": OTHER, "password_confirm": OTHER}
    assert _result(http.post("/api/auth/reset", json=body)) == BAD


@pytest.mark.parametrize("token", [5, True, ["x"], {"a": 1}])
def test_a_token_that_is_no_text_is_refused(http, token):
    body = {"token": token, "password": OTHER, "password_confirm": OTHER}
    for path in ("/api/auth/verify", "/api/auth/reset"):
        assert _result(http.post(path, json=body)) == (400, {"error": "token must be text"})


def test_a_verification_works_for_24_hours(person, later):
    ada, bob = person().join(), person("bob@example.net").join()
    later(hours=23, minutes=59)
    assert ada.verify().status == 200
    later(minutes=2)
    assert _result(bob.verify()) == BAD


def test_another_verification_replaces_the_one_before(person):
    ada = person().join()
    old = ada.token("/verify")
    assert _result(ada.send("POST", "/api/auth/request-verify")) == (200, {"status": "sent"})
    ada.deliver()
    assert ada.token("/verify") != old
    assert _result(ada.verify(old)) == BAD
    assert ada.verify().status == 200


def test_who_is_verified_gets_no_other_verification(person):
    ada = person().join_verified()
    assert _result(ada.send("POST", "/api/auth/request-verify")) == (200, {"status": "verified"})
    assert received("members") == []


def test_a_verification_that_is_late_in_the_queue_mails_nobody(person, ses, deliver):
    ada = person().join()
    ada.send("POST", "/api/auth/request-verify")
    ada.verify()
    ses.clear()
    deliver()
    assert ses.mails() == []


def test_another_verification_needs_a_session(http):
    assert _result(http.post("/api/auth/request-verify")) == (401, {"error": "Authentication required"})


def test_a_reset_sets_the_password_verifies_ends_all_sessions_and_signs_nobody_in(person):
    ada = person().join()
    device = ada.elsewhere()
    device.sign_in()
    assert _result(device.request_reset()) == (200, {"status": "sent"})
    answer = device.reset()
    assert _result(answer) == (200, {"status": "reset"})
    assert answer.headers["Set-Cookie"] is None
    assert [ada.me().status, device.me().status] == [401, 401]
    assert device.sign_in(PASSWORD).status == 401
    assert device.sign_in(OTHER).json["verified"] is True


def test_a_reset_works_once_and_ends_older_links(person):
    ada = person().join()
    verification = ada.token("/verify")
    ada.request_reset()
    older = ada.token("/reset")
    ada.request_reset()
    newest = ada.token("/reset")
    assert _result(ada.reset(older)) == BAD
    assert ada.reset(newest).status == 200
    assert _result(ada.reset(newest, PASSWORD, PASSWORD)) == BAD
    assert _result(ada.verify(verification)) == BAD


def test_a_reset_works_for_30_minutes(person, later):
    ada = person().join()
    ada.request_reset()
    later(minutes=29)
    assert service.check_link(model.RESET, ada.token("/reset"))
    later(minutes=2)
    assert not service.check_link(model.RESET, ada.token("/reset"))
    assert _result(ada.reset()) == BAD


@pytest.mark.parametrize(
    ("password", "confirm", "reason"),
    [
        ("weak", "weak", "Password must be 8+ chars with uppercase, number, special char"),
        ("Aa1!" + "x" * 69, "Aa1!" + "x" * 69, "Password too long (max 72 bytes)"),
        (OTHER, PASSWORD, "Passwords do not match"),
    ],
)
def test_a_refused_password_keeps_the_link(person, hashes, password, confirm, reason):
    ada = person().join()
    ada.request_reset()
    hashes.clear()
    assert _result(ada.reset(password=password, confirm=confirm)) == (400, {"error": reason})
    assert hashes == []
    assert ada.sign_in().status == 200
    assert ada.reset().status == 200


def test_a_verification_is_no_reset_and_a_reset_no_verification(person):
    ada = person().join()
    ada.request_reset()
    assert _result(ada.reset(ada.token("/verify"))) == BAD
    assert _result(ada.verify(ada.token("/reset"))) == BAD


def test_a_new_password_ends_a_reset_that_was_mailed(person):
    ada = person().join()
    ada.request_reset()
    assert ada.change().status == 200
    assert _result(ada.reset()) == BAD


def test_a_reset_is_answered_the_same_whether_or_not_the_address_is_known(person, calls, ses):
    ada, gone = person().join(), person("bob@example.net").join()
    gone.delete()
    received("members")
    ses.clear()
    seen = []
    for somebody in (ada, gone, person("cyd@example.net")):
        calls.clear()
        answer = somebody.send("POST", "/api/auth/request-reset", json={"email": somebody.email})
        (message,) = received("members")
        seen.append((answer.status, answer.body, sorted(message), len(message["member_id"]), calls[:-4]))
    assert seen[0] == seen[1] == seen[2]
    assert ses.mails() == []


def test_a_reset_of_an_unknown_address_mails_nobody(person, ses):
    assert person().request_reset().status == 200
    assert ses.mails() == []


@pytest.mark.parametrize("email", [None, 5, "", "ada", "ada@example", "x" * 5000])
def test_a_reset_of_what_is_no_address_is_refused(http, email):
    assert _result(http.post("/api/auth/request-reset", json={"email": email})) == (400, {"error": "Invalid email"})


def test_the_owner_of_an_address_takes_it_back_from_a_stranger_who_never_verified_it(person):
    stranger = person().join()
    owner = person()
    owner.request_reset()
    assert owner.reset().status == 200
    assert stranger.me().status == 401
    assert owner.sign_in(OTHER).json["verified"] is True


def test_looking_at_a_link_uses_nothing_up(person, invite, http):
    ada = person().join()
    ada.request_reset()
    invite("bob@example.net")
    bob = person("bob@example.net")
    links = [
        (model.VERIFY, ada.token("/verify")),
        (model.RESET, ada.token("/reset")),
        (model.INVITE, bob.token("/join", "invitation")),
    ]
    for kind, token in links * 3:
        assert service.check_link(kind, token)
        assert not service.check_link(kind, token[:-1] + ("a" if token[-1] != "a" else "b"))
        assert not service.check_link(kind, None)
    assert ada.verify().status == 200
    assert ada.reset().status == 200
    assert bob.sign_up(invitation=links[2][1]).json["verified"] is True
    assert not any(service.check_link(kind, token) for kind, token in links)


def test_links_of_somebody_who_left_are_dead(person):
    ada = person().join()
    ada.request_reset()
    verification, reset = ada.token("/verify"), ada.token("/reset")
    ada.delete()
    assert _result(ada.verify(verification)) == BAD
    assert _result(ada.reset(reset)) == BAD


def test_a_mail_that_was_not_sent_is_sent_by_the_next_attempt_and_its_link_works(person, ses, deliver, monkeypatch):
    from chalicelib.kernel.errors import Unavailable
    from chalicelib.mail import sender
    from chalicelib.members import jobs

    ada = person()
    ada.sign_up()
    (message,) = received("members")

    def fail(_):
        raise Unavailable

    with monkeypatch.context() as broken:
        broken.setattr(sender, "send", fail)
        for _ in range(mail_limits.MAILS_TO_ONE + 1):
            with pytest.raises(Unavailable):
                jobs.handle(message)
    jobs.handle(message)
    assert ada.verify().status == 200
