"""The small YouTube and the small Spotify as tests drive them: OAuth, faults, what is counted, and what lasts."""

import time

import pytest

from local.providers.catalogue import CHANNELS, SHOWS
from local.providers.main import Providers
from tests.local.provider_calls import (
    ask,
    authorize_url,
    code_from,
    connect,
    exchange,
    renew,
    spotify,
    token_call,
    youtube,
)

GARDEN, BIRDS, MENDING, COMPOST, MOSS = CHANNELS
BOTH = pytest.mark.parametrize("provider", ["youtube", "spotify"])


def whoever(providers, provider, token):
    if provider == "youtube":
        return youtube(providers, "channels", token, part="id", mine="true")
    return spotify(providers, "me", token)


@BOTH
def test_a_person_consents_and_the_app_gets_tokens(providers, provider):
    page = ask(authorize_url(providers, provider))
    assert (page.status, "Allow" in page.text) == (200, True)
    tokens = connect(providers, provider)
    assert tokens["token_type"] == "Bearer"
    assert 3_500 < tokens["expires_in"] <= 3_600
    assert tokens["refresh_token"]
    assert whoever(providers, provider, tokens["access_token"]).status == 200


@BOTH
def test_a_person_who_declines_is_sent_back_with_an_error_and_the_state(providers, provider):
    sent_to = providers.consent(authorize_url(providers, provider), allow=False)
    assert sent_to == "https://news.example.org/admin/following/callback?state=a-state&error=access_denied"


@BOTH
@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "another"},
        {"redirect_uri": "http://elsewhere.example.org/x"},
        {"code_challenge_method": "plain"},
    ],
)
def test_a_consent_page_that_was_asked_for_wrongly_sends_nobody_anywhere(providers, provider, changed):
    answer = ask(authorize_url(providers, provider, **changed))
    assert (answer.status, "Location" in answer.headers) == (400, False)


def test_spotify_does_not_return_to_localhost_by_name(providers):
    local = {"redirect_uri": "http://localhost:8000/x"}
    assert ask(authorize_url(providers, "spotify", **local)).status == 400
    assert ask(authorize_url(providers, "youtube", **local)).status == 200


@BOTH
@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code": "made-up"}, "invalid_grant"),
        ({"code_verifier": "another-verifier-of-more-than-forty-three-chars"}, "invalid_grant"),
        ({"client_id": "another"}, "invalid_client"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
    ],
)
def test_a_code_is_exchanged_only_by_whoever_it_was_given_to(providers, provider, changed, error):
    answer = exchange(providers, provider, code_from(providers, provider), **changed)
    assert answer.status in (400, 401)
    assert answer.json["error"] == error
    assert answer.json["error_description"]


@BOTH
def test_a_code_is_used_once_and_for_the_redirect_it_was_made_for(providers, provider):
    code = code_from(providers, provider)
    assert exchange(providers, provider, code).status == 200
    assert exchange(providers, provider, code).json["error"] == "invalid_grant"
    other = exchange(providers, provider, code_from(providers, provider), redirect_uri="https://x.example.org/")
    assert other.json["error"] == ("redirect_uri_mismatch" if provider == "youtube" else "invalid_grant")


def test_google_wants_the_secret_and_spotify_the_verifier(providers):
    refused = exchange(providers, "youtube", code_from(providers, "youtube"), client_secret="another")
    assert (refused.status, refused.json["error"]) == (401, "invalid_client")
    refused = exchange(providers, "spotify", code_from(providers, "spotify"), code_verifier="")
    assert (refused.status, refused.json["error"]) == (400, "invalid_request")


@BOTH
def test_an_access_token_ends_after_an_hour_and_can_be_renewed(providers, provider):
    tokens = connect(providers, provider)
    providers.advance(3_600)
    assert whoever(providers, provider, tokens["access_token"]).status == 401
    renewed = renew(providers, provider, tokens["refresh_token"]).json
    assert whoever(providers, provider, renewed["access_token"]).status == 200


def test_google_keeps_the_refresh_token_and_sends_it_with_a_consent_only(providers):
    tokens = connect(providers, "youtube")
    renewed = renew(providers, "youtube", tokens["refresh_token"]).json
    assert "refresh_token" not in renewed
    assert renew(providers, "youtube", tokens["refresh_token"]).status == 200
    assert "refresh_token" not in connect(providers, "youtube", prompt="select_account")
    assert "refresh_token" not in connect(providers, "youtube", access_type="online")


def test_spotify_gives_another_refresh_token_each_time_and_ends_the_one_before(providers):
    first = connect(providers, "spotify")["refresh_token"]
    second = renew(providers, "spotify", first).json["refresh_token"]
    assert second != first
    assert renew(providers, "spotify", first).json == {
        "error": "invalid_grant",
        "error_description": "Refresh token revoked",
    }
    assert renew(providers, "spotify", second).status == 200


def test_google_is_told_to_forget_a_token(providers):
    tokens = connect(providers, "youtube")
    assert ask(f"{providers.youtube}/revoke", {"token": tokens["refresh_token"]}).status == 200
    assert renew(providers, "youtube", tokens["refresh_token"]).json["error"] == "invalid_grant"
    assert whoever(providers, "youtube", tokens["access_token"]).status == 401
    assert ask(f"{providers.youtube}/revoke", {"token": tokens["refresh_token"]}).json["error"] == "invalid_token"


@BOTH
def test_while_consent_is_withdrawn_nothing_is_renewed_and_no_token_is_accepted(providers, provider):
    tokens = connect(providers, provider)
    providers.set_fault(provider, revoked=True)
    assert renew(providers, provider, tokens["refresh_token"]).json["error"] == "invalid_grant"
    assert whoever(providers, provider, tokens["access_token"]).status == 401
    providers.set_fault(provider, reset=True)
    assert renew(providers, provider, tokens["refresh_token"]).status == 200


@BOTH
def test_an_outage_is_of_one_provider_and_of_all_its_endpoints(providers, provider):
    tokens = connect(providers, provider)
    other = "spotify" if provider == "youtube" else "youtube"
    others = connect(providers, other)
    providers.set_fault(provider, outage=True)
    assert whoever(providers, provider, tokens["access_token"]).status == 503
    assert renew(providers, provider, tokens["refresh_token"]).status == 503
    assert whoever(providers, other, others["access_token"]).status == 200


def test_quota_and_rate_limits_have_the_form_of_their_provider(providers):
    token = connect(providers, "spotify")["access_token"]
    providers.set_fault("youtube", quota=True)
    providers.set_fault("spotify", quota=True)
    used_up = youtube(providers, "channels", part="id", id=GARDEN.id)
    assert (used_up.status, used_up.reason) == (403, "quotaExceeded")
    used_up = youtube(providers, "search", part="id", q="x")
    assert (used_up.status, used_up.json["error"]["status"]) == (429, "RESOURCE_EXHAUSTED")
    used_up = spotify(providers, "me", token)
    assert (used_up.status, used_up.json["error"]["reason"]) == (429, "QUOTA_EXCEEDED")
    assert int(used_up.headers["Retry-After"]) > 3_600
    providers.set_fault("youtube", reset=True, rate_limit=90)
    providers.set_fault("spotify", reset=True, rate_limit=90)
    limited = youtube(providers, "channels", part="id", id=GARDEN.id)
    assert (limited.status, limited.reason, limited.headers["Retry-After"]) == (403, "rateLimitExceeded", "90")
    limited = spotify(providers, "me", token)
    assert (limited.status, limited.headers["Retry-After"]) == (429, "90")


def test_only_the_searches_can_be_used_up(providers):
    providers.set_fault("youtube", search_quota=True)
    assert youtube(providers, "search", part="id", q="x").status == 429
    assert youtube(providers, "channels", part="id", id=GARDEN.id).status == 200


def test_a_provider_can_be_slow_or_answer_nonsense(providers):
    providers.set_fault("youtube", slow=0.3)
    before = time.monotonic()
    youtube(providers, "channels", part="id", id=GARDEN.id)
    assert time.monotonic() - before >= 0.3
    providers.set_fault("youtube", reset=True, broken=True)
    with pytest.raises(ValueError):
        _ = youtube(providers, "channels", part="id", id=GARDEN.id).json


@pytest.mark.parametrize("orders", [{"outages": True}, {"outage": 1}, {"rate_limit": -1}, {"slow": "long"}])
def test_a_fault_that_does_not_exist_is_an_error(providers, orders):
    with pytest.raises(ValueError):
        providers.set_fault("youtube", **orders)


def test_every_request_is_counted_also_one_that_is_refused(providers):
    token = connect(providers, "spotify")["access_token"]
    youtube(providers, "channels", part="id", id=GARDEN.id)
    youtube(providers, "channels", part="nonsense", id=GARDEN.id)
    youtube(providers, "search", part="id", q="x")
    spotify(providers, f"shows/{SHOWS[0].id}/episodes", token)
    calls = providers.calls()
    assert (calls["units"], calls["searches"]) == (2, 1)
    assert calls["youtube"]["GET /youtube/v3/channels"] == 2
    assert calls["spotify"] == {"GET /v1/shows/{id}/episodes": 1, "POST /api/token": 1}
    providers.forget_calls()
    assert providers.calls()["units"] == 0


def test_the_control_api_does_what_the_methods_do(providers):
    def control(what, **orders):
        return ask(f"{providers.url}/control/{what}", json=orders)

    made = control("publish", where=GARDEN.id, title="By control", kind="short")
    assert providers.library.video(made.json["id"]).short
    assert control("change", video_id=made.json["id"], title="Renamed").status == 200
    assert control("delete", id=made.json["id"]).status == 200
    assert control("delete", id=made.json["id"]).status == 404
    assert control("faults", provider="youtube", outage=True).json["outage"] is True
    assert control("faults", provider="youtube", nonsense=True).status == 400
    assert control("faults", provider="vimeo", outage=True).status == 404
    assert ask(f"{providers.url}/control/calls").json["units"] == 0
    assert control("reset").status == 200
    assert providers.state.faults["youtube"].outage is False


def test_what_was_published_and_who_is_connected_last_beyond_a_restart(tmp_path):
    before = Providers(tmp_path).start()
    try:
        video = before.publish(GARDEN.id, "Kept")
        tokens = connect(before, "spotify")
        before.set_fault("youtube", outage=True)
    finally:
        before.stop()
    after = Providers(tmp_path).start()
    try:
        assert after.library.video(video).title == "Kept"
        assert spotify(after, "me", tokens["access_token"]).status == 200
        assert after.state.faults["youtube"].outage
        assert (tmp_path / "providers.json").stat().st_mode & 0o777 == 0o600
    finally:
        after.stop()


def test_no_other_site_gets_in(providers):
    assert ask(f"{providers.url}/control/calls", Host="evil.example.org").status == 421
    url = f"{providers.url}/youtube/manage/disconnect"
    assert ask(url, {}, Sec_Fetch_Site="cross-site").status == 403


def test_ids_look_like_real_ones_and_stay_the_same():
    assert GARDEN.id == "UC8vuJjMcL2bpVebyI2hcBCw"
    assert all(len(channel.id) == 24 and channel.id[-1] in "AQgw" for channel in CHANNELS)
    assert all(len(show.id) == 22 and show.id.isalnum() for show in SHOWS)


def test_a_token_endpoint_wants_a_grant_type(providers):
    assert token_call(providers, "youtube").json["error"] == "unsupported_grant_type"
