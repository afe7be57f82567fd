"""Connecting an account: states that work once, codes that the provider judges, and how often it may be tried."""

import uuid

import pytest

from chalicelib.following import connections
from chalicelib.following.stores import connections as store
from chalicelib.inbox.model import DESK, Provider
from tests.rooms.following.conftest import VERIFIER

PROVIDERS = ["YOUTUBE", "SPOTIFY"]
INVALID = (400, {"error": "Invalid state"})


def answered(answer):
    return answer.status, answer.json


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_connection_is_made_and_shown_without_its_tokens(desk, provider):
    assert answered(desk.call("GET", "connections")) == (200, {"YOUTUBE": None, "SPOTIFY": None})
    assert answered(desk.complete(provider, *desk.begin(provider))) == (200, {"success": True})
    info = desk.connection(provider)
    assert {"provider", "status", "connected_at", "last_refreshed_at", "expires_at"} <= set(info)
    assert (info["provider"], info["status"], info["last_refreshed_at"]) == (provider, "ACTIVE", None)
    assert 3_500_000 < info["expires_at"] - info["connected_at"] < 3_700_000
    assert not [name for name in info if "token" in name]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_only_spotifys_consent_is_known_to_end(desk, provider):
    desk.connect(provider)
    ends_at = desk.connection(provider)["consent_ends_at"]
    assert (ends_at is not None) is (provider == "SPOTIFY")


def test_a_state_that_nobody_registered_is_refused(desk):
    _, code = desk.begin("YOUTUBE")
    assert answered(desk.complete("YOUTUBE", str(uuid.uuid4()), code)) == INVALID


def test_a_state_works_once(desk):
    state, code = desk.begin("YOUTUBE")
    assert desk.complete("YOUTUBE", state, code).status == 200
    _, another = desk.begin("YOUTUBE")
    assert answered(desk.complete("YOUTUBE", state, another)) == INVALID


def test_a_state_is_used_up_by_a_code_that_is_refused(desk):
    state, code = desk.begin("YOUTUBE")
    assert desk.complete("YOUTUBE", state, "no-such-code").status == 400
    assert answered(desk.complete("YOUTUBE", state, code)) == INVALID


@pytest.mark.parametrize(
    "changed",
    [{"code_verifier": "v" * 42}, {"code_verifier": "v" * 129}, {"code": ""}, {"code_verifier": "ä" * 50}],
    ids=str,
)
def test_a_state_is_not_used_up_by_a_callback_that_is_malformed(desk, changed):
    state, code = desk.begin("YOUTUBE")
    body = {"provider": "YOUTUBE", "code": code, "state": state, "code_verifier": VERIFIER}
    assert desk.call("POST", "connections/callback", json=body | changed).status == 400
    assert desk.connection("YOUTUBE") is None
    assert desk.complete("YOUTUBE", state, code).status == 200


def test_a_state_ends_after_half_an_hour(desk, later):
    state, code = desk.begin("SPOTIFY")
    later(minutes=30, seconds=1)
    assert answered(desk.complete("SPOTIFY", state, code)) == INVALID


def test_a_state_still_works_shortly_before(desk, later):
    state, _ = desk.begin("SPOTIFY")
    later(minutes=29, seconds=50)
    _, code = desk.begin("SPOTIFY")
    assert desk.complete("SPOTIFY", state, code).status == 200


def test_a_state_of_another_provider_is_refused(desk):
    state, _ = desk.begin("SPOTIFY")
    _, code = desk.begin("YOUTUBE")
    assert answered(desk.complete("YOUTUBE", state, code)) == INVALID


def test_a_state_of_somebody_else_is_refused_and_stays_theirs(desk, member):
    ada, bob = member("ada"), member("bob")
    state, code = ada.begin("YOUTUBE")
    for stranger in (bob, desk):
        assert answered(stranger.complete("YOUTUBE", state, code)) == INVALID
        assert stranger.connection("YOUTUBE") is None
    assert ada.complete("YOUTUBE", state, code).status == 200


def test_a_state_may_be_written_in_any_case(desk):
    state, code = desk.begin("YOUTUBE")
    assert desk.complete("YOUTUBE", state.upper(), code).status == 200


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("verifier", ["w" * 43, "v" * 44])
def test_the_providers_refusal_is_told_in_its_words_and_the_connection_stays(desk, provider, verifier):
    desk.connect(provider)
    before = store.find(DESK, Provider(provider))
    answer = desk.complete(provider, *desk.begin(provider), verifier)
    name = "Google" if provider == "YOUTUBE" else "Spotify"
    assert answered(answer) == (
        400,
        {"error": f"{name} does not accept this consent: it has ended, was withdrawn or has been used already"},
    )
    assert store.find(DESK, Provider(provider)) == before


def test_a_provider_that_is_out_of_order_is_503_and_the_connection_stays(desk):
    desk.connect("SPOTIFY")
    before = store.find(DESK, Provider.SPOTIFY)
    state, code = desk.begin("SPOTIFY")
    desk.providers.set_fault("spotify", outage=True)
    answer = desk.complete("SPOTIFY", state, code)
    assert answer.status == 503
    assert answer.headers["Retry-After"]
    assert store.find(DESK, Provider.SPOTIFY) == before


@pytest.mark.parametrize("length", [43, 128])
def test_verifiers_of_43_and_128_characters_are_right(desk, length):
    verifier = ("aZ0-._~" * 20)[:length]
    assert desk.complete("YOUTUBE", *desk.begin("YOUTUBE", verifier), verifier).status == 200


def test_connecting_again_replaces_the_tokens_of_the_same_connection(desk):
    desk.connect("YOUTUBE")
    before = store.find(DESK, Provider.YOUTUBE)
    desk.connect("YOUTUBE")
    after = store.find(DESK, Provider.YOUTUBE)
    assert (after.id, after.version) == (before.id, before.version + 1)
    assert after.refresh_token != before.refresh_token


def test_a_consent_without_lasting_access_keeps_the_refresh_token_from_before(desk, monkeypatch):
    desk.connect("YOUTUBE")
    before = store.find(DESK, Provider.YOUTUBE)
    grants = desk.providers.router.grants["youtube"]
    monkeypatch.setattr(type(grants), "_may_refresh", lambda *_: False)
    desk.connect("YOUTUBE")
    assert store.find(DESK, Provider.YOUTUBE).refresh_token == before.refresh_token


def test_a_first_consent_without_lasting_access_is_refused(desk, monkeypatch):
    grants = desk.providers.router.grants["youtube"]
    monkeypatch.setattr(type(grants), "_may_refresh", lambda *_: False)
    assert desk.complete("YOUTUBE", *desk.begin("YOUTUBE")).status == 400
    assert desk.connection("YOUTUBE") is None


@pytest.mark.parametrize(("provider", "name"), [("YOUTUBE", "YOUTUBE_CLIENT_ID"), ("SPOTIFY", "SPOTIFY_CLIENT_ID")])
def test_a_provider_that_is_not_configured_cannot_be_connected(desk, configure, provider, name):
    configure(**{name: ""})
    answer = desk.call("POST", "connections/state", json={"provider": provider, "state": str(uuid.uuid4())})
    label = {"YOUTUBE": "YouTube", "SPOTIFY": "Spotify"}[provider]
    assert answered(answer) == (409, {"error": f"{label} is not configured"})


def test_the_redirect_is_the_same_for_script_and_exchange_and_never_localhost(configure):
    assert connections.redirect_uri(DESK) == "https://news.example.org/admin/following/callback"
    assert connections.redirect_uri("somebody") == "https://news.example.org/following/callback"
    configure(SITE_URL="http://localhost:8000", GNA_LOCAL="true")
    assert connections.redirect_uri(DESK) == "http://127.0.0.1:8000/admin/following/callback"


def test_five_states_a_minute(desk, still, member):
    def register(owner=desk):
        body = {"provider": "YOUTUBE", "state": str(uuid.uuid4())}
        return owner.call("POST", "connections/state", json=body)

    assert [register().status for _ in range(6)] == [200] * 5 + [429]
    assert register().headers["Retry-After"]
    assert register(member("ada")).status == 200


def test_ten_callbacks_a_minute_whether_they_are_right_or_not(desk, still, member):
    statuses = [desk.complete("YOUTUBE", str(uuid.uuid4()), "code").status for _ in range(11)]
    assert statuses == [400] * 10 + [429]
    assert member("ada").complete("YOUTUBE", str(uuid.uuid4()), "code").status == 400


def test_three_disconnections_a_minute(desk, still, member):
    assert [desk.disconnect("YOUTUBE").status for _ in range(4)] == [200, 200, 200, 429]
    assert member("ada").disconnect("YOUTUBE").status == 200


@pytest.mark.parametrize(
    ("path", "body", "most"),
    [
        ("connections/state", {"provider": "YOUTUBE", "state": "none"}, 5),
        ("connections/callback", {"provider": "YOUTUBE", "code_verifier": "short"}, 10),
    ],
)
def test_malformed_calls_count_too(desk, still, path, body, most):
    statuses = [desk.call("POST", path, json=body).status for _ in range(most + 1)]
    assert statuses == [400] * most + [429]
