"""A judge that sees nothing wrong must be able to: each thing that may not be is shown to it once."""

import json
import zlib
from collections import Counter

import pytest

from local.trial import letters
from local.trial.client import Caller, Log
from local.trial.editor import Letter
from local.trial.people import Person
from local.trial.receiver import Receiver
from local.trial.truth import Truth

ADA = {"id": "1", "email": "Ada@example.net", "status": "activated"}
BOB = {"id": "2", "email": "bob@example.net", "status": "activated"}


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
        ("left", {"elsewhere": '[{"email": "bob@example.net"}]'}, "is still in captures"),
        ("left", {"log": "hello Bobzq"}, "is in the log"),
        ("confirmed", {"subscribers": [ADA, BOB | {"nickname": "Rob"}]}, "called otherwise"),
        ("never", {"subscribers": [ADA, BOB]}, "was told they had left and is activated"),
    ],
)
def test_a_broken_promise_is_seen(told, where, said):
    assert any(said in line for line in _truth(**where).broken([_person(told)]))


def test_what_somebody_changed_may_be_kept_nowhere():
    bob = _person("confirmed")
    bob.gone = ["old@example.net"]
    truth = _truth(subscribers=[ADA, BOB], elsewhere='["old@example.net"]')
    assert any("has left or changed" in line for line in truth.broken([bob]))


DELIVERY = {
    "id": "d",
    "campaign_id": "c",
    "state": "sent",
    "recipients": "2",
    "sent_count": "2",
    "unknown_count": "0",
}
DELIVERY |= {"failure_count": "0"}
TOLD = {"type": "DELIVERY_FINISHED", "id": "e", "payload": json.dumps({"delivery_id": "d", "unknown": 1})}


def _campaign(**changes):
    usual = {
        "campaigns": [{"shelf": "campaign", "state": "published"}, {"shelf": "count", "published": "1"}],
        "campaign-contents": [{"body": zlib.compress(b"<h2>Post 1</h2>")}],
        "deliveries": [DELIVERY],
        "events": [],
    }
    return _truth(**usual | changes)


def _judged(found, mailed, told="sent", posts=()):
    checks = (
        letters.sums(found),
        letters.once(found, {"d": Counter(mailed)}, ["a", "b"]),
        letters.promises(found, {"d": Counter(mailed)}, [Letter("Trial", "c", told)]),
        letters.posts(found, list(posts)),
    )
    return [line for lines in checks for line in lines]


def test_a_campaign_that_came_once_to_everybody_holds():
    assert _judged(_campaign(), "ab", posts=["Post 1"]) == []
    assert _judged(_campaign(events=[TOLD]), "aab") == []


@pytest.mark.parametrize(
    ("changes", "mailed", "told", "said"),
    [
        ({}, "a", "sent", "1 of the crowd did not get"),
        ({}, "aab", "sent", "1 mails of campaign c came twice, and 0 are told"),
        ({}, "ab", "cancelled", "was told to be cancelled and is sent"),
        ({"deliveries": [DELIVERY | {"recipients": "3"}]}, "ab", "sent", "do not add up"),
        ({"deliveries": [DELIVERY, DELIVERY | {"id": "f"}]}, "ab", "sent", "two deliveries"),
        ({"deliveries": [DELIVERY | {"state": "pending"}]}, "", "sent", "was told to be sent and is pending"),
        ({"campaigns": [{"shelf": "count", "published": "1"}]}, "ab", "sent", "counted as published"),
        ({"campaign-contents": []}, "ab", "sent", "Post 1 is in 0 campaigns"),
    ],
)
def test_a_campaign_that_went_wrong_is_seen(changes, mailed, told, said):
    assert any(said in line for line in _judged(_campaign(**changes), mailed, told, ["Post 1"]))


def test_an_event_nobody_received_is_seen():
    receiver = Receiver()
    receiver.stop()
    assert any("never received" in line for line in letters.events(_campaign(events=[TOLD]), receiver))
