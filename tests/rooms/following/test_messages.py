"""Messages of this room: each may come twice, late, about what is gone, or for more than there is time for."""

import json

import pytest
from msgspec.structs import replace

import app
from chalicelib.feeds import jobs as feeds_jobs
from chalicelib.following import jobs, messages
from chalicelib.following.jobs import Unfinished
from chalicelib.following.model import FollowStatus
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock, ids
from local.gateway import handlers
from tests.conftest import received
from tests.rooms.following.conftest import ALLOTMENT

NOBODY = ids.new()
NOW = clock.text(clock.now())
KINDS = [
    {"kind": "poll", "creator": "0" * 32},
    {"kind": "poll", "creator": "0" * 32, "due": NOW},
    {"kind": "forget", "owner": NOBODY, "follow": NOBODY},
    {"kind": "forget_owner", "owner": NOBODY},
    {"kind": "disconnect", "owner": NOBODY, "provider": "YOUTUBE", "at": NOW},
    {"kind": "revive", "owner": NOBODY, "provider": "SPOTIFY"},
    {"feed": "0" * 32, "deleted": ["yt:video:x"], "at": NOW},
]


@pytest.mark.parametrize("message", KINDS, ids=lambda message: message.get("kind", "push"))
def test_one_about_what_is_not_there_is_done(aws, providers, message):
    for _ in range(2):
        jobs.handle(message, lambda: True)
    assert providers.calls()["units"] == 0


@pytest.mark.parametrize("message", [{}, {"kind": "poll"}, {"kind": "disconnect", "owner": "nobody"}], ids=str)
def test_one_that_makes_no_sense_fails(aws, providers, message):
    with pytest.raises((KeyError, ValueError)):
        jobs.handle(message, lambda: True)


def test_what_there_was_no_time_for_comes_again(desk):
    follow = desk.follow("YOUTUBE", ALLOTMENT)
    jobs.service.changes.change("desk", follow["id"], _ended)
    message = {"kind": "forget", "owner": "desk", "follow": follow["id"]}
    with pytest.raises(Unfinished):
        jobs.handle(message, lambda: False)
    assert len(desk.titles()) == 1
    jobs.handle(message, lambda: True)
    assert desk.titles() == []


def _ended(before):
    return replace(before, status=FollowStatus.UNSUBSCRIBED)


def test_a_disconnection_there_was_no_time_for_comes_again(desk, settle, monkeypatch):
    desk.connect("YOUTUBE")
    follow = desk.follow("YOUTUBE", ALLOTMENT)
    monkeypatch.setattr(jobs.reconnecting, "disconnect", lambda *_: False)
    assert desk.disconnect("YOUTUBE").status == 200
    monkeypatch.undo()
    assert desk.find(follow)["status"] == "ACTIVE"
    settle()
    assert desk.find(follow)["status"] == "DISCONNECTED"


def test_a_late_disconnection_leaves_what_was_begun_after_it(desk):
    """With a key, following goes on without another connection."""
    before = clock.text(clock.now())
    follow = desk.follow("YOUTUBE", ALLOTMENT)
    jobs.handle({"kind": "disconnect", "owner": "desk", "provider": "YOUTUBE", "at": before}, lambda: True)
    assert desk.find(follow)["status"] == "ACTIVE"


def test_messages_name_ids_only(desk):
    desk.connect("YOUTUBE")
    follow = desk.follow("YOUTUBE", ALLOTMENT)
    received("feed")
    messages.poll_soon(follow["creator_id"])
    messages.disconnect_follows("desk", Provider.YOUTUBE, at_once=True)
    messages.revive_follows("desk", Provider.YOUTUBE, at_once=True)
    fields = [set(message) for message in received("feed")]
    assert fields == [{"kind", "creator"}, {"kind", "owner", "provider", "at"}, {"kind", "owner", "provider"}]


def test_the_queue_is_shared_with_the_watched_feed(aws, providers, monkeypatch):
    taken = []
    monkeypatch.setattr(feeds_jobs, "handle", lambda message: taken.append(("feeds", message)))
    monkeypatch.setattr(jobs, "handle", lambda message, time_left: taken.append(("following", message)))
    (worker,) = [handler for handler in handlers.queues(app.app) if handler.queue == "feed"]
    for body in ({"trigger": "schedule"}, {"kind": "poll", "creator": "x"}, {"feed": "x", "deleted": [], "at": NOW}):
        worker.handle([{"MessageId": ids.new(), "ReceiptHandle": "x", "Body": json.dumps(body)}])
    assert [room for room, _ in taken] == ["feeds", "following", "following"]
