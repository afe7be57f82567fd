"""Ending a connection, and having one again: tokens, what the provider told, and follows."""

import pytest

from chalicelib.following import asking, connections, jobs, model, reconnecting
from chalicelib.following.stores import connections as store
from chalicelib.following.stores import creators
from chalicelib.inbox.model import Provider
from chalicelib.inbox.service import find_item
from tests.rooms.following.conftest import ALLOTMENT, HEDGE, SLOW_SOIL


@pytest.fixture
def connected(desk, token_only):
    desk.connect("YOUTUBE")
    desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    return desk


@pytest.fixture
def publish(desk, later, sweep):
    """Videos that arrive."""

    def run(*titles, channel=ALLOTMENT):
        for title in titles:
            desk.providers.publish(channel, title)
        later(days=1)
        sweep()

    return run


def status(desk):
    return desk.find(desk.followed)["status"]


def test_the_provider_is_told_and_the_tokens_are_deleted(connected):
    answer = connected.disconnect("YOUTUBE")
    assert (answer.status, answer.json) == (200, {"success": True})
    assert connected.connection("YOUTUBE") is None
    assert store.find("desk", Provider.YOUTUBE) is None
    assert [grant.revoked for grant in connected.providers.state.grants] == [True]
    assert connected.providers.calls()["youtube"]["POST /revoke"] == 1


def test_spotify_cannot_be_told_and_is_not_asked(desk):
    desk.connect("SPOTIFY")
    desk.providers.forget_calls()
    assert desk.disconnect("SPOTIFY").status == 200
    assert desk.providers.calls()["spotify"] == {}
    assert desk.connection("SPOTIFY") is None


def test_follows_wait_with_the_reason(connected):
    connected.disconnect("YOUTUBE")
    follow = connected.find(connected.followed)
    assert (follow["status"], follow["disconnected_reason"]) == ("DISCONNECTED", reconnecting.REASON)
    assert follow["disconnected_at"] > follow["created_at"]
    assert follow["name"] == "Allotment No. 9"


def test_only_that_providers_follows_of_that_owner(connected, member):
    ada = member("ada")
    ada.connect("YOUTUBE")
    hers = ada.follow("YOUTUBE", ALLOTMENT)
    connected.connect("SPOTIFY")
    other = connected.follow("SPOTIFY", SLOW_SOIL)
    connected.disconnect("YOUTUBE")
    assert connected.find(other)["status"] == "ACTIVE"
    assert ada.find(hers)["status"] == "ACTIVE"
    assert ada.connection("YOUTUBE")["status"] == "ACTIVE"
    assert len(ada.titles()) == 1


def test_inbox_entries_leave_and_what_was_kept_has_title_and_link(connected, publish):
    publish("To keep", "To file", "To read some time")
    connected.triage("To keep", "bookmark")
    connected.triage("To file", "archive")
    connected.disconnect("YOUTUBE")
    assert connected.titles() == []
    for state, title in (("BOOKMARKED", "To keep"), ("ARCHIVED", "To file")):
        (entry,) = connected.inbox(state)
        assert entry["title"] == title
        assert entry["canonical_url"].startswith("https://www.youtube.com/watch?v=")
        assert (entry["excerpt"], entry["creator"], entry["duration_seconds"]) == (None, None, None)


def test_what_somebody_else_has_keeps_its_details(connected, member, publish):
    ada = member("ada")
    ada.connect("YOUTUBE")
    ada.follow("YOUTUBE", ALLOTMENT)
    publish("Of both")
    connected.triage("Of both", "bookmark")
    connected.disconnect("YOUTUBE")
    (entry,) = [entry for entry in ada.inbox() if entry["title"] == "Of both"]
    assert (entry["creator"], entry["duration_seconds"]) == ("Allotment No. 9", 613)


def test_what_the_provider_told_of_a_channel_that_nobody_follows_is_forgotten(connected):
    creator_id = connected.followed["creator_id"]
    assert creators.find(creator_id).description
    connected.disconnect("YOUTUBE")
    creator = creators.find(creator_id)
    assert (creator.description, creator.image_url, creator.handle, creator.total_items) == ("", "", "", None)


def test_an_item_that_nobody_has_any_more_is_deleted(connected, publish):
    publish("Of nobody")
    (entry,) = [entry for entry in connected.inbox() if entry["title"] == "Of nobody"]
    connected.disconnect("YOUTUBE")
    assert find_item(entry["id"]) is None


def test_disconnected_follows_are_not_polled(connected, later, sweep):
    connected.disconnect("YOUTUBE")
    connected.providers.forget_calls()
    connected.providers.publish(ALLOTMENT, "Unseen")
    later(days=2)
    sweep()
    assert connected.providers.calls()["units"] == 0
    assert connected.titles() == []


def test_they_can_be_neither_paused_nor_synced_nor_resumed(connected):
    connected.disconnect("YOUTUBE")
    assert [connected.act(connected.followed, act).status for act in ("pause", "sync", "resume")] == [409] * 3


def test_with_a_key_they_are_disconnected_too_and_can_be_resumed_without_another_connection(desk):
    desk.connect("YOUTUBE")
    desk.followed = desk.follow("YOUTUBE", ALLOTMENT)
    desk.disconnect("YOUTUBE")
    assert status(desk) == "DISCONNECTED"
    assert desk.act(desk.followed, "resume").status == 200
    assert status(desk) == "ACTIVE"


def test_connecting_again_makes_them_active_and_due(connected, work):
    connected.disconnect("YOUTUBE")
    connected.providers.publish(ALLOTMENT, "Meanwhile")
    connected.connect("YOUTUBE")
    follow = connected.find(connected.followed)
    assert (follow["status"], follow["disconnected_at"], follow["disconnected_reason"]) == ("ACTIVE", None, None)
    work()
    assert "Meanwhile" in connected.titles()


def test_what_had_left_the_inbox_does_not_come_back_with_the_connection(connected, publish, work, later, sweep):
    publish("Had left")
    connected.disconnect("YOUTUBE")
    connected.connect("YOUTUBE")
    work()
    later(days=1)
    sweep()
    assert connected.titles() == []


def test_paused_follows_wait_too_and_are_active_after_it(connected):
    connected.act(connected.followed, "pause")
    connected.disconnect("YOUTUBE")
    assert status(connected) == "DISCONNECTED"


def test_unfollowed_ones_stay_unfollowed(connected, work):
    connected.unfollow(connected.followed)
    connected.disconnect("YOUTUBE")
    connected.connect("YOUTUBE")
    work()
    assert status(connected) == "UNSUBSCRIBED"


def test_after_months_the_latest_arrives_with_the_new_connection(connected, later, sweep, settle):
    connected.disconnect("YOUTUBE")
    for _ in range(2):
        later(days=30)
        sweep()
        jobs.maintain(lambda: True)
    assert creators.find(connected.followed["creator_id"]) is None
    connected.providers.publish(ALLOTMENT, "After months")
    connected.connect("YOUTUBE")
    settle()
    assert connected.titles() == ["After months"]
    assert status(connected) == "ACTIVE"


def test_what_a_poll_that_was_under_way_brings_leaves_with_the_later_look(connected, monkeypatch, settle):
    """It had read its followers before."""
    real = asking.ask

    def disconnecting(*arguments):
        answer = real(*arguments)
        connected.disconnect("YOUTUBE")
        return answer

    connected.providers.publish(ALLOTMENT, "Under way")
    monkeypatch.setattr(asking, "ask", disconnecting)
    jobs.polling.poll(connected.followed["creator_id"], model.Cause.SCHEDULE)
    assert connected.titles() == ["Under way"]
    settle()
    assert connected.titles() == []


def test_the_later_look_leaves_those_alone_who_have_connected_again(connected, settle, publish):
    connected.disconnect("YOUTUBE")
    connected.connect("YOUTUBE")
    publish("With the new one")
    settle()
    assert status(connected) == "ACTIVE"
    assert connected.titles() == ["With the new one"]


STEPS = [
    (connections, "_revoke"),
    (connections.store, "remove"),
    (connections.reconnecting, "_disconnect"),
    (connections.reconnecting, "_strip"),
]


@pytest.mark.parametrize(("module", "step"), STEPS, ids=[step for _, step in STEPS])
def test_a_disconnection_that_dies_at_any_step_is_finished(connected, publish, settle, monkeypatch, module, step):
    publish("Was here")
    with monkeypatch.context() as patch:
        patch.setattr(module, step, _die)
        assert connected.disconnect("YOUTUBE").status == 500
    if connected.connection("YOUTUBE"):
        assert connected.disconnect("YOUTUBE").status == 200
    settle()
    assert connected.connection("YOUTUBE") is None
    assert status(connected) == "DISCONNECTED"
    assert connected.titles() == []


def test_a_provider_that_cannot_be_told_keeps_nobody_connected(connected):
    connected.providers.set_fault("youtube", outage=True)
    assert connected.disconnect("YOUTUBE").status == 200
    assert connected.connection("YOUTUBE") is None
    assert status(connected) == "DISCONNECTED"


STEPS_OF_CALLBACK = [
    (connections.notifications, "resolve_connection"),
    (connections.reconnecting, "revive"),
    (connections.reconnecting, "wake_waiting"),
]


@pytest.mark.parametrize(("module", "step"), STEPS_OF_CALLBACK, ids=[step for _, step in STEPS_OF_CALLBACK])
def test_a_callback_that_dies_after_the_tokens_are_stored_is_finished(connected, settle, monkeypatch, module, step):
    connected.disconnect("YOUTUBE")
    settle()
    state, code = connected.begin("YOUTUBE")
    with monkeypatch.context() as patch:
        patch.setattr(module, step, _die)
        assert connected.complete("YOUTUBE", state, code).status == 500
    settle()
    assert connected.connection("YOUTUBE")["status"] == "ACTIVE"
    assert status(connected) == "ACTIVE"


def test_disconnecting_resolves_what_was_told_about_the_connection(connected, later, sweep):
    connected.providers.set_fault("youtube", revoked=True)
    later(days=1)
    sweep()
    assert connected.active() == ["connection_expired"]
    connected.disconnect("YOUTUBE")
    assert connected.active() == []


def test_others_of_the_channel_go_on_with_their_connection(connected, member, later, sweep):
    ada = member("ada")
    ada.connect("YOUTUBE")
    ada.follow("YOUTUBE", HEDGE)
    connected.follow("YOUTUBE", HEDGE)
    connected.disconnect("YOUTUBE")
    ada.providers.publish(HEDGE, "For her alone")
    later(days=1)
    sweep()
    assert "For her alone" in ada.titles()
    assert connected.titles() == []


def _die(*arguments, **named):
    raise RuntimeError("stopped here")
