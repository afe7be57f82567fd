"""A judge that sees nothing wrong must be able to: each thing that may not be is shown to it once."""

import pytest

from local.trial.client import Caller, Log
from local.trial.people import Person
from local.trial.truth import Truth

ADA = {"id": "1", "email": "Ada@example.net", "status": "activated"}


def _truth(log: str = "", elsewhere: str = "", **tables):
    truth = object.__new__(Truth)
    usual = {
        "subscribers": [ADA],
        "emails": [{"address": "ada@example.net", "subscriber_id": "1"}],
        "tokens": [],
        "captures": [],
        "census": [{"joined": "2", "left": "1"}],
    }
    truth.tables = usual | tables
    truth.everything = {"captures": elsewhere}
    truth._log = log
    return truth


def _person(told: str) -> Person:
    return Person("bob@example.net", "Bobzq", Caller(1, Log()), told)


def test_nothing_is_said_of_what_holds():
    assert _truth().broken([_person("")]) == []


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"subscribers": [ADA, {**ADA, "id": "2"}]}, "2 records of one address"),
        ({"emails": []}, "a subscriber without an e-mail key"),
        ({"subscribers": [], "census": []}, "an e-mail key without its subscriber"),
        ({"tokens": [{"kind": "confirm", "subscriber_id": "9"}]}, "a confirm token of nobody"),
        ({"captures": [{"status": "PENDING", "subscriber_id": "9"}]}, "a capture of nobody"),
        ({"census": [{"joined": "5"}]}, "the census says 5"),
    ],
)
def test_what_may_not_be_is_seen(tables, said):
    assert any(said in line for line in _truth(**tables).broken([]))


@pytest.mark.parametrize(
    ("told", "where", "said"),
    [
        ("confirmed", {}, "was told they were confirmed and is gone"),
        ("accepted", {}, "was told a mail was sent and is gone"),
        ("left", {"elsewhere": '[{"email": "bob@example.net"}]'}, "has left and is still in captures"),
        ("left", {"log": "hello Bobzq"}, "is in the log"),
    ],
)
def test_a_broken_promise_is_seen(told, where, said):
    assert any(said in line for line in _truth(**where).broken([_person(told)]))
