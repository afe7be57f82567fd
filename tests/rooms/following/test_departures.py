"""A member who leaves takes everything along, and one who downloads their data sees all of it but the tokens."""

import json

import boto3
import pytest

from chalicelib.following import asking, departures, model, notifications, polling
from chalicelib.following.stores import connections, followers, follows
from chalicelib.inbox.model import Provider
from chalicelib.members import member_data
from tests.rooms.following.conftest import ALLOTMENT, HEDGE, SLOW_SOIL


@pytest.fixture
def ada(member):
    ada = member("ada")
    ada.connect("YOUTUBE")
    ada.connect("SPOTIFY")
    ada.followed = [ada.follow("YOUTUBE", ALLOTMENT), ada.follow("YOUTUBE", HEDGE), ada.follow("SPOTIFY", SLOW_SOIL)]
    ada.unfollow(ada.followed[1])
    ada.begin("YOUTUBE")
    notifications.tell_expired(ada.id, Provider.YOUTUBE)
    return ada


def about_following(ada):
    return list(dict(member_data.about(ada.id))["following"])


def stored():
    dynamodb = boto3.client("dynamodb")
    accounts = ("-members", "-sessions", "-member-emails")
    names = [name for name in dynamodb.list_tables()["TableNames"] if not name.endswith(accounts)]
    return {name: json.dumps(dynamodb.scan(TableName=name)["Items"], default=str) for name in names}


def test_the_download_has_everything_but_tokens(ada):
    told = about_following(ada)
    assert [one["provider"] for one in told if "connected_at" in one] == ["SPOTIFY", "YOUTUBE"]
    assert {one["status"] for one in told if "provider_channel_id" in one} == {"ACTIVE", "UNSUBSCRIBED"}
    assert len([one for one in told if "provider_channel_id" in one]) == 3
    assert [one["type"] for one in told if "message" in one] == ["connection_expired"]
    assert "v1:" not in json.dumps(told)
    assert not [name for one in told for name in one if "token" in name]


def test_who_leaves_leaves_nothing_behind(ada, desk, settle):
    desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    assert departures.forget(ada.id, lambda: True)
    assert member_data.forget(ada.id, lambda: True)
    settle()
    assert [name for name, rows in stored().items() if ada.id in rows] == []
    assert connections.list_by_owner(ada.id) == []
    assert list(follows.list_all(ada.id)) == []
    assert followers.find(ada.followed[0]["creator_id"], ada.id) is None
    assert desk.find(desk.followed)["status"] == "ACTIVE"
    assert len(desk.titles()) == 1


def test_the_provider_is_told(ada):
    departures.forget(ada.id, lambda: True)
    revoked = {grant.provider: grant.revoked for grant in ada.providers.state.grants}
    assert revoked == {"youtube": True, "spotify": False}


def test_a_provider_that_cannot_be_told_keeps_nobody(ada):
    ada.providers.set_fault("youtube", outage=True)
    assert departures.forget(ada.id, lambda: True)
    assert connections.list_by_owner(ada.id) == []


def test_it_may_be_repeated_and_goes_on_where_time_ended(ada):
    turns = iter([True, False])
    assert departures.forget(ada.id, lambda: next(turns)) is False
    assert connections.list_by_owner(ada.id) == []
    assert len(list(follows.list_all(ada.id))) == 2
    assert departures.forget(ada.id, lambda: True)
    assert departures.forget(ada.id, lambda: True)
    assert about_following(ada) == []


def test_what_a_poll_that_is_under_way_still_brings_is_forgotten_too(ada, monkeypatch, settle):
    real = asking.ask

    def leaving(*arguments):
        answer = real(*arguments)
        member_data.forget(ada.id, lambda: True)
        return answer

    ada.providers.publish(ALLOTMENT, "Under way")
    monkeypatch.setattr(asking, "ask", leaving)
    polling.poll(ada.followed[0]["creator_id"], model.Cause.SCHEDULE)
    settle()
    assert not [name for name, rows in stored().items() if ada.id in rows and name.endswith("-inbox")]


def test_nobody_polls_for_who_has_gone(ada, later, sweep):
    departures.forget(ada.id, lambda: True)
    ada.providers.forget_calls()
    later(days=1)
    sweep()
    assert ada.providers.calls()["units"] == 0
    assert ada.providers.calls()["spotify"] == {}
