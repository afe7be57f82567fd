"""Signing in: the same answer, and the same work, for everybody who cannot."""

import pytest

from chalicelib.kernel import clock
from chalicelib.members import passwords
from tests.rooms.members.person import OTHER, PASSWORD

BAD = {"error": "Invalid email or password"}


def test_signing_in_is_answered_with_the_account_and_a_session_of_its_own(person):
    ada = person().join()
    first, account = ada.cookie, ada.me().json
    answer = ada.sign_in()
    assert answer.status == 200
    assert ada.cookie != first
    assert abs(answer.json["last_login_at"] - clock.epoch(clock.now())) <= 5
    assert answer.json == {**account, "last_login_at": answer.json["last_login_at"]}
    assert ada.me().json == answer.json


def test_the_last_sign_in_is_null_until_the_first_and_then_the_latest(person, later):
    ada = person().join()
    assert ada.me().json["last_login_at"] is None
    first = ada.sign_in().json["last_login_at"]
    later(hours=1)
    assert ada.sign_in().json["last_login_at"] >= first + 3600


@pytest.mark.parametrize("email", ["ADA@example.NET", "  ada@example.net "])
def test_the_address_is_known_in_any_case(person, email):
    person("ada@example.net").join()
    assert person(email).sign_in().status == 200


def test_unknown_wrong_deleted_and_impossible_are_one_answer_at_the_cost_of_one_hash_each(person, hashes, calls):
    wrong, deleted, unknown = person().join(), person("bob@example.net").join(), person("cyd@example.net")
    assert deleted.delete().status == 204
    costs = []
    for somebody, password in (
        (wrong, OTHER),
        (wrong, "Aa1!" + "é" * 35),
        (wrong, ""),
        (deleted, PASSWORD),
        (unknown, PASSWORD),
        (unknown, "x" * 73),
        (person("no address"), PASSWORD),
        (person("@" * 5000), PASSWORD),
        (person(""), PASSWORD),
    ):
        hashes.clear()
        calls.clear()
        answer = somebody.sign_in(password)
        assert (answer.status, answer.json) == (401, BAD)
        assert answer.headers["Set-Cookie"] is None
        costs.append((len(hashes), list(calls)))
    assert {count for count, _ in costs} == {1}
    assert len({tuple(made) for _, made in costs}) == 1


def test_the_hash_for_nobody_costs_as_much_as_a_real_one(monkeypatch):
    monkeypatch.undo()
    assert passwords.COST == 12
    assert passwords._NOBODYS.startswith(b"$2b$12$")
    assert len(passwords._NOBODYS) == 60


def test_the_hash_is_bcrypt_of_cost_12(person, rows, monkeypatch):
    monkeypatch.setattr(passwords, "COST", 12)
    person().join()
    (stored,) = [row["password_hash"]["S"] for row in rows("members") if "password_hash" in row]
    assert stored.startswith("$2b$12$")
    assert len(stored) == 60


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({}, 400, "Invalid email"),
        ({"email": None, "password": "x"}, 400, "Invalid email"),
        ({"email": 5, "password": "x"}, 400, "Invalid email"),
        ({"email": "ada@example.net", "password": 5}, 400, "password must be text"),
        ({"email": "ada@example.net", "password": ["x"]}, 400, "password must be text"),
        ({"email": "ada@example.net"}, 401, "Invalid email or password"),
        ({"email": "ada@example.net", "password": None}, 401, "Invalid email or password"),
    ],
)
def test_what_is_no_text_is_no_attempt(http, body, status, reason):
    answer = http.post("/api/auth/signin", json=body)
    assert (answer.status, answer.json) == (status, {"error": reason})


def test_a_sign_in_overtaken_by_a_new_password_is_refused(person, monkeypatch):
    ada = person().join()
    device = ada.elsewhere()
    real = passwords.matches

    def change_meanwhile(password, stored):
        found = real(password, stored)
        monkeypatch.setattr(passwords, "matches", real)
        assert ada.change().status == 200
        return found

    monkeypatch.setattr(passwords, "matches", change_meanwhile)
    answer = device.sign_in()
    assert (answer.status, answer.json) == (401, BAD)
    assert device.me().status == 401
