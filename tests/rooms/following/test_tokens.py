"""The access token of a connection: renewed in time, once, and never lost."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from msgspec.structs import replace

from chalicelib.following import access, tokens
from chalicelib.following.providers.contract import GrantRefused, Tokens
from chalicelib.following.providers.registry import GRANTS
from chalicelib.following.stores import connections as store
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import ciphers, clock
from tests.rooms.following.conftest import ALLOTMENT, SLOW_SOIL

YOUTUBE, SPOTIFY = Provider.YOUTUBE, Provider.SPOTIFY


@pytest.fixture
def connected(desk, token_only):
    desk.connect("YOUTUBE")
    desk.connect("SPOTIFY")
    desk.providers.forget_calls()
    return desk


def stored(provider):
    found = store.find(DESK, provider)
    assert found
    return found


def opened(provider, name):
    connection = stored(provider)
    return ciphers.open_sealed(getattr(connection, name), f"{connection.id}/{name}")


def renewals(desk, provider):
    paths = {YOUTUBE: ("youtube", "POST /token"), SPOTIFY: ("spotify", "POST /api/token")}
    name, path = paths[provider]
    return desk.providers.calls()[name].get(path, 0)


def ask(provider):
    return access.call(provider, [DESK], lambda given: given.token, asked_by=None)


def test_a_token_that_works_for_minutes_is_used_as_it_is(connected, later):
    before = opened(YOUTUBE, "access_token")
    later(minutes=54)
    assert ask(YOUTUBE) == before
    assert renewals(connected, YOUTUBE) == 0


def test_it_is_renewed_five_minutes_before_it_ends(connected, later):
    before = opened(YOUTUBE, "access_token")
    later(minutes=55, seconds=5)
    assert ask(YOUTUBE) == opened(YOUTUBE, "access_token") != before
    assert renewals(connected, YOUTUBE) == 1
    info = connected.connection("YOUTUBE")
    assert info["status"] == "ACTIVE"
    assert info["last_refreshed_at"] > info["connected_at"]
    assert abs(info["expires_at"] - info["last_refreshed_at"] - 3_599_000) < 1000


def test_an_answer_without_a_refresh_token_keeps_the_one_before(connected, later):
    before = opened(YOUTUBE, "refresh_token")
    for _ in range(2):
        later(hours=1)
        ask(YOUTUBE)
    assert opened(YOUTUBE, "refresh_token") == before
    assert renewals(connected, YOUTUBE) == 2


def test_a_refresh_token_that_was_replaced_is_stored(connected, later):
    before = opened(SPOTIFY, "refresh_token")
    later(hours=1)
    ask(SPOTIFY)
    assert opened(SPOTIFY, "refresh_token") != before
    later(hours=1)
    ask(SPOTIFY)
    assert connected.connection("SPOTIFY")["status"] == "ACTIVE"


def test_two_workers_renew_it_once(connected, later, monkeypatch):
    """moto loses updates under threads, so the lock is a real one here."""
    later(hours=2)
    taken = threading.Lock()

    class Held:
        def __enter__(self):
            self.taken = taken.acquire(blocking=False)
            return self.taken

        def __exit__(self, *_):
            if self.taken:
                taken.release()

    monkeypatch.setattr(tokens.locks, "held", lambda name, seconds: Held())
    connected.providers.set_fault("spotify", slow=0.2)
    with ThreadPoolExecutor(4) as workers:
        got = list(workers.map(lambda _: ask(SPOTIFY), range(4)))
    assert set(got) == {opened(SPOTIFY, "access_token")}
    assert renewals(connected, SPOTIFY) == 1


def test_who_comes_while_it_is_renewed_uses_the_token_from_before(connected, later):
    before = opened(YOUTUBE, "access_token")
    later(minutes=57)
    with tokens.locks.held(f"connection {stored(YOUTUBE).id}", 30) as taken:
        assert taken
        assert ask(YOUTUBE) == before
    assert renewals(connected, YOUTUBE) == 0


def test_who_waits_for_another_gets_what_came_of_it(connected, later, monkeypatch):
    later(hours=2)
    before = stored(YOUTUBE)

    def renewed_by_another(_):
        given = tokens.seal_tokens(before, Tokens("of-another-worker", 3600))
        store.save(replace(given, version=before.version + 1), before)

    monkeypatch.setattr(tokens.time, "sleep", renewed_by_another)
    with tokens.locks.held(f"connection {before.id}", 30):
        assert ask(YOUTUBE) == "of-another-worker"
    assert renewals(connected, YOUTUBE) == 0


def test_a_worker_that_died_with_the_lock_delays_nobody_for_long(connected, later, monkeypatch):
    later(hours=2)
    tokens.locks._take(f"connection {stored(YOUTUBE).id}", "dead", 30)
    later(seconds=31)
    assert ask(YOUTUBE)
    assert renewals(connected, YOUTUBE) == 1


def test_a_401_leads_to_one_renewal_and_one_more_attempt(connected):
    rejected = opened(YOUTUBE, "access_token")
    for grant in connected.providers.state.grants:
        grant.access.clear()
    follow = connected.follow("YOUTUBE", ALLOTMENT)
    assert follow["status"] == "ACTIVE"
    assert opened(YOUTUBE, "access_token") != rejected
    assert renewals(connected, YOUTUBE) == 1


def test_a_401_after_a_renewal_makes_it_expired(connected, monkeypatch):
    follow = connected.follow("SPOTIFY", SLOW_SOIL)
    real = GRANTS[SPOTIFY].renew

    def useless(refresh_token):
        return replace(real(refresh_token), access_token="useless")

    monkeypatch.setattr(GRANTS[SPOTIFY], "renew", useless)
    for grant in connected.providers.state.grants:
        grant.access.clear()
    assert connected.act(follow, "sync").status == 409
    assert connected.connection("SPOTIFY")["status"] == "EXPIRED"
    assert connected.active() == ["connection_expired"]


def test_a_wrong_client_secret_is_not_the_persons_withdrawal(connected, later, configure):
    follow = connected.follow("YOUTUBE", ALLOTMENT)
    later(hours=2)
    configure(YOUTUBE_CLIENT_SECRET="mistyped")
    answer = connected.act(follow, "sync")
    assert (answer.status, answer.json["error"]) == (
        503,
        "Google does not know this app: check its client id and secret",
    )
    assert connected.connection("YOUTUBE")["status"] == "ACTIVE"
    assert connected.active() == []


@pytest.mark.parametrize("fault", [{"outage": True}, {"broken": True}])
def test_a_token_endpoint_that_is_down_says_nothing_about_the_consent(connected, later, fault):
    follow = connected.follow("SPOTIFY", SLOW_SOIL)
    later(hours=2)
    connected.providers.set_fault("spotify", **fault)
    assert connected.act(follow, "sync").status == 503
    assert connected.connection("SPOTIFY")["status"] == "ACTIVE"
    connected.providers.set_fault("spotify", reset=True)
    assert connected.act(follow, "sync").status == 200


def test_a_replaced_token_is_stored_whatever_else_was_written_meanwhile(connected, later, monkeypatch):
    later(hours=2)
    before, renew = opened(SPOTIFY, "refresh_token"), GRANTS[SPOTIFY].renew

    def renewed(token):
        given, current = renew(token), stored(SPOTIFY)
        store.save(replace(current, warned=14, version=current.version + 1), current)
        return given

    monkeypatch.setattr(GRANTS[SPOTIFY], "renew", renewed)
    assert ask(SPOTIFY) == opened(SPOTIFY, "access_token")
    assert opened(SPOTIFY, "refresh_token") != before
    assert (stored(SPOTIFY).warned, connected.connection("SPOTIFY")["status"]) == (14, "ACTIVE")


def test_disconnected_while_it_was_renewed_nothing_is_stored(connected, later, monkeypatch):
    later(hours=2)
    real = GRANTS[YOUTUBE].renew

    def disconnected(refresh_token):
        given = real(refresh_token)
        store.remove(stored(YOUTUBE))
        return given

    monkeypatch.setattr(GRANTS[YOUTUBE], "renew", disconnected)
    with pytest.raises(access.NoAccess):
        ask(YOUTUBE)
    assert store.find(DESK, YOUTUBE) is None


def test_connected_again_while_it_was_refused_stays_connected(connected, later, monkeypatch):
    later(hours=2)

    def refused(refresh_token):
        before = stored(YOUTUBE)
        given = tokens.seal_tokens(before, Tokens("of-the-new-consent", 3600, "new"))
        store.save(replace(given, version=before.version + 1), before)
        raise GrantRefused("no", "invalid_grant")

    monkeypatch.setattr(GRANTS[YOUTUBE], "renew", refused)
    with pytest.raises(access.NoAccess):
        ask(YOUTUBE)
    assert connected.connection("YOUTUBE")["status"] == "ACTIVE"
    assert connected.active() == []
    assert stored(YOUTUBE).token_expires_at > clock.now() + timedelta(minutes=30)
    assert ask(YOUTUBE) == "of-the-new-consent"
