"""A provider that refuses to renew: believed the second time, an hour later, and mended by itself if it was wrong."""

import pytest

from chalicelib.following import jobs
from chalicelib.following.stores import connections as store
from chalicelib.inbox.model import DESK, Provider
from tests.rooms.following.conftest import ALLOTMENT, HEDGE, SLOW_SOIL

CHANNELS = {"YOUTUBE": ALLOTMENT, "SPOTIFY": SLOW_SOIL}
both = pytest.mark.parametrize("refused", CHANNELS, indirect=True)


@pytest.fixture
def refused(request, desk, token_only, later, sweep):
    """A connection that the provider has refused to renew a moment ago."""
    provider = getattr(request, "param", "SPOTIFY")
    channel_id = CHANNELS[provider]
    desk.provider, desk.place = provider, provider.lower()
    desk.connect(provider)
    desk.followed = desk.follow(provider, channel_id)
    desk.providers.set_fault(desk.place, revoked=True)
    later(days=1)
    sweep()
    return desk


def status(desk):
    return desk.connection(desk.provider)["status"]


def stored(desk):
    found = store.find(DESK, Provider(desk.provider))
    assert found
    return found


def calls(desk):
    return sum(desk.providers.calls()[desk.place].values())


@both
def test_the_first_refusal_is_told_at_once_and_follows_wait(refused):
    assert status(refused) == "EXPIRED"
    (told,) = refused.notifications()
    assert (told["type"], told["provider"]) == ("connection_expired", refused.provider)
    assert (told["resolved_at"], told["read_at"]) == (None, None)
    follow = refused.find(refused.followed)
    assert (follow["status"], follow["disconnected_reason"]) == ("ACTIVE", None)
    assert stored(refused).refresh_token


def test_nobody_asks_before_an_hour_has_passed(refused, later, sweep):
    refused.providers.forget_calls()
    later(minutes=58)
    sweep()
    assert refused.act(refused.followed, "sync").status == 409
    assert calls(refused) == 0
    assert status(refused) == "EXPIRED"


@both
def test_a_provider_that_was_wrong_mends_it_by_itself(refused, later, sweep):
    refused.providers.set_fault(refused.place, revoked=False)
    later(hours=1, minutes=1)
    sweep()
    assert status(refused) == "ACTIVE"
    (told,) = refused.notifications()
    assert told["resolved_at"]
    assert refused.find(refused.followed)["last_polled_at"] > refused.followed["last_polled_at"]


def test_what_was_published_meanwhile_arrives_once_it_is_mended(refused, later, sweep):
    where = refused.followed["provider_channel_id"]
    refused.providers.publish(where, "While it was refused")
    refused.providers.set_fault(refused.place, revoked=False)
    later(hours=1, minutes=1)
    sweep()
    assert refused.titles().count("While it was refused") == 1


@both
def test_a_second_refusal_is_believed(refused, later, sweep):
    later(hours=1, minutes=1)
    sweep()
    assert status(refused) == "REVOKED"
    assert "connection_revoked" in refused.active()
    assert refused.find(refused.followed)["status"] == "ACTIVE"


def test_after_it_nobody_asks_again(refused, later, sweep):
    later(hours=1, minutes=1)
    sweep()
    refused.providers.forget_calls()
    refused.providers.set_fault(refused.place, revoked=False)
    for _ in range(3):
        later(hours=2)
        sweep()
    assert calls(refused) == 0
    assert status(refused) == "REVOKED"


def test_it_is_told_once_however_often_it_is_noticed(refused, later, sweep):
    for _ in range(3):
        sweep()
        refused.act(refused.followed, "sync")
        later(minutes=10)
    assert [told["type"] for told in refused.notifications()] == ["connection_expired"]


def test_the_tokens_are_kept_for_a_week_and_then_deleted(refused, later, sweep):
    later(hours=2)
    sweep()
    later(days=6)
    jobs.maintain(lambda: True)
    assert stored(refused).refresh_token
    later(days=1)
    jobs.maintain(lambda: True)
    assert (stored(refused).access_token, stored(refused).refresh_token) == ("", "")
    assert status(refused) == "REVOKED"


def test_without_a_poll_to_try_it_with_the_end_is_told_when_the_tokens_are_deleted(refused, later):
    refused.act(refused.followed, "pause")
    later(days=8)
    jobs.maintain(lambda: True)
    assert status(refused) == "REVOKED"
    assert "connection_revoked" in refused.active()


def test_connecting_again_resolves_it_and_polls_at_once(refused, later, sweep):
    later(hours=2)
    sweep()
    refused.providers.set_fault(refused.place, revoked=False)
    refused.providers.publish(refused.followed["provider_channel_id"], "After the reconnection")
    refused.connect(refused.provider)
    assert status(refused) == "ACTIVE"
    assert refused.active() == []
    sweep()
    assert "After the reconnection" in refused.titles()


def test_somebody_elses_connection_is_used_while_one_is_refused(desk, member, token_only, later, sweep):
    ada = member("ada")
    for owner in (desk, ada):
        owner.connect("YOUTUBE")
        owner.follow("YOUTUBE", HEDGE)
    desk.providers.router.grants["youtube"].revoke(_refresh_token(desk))
    desk.providers.publish(HEDGE, "For both")
    later(days=1)
    sweep()
    assert desk.connection("YOUTUBE")["status"] == "EXPIRED"
    assert ada.connection("YOUTUBE")["status"] == "ACTIVE"
    assert "For both" in desk.titles()
    assert "For both" in ada.titles()
    assert ada.notifications() == []


def _refresh_token(owner):
    from chalicelib.kernel import ciphers

    connection = store.find(owner.id, Provider.YOUTUBE)
    return ciphers.open_sealed(connection.refresh_token, f"{connection.id}/refresh_token")


@pytest.mark.parametrize("fault", [{"quota": True}, {"rate_limit": 60}])
def test_no_403_means_revoked(desk, token_only, later, sweep, fault):
    desk.connect("YOUTUBE")
    follow = desk.follow("YOUTUBE", ALLOTMENT)
    desk.providers.set_fault("youtube", **fault)
    later(days=1)
    sweep()
    assert desk.act(follow, "sync").status == 429
    assert desk.connection("YOUTUBE")["status"] == "ACTIVE"
    assert not {"connection_expired", "connection_revoked"} & set(desk.active())


def test_an_account_that_may_not_is_no_withdrawal_either(desk, token_only, later, sweep):
    """A 403 for want of scope, as for an app that is not switched on: the connection stays as it is."""
    desk.connect("YOUTUBE")
    follow = desk.follow("YOUTUBE", ALLOTMENT)
    for grant in desk.providers.state.grants:
        grant.scope = "openid"
    later(days=1)
    sweep()
    assert desk.act(follow, "sync").status == 503
    assert desk.connection("YOUTUBE")["status"] == "ACTIVE"
    assert desk.active() == []
