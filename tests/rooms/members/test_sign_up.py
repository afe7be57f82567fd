"""Creating an account: what is checked, in which order, and what is there afterwards."""

import pytest

from chalicelib.kernel import clock
from chalicelib.members.stores import members
from tests.conftest import received
from tests.rooms.members.person import PASSWORD

WEAK = "Password must be 8+ chars with uppercase, number, special char"
LONG = "Password too long (max 72 bytes)"
DIFFERENT = "Passwords do not match"


def _refused(answer, status, reason):
    assert (answer.status, answer.json) == (status, {"error": reason})
    assert answer.headers["Set-Cookie"] is None


def test_a_new_account_is_answered_with_its_body_and_a_session(person):
    ada = person("Ada@Example.net")
    answer = ada.sign_up()
    assert answer.status == 201
    assert list(answer.json) == ["id", "email", "verified", "created_at", "last_login_at"]
    assert len(answer.json["id"]) == 32
    assert int(answer.json["id"], 16)
    assert answer.json["email"] == "ada@example.net"
    assert answer.json["verified"] is False
    assert abs(answer.json["created_at"] - clock.epoch(clock.now())) <= 5
    assert answer.json["last_login_at"] is None
    assert answer.headers["Cache-Control"] == "no-store"
    assert ada.me().json == answer.json


@pytest.mark.parametrize(
    "email",
    [
        *(None, 5, True, [], {}, "", "  ", "ada", "ada@", "@example.net", "ada@example", "a b@example.net"),
        *(
            "a" * 65 + "@example.net",
            "ada@" + "a" * 60_000,
            "ada@example.net\nBcc: b@example.net",
            "ada@@example.net",
        ),
        *("ada@" + ".".join(["a" * 60] * 5) + ".net", "äda@example.net", "ada@exa\x00mple.net"),
    ],
)
def test_an_address_that_is_none_is_refused(person, email):
    _refused(person(email).sign_up(), 400, "Invalid email")


@pytest.mark.parametrize(
    "password",
    [None, 5, ["x"], {"a": 1}, "", "Ab1!xyz", "lower-case1", "NO-DIGITS", "NoSpecial1", "        ", "ÀÉ123456"],
)
def test_a_weak_password_is_refused(person, password):
    _refused(person().sign_up(password, password), 400, WEAK)


@pytest.mark.parametrize("password", ["Ab1!xyzw", "ÄÖ ü 12x", "Жизнь 42", "A١ bcdefg", "X" * 69 + " 1x"])
def test_a_password_may_have_any_script_and_spaces(person, password):
    ada = person()
    assert ada.sign_up(password, password).status == 201
    assert ada.sign_in(password).status == 200


@pytest.mark.parametrize(
    "password", ["Aa1!" + "x" * 69, "Aa1!" + "é" * 35, "Aa1!" + "🦊" * 18, "a" * 73, "A" * 20_000]
)
def test_more_than_72_bytes_are_refused_before_hashing(person, hashes, password):
    _refused(person().sign_up(password, password), 400, LONG)
    assert hashes == []


@pytest.mark.parametrize("password", ["Aa1!" + "x" * 68, "Aa1!" + "é" * 34, "Aa1!" + "🦊" * 17])
def test_72_bytes_are_a_password_to_the_last_byte(person, password):
    ada = person()
    assert ada.sign_up(password, password).status == 201
    assert ada.sign_in(password[:-1]).status == 401
    assert ada.sign_in(password).status == 200


def test_a_password_is_the_same_however_its_accents_were_typed(person):
    ada = person()
    assert ada.sign_up("Cafe\u0301-123", "Caf\u00e9-123").status == 201
    assert ada.sign_in("Caf\u00e9-123").status == 200


def test_a_password_counts_beyond_a_zero_byte(person):
    ada = person()
    assert ada.sign_up("Aa1!aaaa\0b", "Aa1!aaaa\0b").status == 201
    assert ada.sign_in("Aa1!aaaa\0c").status == 401


@pytest.mark.parametrize("confirm", [None, 5, "", PASSWORD + "x", PASSWORD.lower()])
def test_a_confirmation_that_differs_is_refused(person, confirm):
    _refused(person().sign_up(confirm=confirm), 400, DIFFERENT)


def test_address_then_length_then_strength_then_confirmation_are_checked_and_then_whether_it_is_taken(person):
    person().join()
    ada, nobody = person(), person("nobody")
    _refused(nobody.sign_up("a" * 73, "b"), 400, "Invalid email")
    _refused(ada.sign_up("a" * 73, "b"), 400, LONG)
    _refused(ada.sign_up("a", "b"), 400, WEAK)
    _refused(ada.sign_up(PASSWORD, "b"), 400, DIFFERENT)
    _refused(ada.sign_up(), 409, "Email already registered")


@pytest.mark.parametrize("email", ["ADA@example.net", " ada@example.net ", "ada@EXAMPLE.NET"])
def test_one_address_has_one_account_in_any_case(person, email, rows, hashes):
    person("ada@example.net").join()
    hashes.clear()
    _refused(person(email).sign_up(), 409, "Email already registered")
    assert len(rows("member-emails")) == 1
    assert hashes == []


def test_unknown_fields_are_ignored(person):
    answer = person().sign_up(verified=True, id="x", last_login_at=5, generation=9)
    assert (answer.status, answer.json["verified"], answer.json["last_login_at"]) == (201, False, None)


def test_a_form_is_not_accepted(http):
    form = {"email": "ada@example.net", "password": PASSWORD, "password_confirm": PASSWORD}
    assert http.post("/api/auth/signup", form=form, Origin="https://news.example.org").status == 400


def test_the_verification_is_queued_by_id_and_a_pseudonym_of_the_network(person):
    ada = person()
    answer = ada.sign_up()
    (message,) = received("members")
    assert set(message) == {"kind", "member_id", "network"}
    assert message["kind"] == "verify"
    assert len(message["network"]) == 64
    assert ada.ip.rpartition(".")[0] not in str(message)
    assert message["member_id"].replace("-", "") == answer.json["id"]


def test_an_account_stands_when_its_mail_cannot_be_queued(person, monkeypatch):
    from chalicelib.kernel.aws import queues
    from chalicelib.kernel.errors import Unavailable

    def fail(*_):
        raise Unavailable

    monkeypatch.setattr(queues, "send", fail)
    ada = person()
    assert ada.sign_up().status == 201
    assert ada.me().status == 200


def test_accounts_are_counted_as_they_come_and_go(person):
    ada, bob = person().join(), person("bob@example.net").join()
    assert members.count() == 2
    person().sign_up()
    assert members.count() == 2
    assert bob.delete().status == 204
    assert members.count() == 1
    assert ada.me().status == 200
