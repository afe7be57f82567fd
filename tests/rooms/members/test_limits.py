"""How often somebody may try. Every attempt counts, also a right one."""

import pytest

from chalicelib.members import request_limits
from tests.rooms.members.person import OTHER, PASSWORD

pytestmark = pytest.mark.usefixtures("still")

TOO_MANY = {"error": "Too many requests"}


def _refused(answer, longest):
    assert (answer.status, answer.json) == (429, TOO_MANY)
    assert 1 <= int(answer.headers["Retry-After"]) <= longest
    assert answer.headers["Set-Cookie"] is None


def test_five_sign_ups_a_minute_for_each_client(person, later):
    ada = person()
    for name in "abcde":
        ada.email = f"{name}@example.net"
        assert ada.sign_up().status == 201
    ada.email = "f@example.net"
    _refused(ada.sign_up(), 60)
    assert person("f@example.net").sign_up().status == 201
    later(minutes=1)
    ada.email = "g@example.net"
    assert ada.sign_up().status == 201


def test_a_taken_address_counts_as_a_sign_up(person):
    person().join()
    other = person()
    assert [other.sign_up().status for _ in range(5)] == [409] * 5
    _refused(other.sign_up(), 60)


def test_a_sign_up_with_a_mistake_counts_too(person, later):
    ada = person()
    assert [ada.sign_up("weak").status for _ in range(5)] == [400] * 5
    _refused(ada.sign_up(), 60)
    later(minutes=1)
    assert ada.sign_up().status == 201


@pytest.mark.parametrize("password", [PASSWORD, OTHER])
def test_five_sign_ins_a_minute_for_each_client_right_ones_too(person, later, password):
    ada = person().join()
    status = 200 if password == PASSWORD else 401
    assert [ada.sign_in(password).status for _ in range(5)] == [status] * 5
    _refused(ada.sign_in(), 60)
    _refused(ada.sign_in(OTHER), 60)
    assert ada.elsewhere().sign_in().status == 200
    later(minutes=1)
    assert ada.sign_in().status == 200


def test_the_clients_limit_counts_all_addresses(person):
    ada = person().join()
    for name in "abcde":
        ada.email = f"{name}@example.net"
        assert ada.sign_in().status == 401
    ada.email = "ada@example.net"
    _refused(ada.sign_in(), 60)


def test_ten_sign_ins_an_hour_for_each_address_known_or_not(person, http, later):
    person().join()
    for email in ("ada@example.net", "nobody@example.net", "no address"):
        tries = [person(email).sign_in(OTHER) for _ in range(11)]
        assert [answer.status for answer in tries] == [401] * 10 + [429]
        _refused(tries[-1], 3600)
    _refused(person("ADA@example.net").sign_in(), 3600)
    later(hours=1)
    assert person().sign_in().status == 200


def test_a_client_over_its_limit_does_not_use_up_the_limit_of_an_address(person):
    ada = person().join()
    other = person()
    for _ in range(20):
        other.sign_in(OTHER)
    assert ada.sign_in().status == 200


def test_a_refused_attempt_costs_no_hash(person, hashes):
    ada = person().join()
    for _ in range(5):
        ada.sign_in()
    hashes.clear()
    _refused(ada.sign_in(), 60)
    assert hashes == []


def test_a_wrong_current_password_counts_as_a_sign_in(person):
    """So that a stolen session cannot guess the password."""
    ada = person().join()
    assert [ada.change(OTHER).status for _ in range(3)] == [401] * 3
    assert [ada.delete(OTHER).status for _ in range(2)] == [401] * 2
    _refused(ada.change(), 60)
    _refused(ada.delete(), 60)
    _refused(ada.sign_in(), 60)
    assert ada.me().status == 200


def test_guesses_by_a_session_count_for_the_address_from_wherever_they_come(person, monkeypatch):
    ada = person().join()
    for number in range(request_limits.SIGN_INS_PER_ADDRESS):
        ada.ip = f"203.0.113.{number}"
        assert ada.change(OTHER).status == 401
    ada.ip = "203.0.113.99"
    _refused(ada.delete(), 3600)


def test_a_new_password_with_a_mistake_is_refused_for_it_first(person):
    ada = person().join()
    assert [ada.change(OTHER, "weak", "weak").status for _ in range(9)] == [400] * 9
    assert ada.change().status == 200


def test_three_resets_an_hour_for_each_address(person, later):
    for email in ("ada@example.net", "nobody@example.net"):
        answers = [person(email).request_reset() for _ in range(4)]
        assert [answer.status for answer in answers] == [200, 200, 200, 429]
        _refused(answers[-1], 3600)
    later(hours=1)
    assert person().request_reset().status == 200


def test_so_many_resets_an_hour_for_each_client(http):
    def ask(name):
        return http.post("/api/auth/request-reset", json={"email": f"{name}@example.net"})

    assert {ask(f"r{number}").status for number in range(request_limits.RESETS_PER_CLIENT)} == {200}
    _refused(ask("one-more"), 3600)


def test_three_further_verifications_an_hour_for_each_member(person, later, ses):
    ada = person().join()
    answers = [ada.send("POST", "/api/auth/request-verify") for _ in range(4)]
    ada.deliver()
    assert [answer.status for answer in answers] == [200, 200, 200, 429]
    _refused(answers[-1], 3600)
    assert len(ada.mails()) == 4
    later(hours=1)
    assert ada.send("POST", "/api/auth/request-verify").status == 200
