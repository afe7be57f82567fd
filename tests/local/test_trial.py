"""The checks of a trial find what is wrong: each is given one case that must not be."""

import json
import zlib
from collections import Counter

import pytest

from local.trial import arrivals, outcome
from local.trial.client import Caller, Log
from local.trial.editor import TrialCampaign
from local.trial.followers import Owner, find_missing
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


def _person(promise: str) -> Person:
    return Person("bob@example.net", "Bobzq", Caller(1, Log()), promise)


def test_no_problem_is_found_where_there_is_none():
    assert _truth().broken([_person("")]) == []


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        ({"subscribers": [ADA, {**ADA, "id": "2"}]}, "2 records of one address"),
        ({"emails": []}, "a subscriber without an e-mail key"),
        ({"subscribers": [], "census": []}, "an e-mail key without its subscriber"),
        ({"tokens": [{"kind": "confirm", "subscriber_id": "9"}]}, "a confirm token of nobody"),
        ({"captures": [{"status": "PENDING", "subscriber_id": "9"}]}, "a capture of nobody"),
        ({"subscribers": [{**ADA, "sources": ["blog"]}]}, "other sources than their captures"),
        ({"subscribers": [{**ADA, "asked_sources": ["blog"]}]}, "other requests than their captures"),
        ({"captures": [{"status": "CONFIRMED", "subscriber_id": "1", "source": "blog"}]}, "other sources"),
        ({"census": [{"joined": "5"}]}, "the counts say 5"),
    ],
)
def test_an_inconsistency_is_found(tables, problem):
    assert any(problem in line for line in _truth(**tables).broken([]))


@pytest.mark.parametrize(
    ("promise", "where", "problem"),
    [
        ("confirmed", {}, "was promised to be confirmed and is gone"),
        ("accepted", {}, "was promised a mail and is gone"),
        ("left", {"elsewhere": '[{"email": "bob@example.net"}]'}, "is still in captures"),
        ("left", {"log": "hello Bobzq"}, "is in the log"),
        ("confirmed", {"subscribers": [ADA, BOB | {"nickname": "Rob"}]}, "another nickname"),
        ("never", {"subscribers": [ADA, BOB]}, "was promised to have left and is activated"),
    ],
)
def test_a_broken_promise_is_found(promise, where, problem):
    assert any(problem in line for line in _truth(**where).broken([_person(promise)]))


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
FINISHED = {"type": "DELIVERY_FINISHED", "id": "e", "payload": json.dumps({"delivery_id": "d", "unknown": 1})}


def _campaign(**changes):
    usual = {
        "campaigns": [{"shelf": "campaign", "state": "published"}, {"shelf": "count", "published": "1"}],
        "campaign-contents": [{"body": zlib.compress(b":::item\ntitle: Post 1\n:::\n")}],
        "deliveries": [DELIVERY],
        "events": [],
    }
    return _truth(**usual | changes)


def _problems(found, mailed, promise="sent", posts=()):
    checks = (
        outcome.sums(found),
        outcome.once(found, {"d": Counter(mailed)}, ["a", "b"]),
        outcome.promises(found, {"d": Counter(mailed)}, [TrialCampaign("Trial", "c", promise)]),
        outcome.posts(found, list(posts)),
    )
    return [line for lines in checks for line in lines]


def test_a_campaign_that_came_once_to_everybody_holds():
    assert _problems(_campaign(), "ab", posts=["Post 1"]) == []
    assert _problems(_campaign(events=[FINISHED]), "aab") == []


@pytest.mark.parametrize(
    ("changes", "mailed", "promise", "problem"),
    [
        ({}, "a", "sent", "1 of the crowd did not get"),
        ({}, "aab", "sent", "1 mails of campaign c came twice, and 0 are reported"),
        ({}, "ab", "cancelled", "was promised to be cancelled and is sent"),
        ({"deliveries": [DELIVERY | {"recipients": "3"}]}, "ab", "sent", "do not add up"),
        ({"deliveries": [DELIVERY, DELIVERY | {"id": "f"}]}, "ab", "sent", "two deliveries"),
        ({"deliveries": [DELIVERY | {"state": "pending"}]}, "", "sent", "was promised to be sent and is pending"),
        ({"campaigns": [{"shelf": "count", "published": "1"}]}, "ab", "sent", "counted as published"),
        ({"campaign-contents": []}, "ab", "sent", "Post 1 is in 0 campaigns"),
    ],
)
def test_a_campaign_that_went_wrong_is_found(changes, mailed, promise, problem):
    assert any(problem in line for line in _problems(_campaign(**changes), mailed, promise, ["Post 1"]))


def test_an_event_nobody_received_is_found():
    receiver = Receiver()
    receiver.stop()
    assert any("never received" in line for line in outcome.events(_campaign(events=[FINISHED]), receiver))


VIDEO = {"id": "i", "provider": "YOUTUBE", "provider_item_id": "v"}
ENTRY = {"owner": "desk", "item_id": "i"}
RECEIVED = {"type": "ITEM_RECEIVED", "aggregate_id": "i", "id": "e", "payload": "{}"}
OPTIONS = {"status": "ACTIVE", "action": "inbox", "newest_only": False, "hide_shorts": False}
FOLLOW = {"owner": "desk", "part": "follow f", "creator_id": "c", **OPTIONS}
FOLLOWER = {"id": "c", "part": "follower desk", "follow_id": "f", **OPTIONS}
CREATOR = {"id": "c", "part": "creator", "failures": "0"}
SPENT = {"id": "quota YOUTUBE", "part": "2026-11-17 units", "spent": "12"}
FAILING = {"owner": "desk", "part": "active poll_failures YOUTUBE", "causes": ["c"]}


def _followed(**changes):
    usual = {
        "items": [VIDEO],
        "inbox": [ENTRY],
        "events": [RECEIVED],
        "follows": [FOLLOW],
        "creators": [CREATOR, FOLLOWER, SPENT],
        "connections": [{"owner": "desk", "part": "connection SPOTIFY", "status": "ACTIVE"}],
    }
    return _truth(**usual | changes)


def _wrong(found):
    owner = Owner("desk", "/admin/api", Caller(1, Log()), follows={"channel": "f"})
    checks = (
        find_missing(found.tables["items"], found.tables["inbox"], {"v": "channel", "w": "elsewhere"}, [owner]),
        arrivals.once(found),
        arrivals.agreed(found),
        arrivals.quota(found, 12),
        arrivals.connected(found),
        arrivals.told(found),
    )
    return [line for lines in checks for line in lines]


def test_what_was_followed_and_came_once_holds():
    assert _wrong(_followed()) == []
    assert _wrong(_followed(inbox=[ENTRY, ENTRY | {"owner": "a member"}])) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"inbox": [], "events": []}, "v of channel has not come to desk"),
        ({"items": [VIDEO, VIDEO | {"id": "j"}], "inbox": [ENTRY]}, "2 items of one id"),
        ({"events": []}, "0 events for 1 entries"),
        ({"events": [RECEIVED, RECEIVED]}, "2 events for 1 entries"),
        ({"events": [RECEIVED, RECEIVED | {"aggregate_id": "j"}]}, "1 events for 0 entries"),
        ({"follows": [FOLLOW | {"status": "UNSUBSCRIBED"}]}, "two rows of a follow differ"),
        ({"follows": []}, "two rows of a follow differ"),
        ({"creators": [CREATOR, FOLLOWER, SPENT | {"spent": "11"}]}, "YouTube counted 12 units, and we 11"),
        ({"creators": [CREATOR, FOLLOWER, SPENT | {"spent": "9001"}]}, "9001 units of a day were spent"),
        ({"connections": [{"status": "EXPIRED"}]}, "a connection is EXPIRED without cause"),
        ({"follows": [FOLLOW, FAILING]}, "desk is told of failures that are over"),
    ],
)
def test_what_went_wrong_with_follows_is_found(changes, problem):
    assert any(problem in line for line in _wrong(_followed(**changes)))


def test_failures_that_go_on_may_be_told():
    creators = [CREATOR | {"failures": "3"}, FOLLOWER, SPENT]
    assert _wrong(_followed(follows=[FOLLOW, FAILING], creators=creators)) == []


@pytest.mark.parametrize(
    ("where", "problem"),
    [({"elsewhere": '"a-token"'}, "a token is in captures"), ({"log": "a-token"}, "a token is in the log"), ({}, "")],
)
def test_a_token_in_clear_is_found(tmp_path, where, problem):
    providers = tmp_path / "providers.json"
    providers.write_text(json.dumps({"grants": [{"refresh": "a-token", "spent": [], "access": {}}]}))
    assert list(arrivals.sealed(_followed(**where), providers, where.get("log", ""))) == [problem] * bool(problem)
