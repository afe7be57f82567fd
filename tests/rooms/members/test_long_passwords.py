"""Text that is far too long to be a password costs no more than any other: composing marks takes time that grows with
the square of their number."""

import unicodedata
from types import SimpleNamespace

import pytest

from chalicelib.members import model
from tests.rooms.members.person import OTHER, PASSWORD

MARKS = "a" + "\u0301" * 2_000 + "\u0316" * 2_000
LONG = (400, {"error": "Password too long (max 72 bytes)"})


@pytest.fixture
def composed(monkeypatch):
    """How long each text was that was composed."""
    lengths = []

    def normalize(form, text):
        lengths.append(len(text))
        return unicodedata.normalize(form, text)

    monkeypatch.setattr(model, "unicodedata", SimpleNamespace(normalize=normalize))
    return lengths


def _result(answer):
    return answer.status, answer.json


@pytest.mark.parametrize(("password", "confirm"), [(MARKS, MARKS), (MARKS, "x"), (OTHER, MARKS), ("weak", MARKS)])
def test_it_is_refused_as_a_new_password_and_as_its_confirmation(person, composed, hashes, password, confirm):
    ada = person().join()
    ada.request_reset()
    hashes.clear()
    composed.clear()
    assert _result(person("bob@example.net").sign_up(password, confirm)) == LONG
    assert _result(ada.change(PASSWORD, password, confirm)) == LONG
    assert _result(ada.reset(None, password, confirm)) == LONG
    assert max(composed, default=0) <= 300
    assert hashes == []


def test_it_is_wrong_as_a_current_password_at_the_cost_of_one_hash(person, composed, hashes):
    ada = person().join()
    composed.clear()
    for attempt in (ada.sign_in, ada.change, ada.delete, person("nobody@example.net").sign_in):
        hashes.clear()
        assert attempt(MARKS).status == 401
        assert len(hashes) == 1
    assert max(composed, default=0) <= 300
    assert ada.me().status == 200


def test_a_password_typed_in_as_many_marks_as_there_can_be_is_one(person):
    """Four characters that are one letter of three bytes, up to the last byte."""
    password = unicodedata.normalize("NFD", "\u1f82" * 23 + "A1!")
    assert len(password) == 95
    ada = person()
    assert ada.sign_up(password, password).status == 201
    assert ada.sign_in(password).status == 200
    assert ada.sign_in(unicodedata.normalize("NFC", password)).status == 200
    assert ada.sign_in(password[4:]).status == 401
