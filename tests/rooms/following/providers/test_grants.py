import pytest

from chalicelib.following.providers.contract import Access, Down, GrantRefused, Throttled, Tokens
from chalicelib.following.providers.registry import GRANTS
from chalicelib.inbox.model import Provider
from chalicelib.kernel.http.client import FetchFailed
from tests.rooms.following.providers.sources import API, SPOTIFY
from tests.rooms.following.providers.web import recorded

GOOGLE, SPOTIFY_GRANTS = GRANTS[Provider.YOUTUBE], GRANTS[Provider.SPOTIFY]
TOKENS = {Provider.YOUTUBE: "oauth2.googleapis.com/token", Provider.SPOTIFY: "accounts.spotify.com/api/token"}
BACK = "https://news.example.org/admin/following/callback"
VERIFIER = "v" * 43

each = pytest.mark.parametrize("grants", GRANTS.values(), ids=list(GRANTS))


def answer(web, grants, name, status=200):
    web.answers[TOKENS[grants.provider]] = (status, recorded(f"{grants.provider.lower()}/{name}"))


def test_where_people_are_sent_and_with_what(web):
    assert GOOGLE.authorize_url() == "https://accounts.google.com/o/oauth2/v2/auth"
    assert GOOGLE.authorize_parameters() == {
        "client_id": "yt-client",
        "response_type": "code",
        "scope": "https://www.googleapis.com/auth/youtube.readonly",
        "code_challenge_method": "S256",
        "access_type": "offline",
        "prompt": "consent",
    }
    assert SPOTIFY_GRANTS.authorize_url() == "https://accounts.spotify.com/authorize"
    assert SPOTIFY_GRANTS.authorize_parameters() == {
        "client_id": "sp-client",
        "response_type": "code",
        "scope": "user-library-read",
        "code_challenge_method": "S256",
    }


@each
def test_a_code_is_exchanged_with_the_browsers_verifier(web, grants):
    answer(web, grants, "tokens")
    tokens = grants.exchange("the-code", VERIFIER, BACK)
    assert tokens.access_token
    assert tokens.refresh_token
    assert tokens.scopes == grants.scopes
    assert 3_599 <= tokens.expires_in <= 3_600
    sent = web.asked[0].form
    assert (sent["grant_type"], sent["code"], sent["code_verifier"], sent["redirect_uri"]) == (
        *("authorization_code", "the-code"),
        *(VERIFIER, BACK),
    )
    assert "?" not in web.asked[0].url


def test_google_wants_the_clients_secret_and_spotify_has_none(web):
    for grants in GRANTS.values():
        answer(web, grants, "tokens")
        grants.exchange("the-code", VERIFIER, BACK)
        grants.renew("the-token")
    assert [asked.form.get("client_secret") for asked in web.asked] == ["yt-secret", "yt-secret", None, None]
    assert [asked.form["client_id"] for asked in web.asked] == ["yt-client", "yt-client", "sp-client", "sp-client"]


@each
def test_a_renewal_without_a_new_refresh_token_has_none(web, grants):
    answer(web, grants, "tokens_renewed")
    assert grants.renew("the-token").refresh_token == ""
    assert web.asked[0].form["refresh_token"] == "the-token"
    assert web.asked[0].form["grant_type"] == "refresh_token"


@each
def test_a_rotated_refresh_token_is_told(web, grants):
    answer(web, grants, "tokens")
    assert grants.renew("the-token").refresh_token == recorded(f"{grants.provider.lower()}/tokens")["refresh_token"]


def test_when_a_consent_ends(web):
    answer(web, GOOGLE, "tokens")
    assert GOOGLE.exchange("the-code", VERIFIER, BACK).consent_ends_in is None
    answer(web, GOOGLE, "tokens_testing")
    assert GOOGLE.exchange("the-code", VERIFIER, BACK).consent_ends_in == 604_799
    answer(web, SPOTIFY_GRANTS, "tokens")
    assert SPOTIFY_GRANTS.exchange("the-code", VERIFIER, BACK).consent_ends_in == 181 * 86_400
    assert SPOTIFY_GRANTS.renew("the-token").consent_ends_in is None


@each
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"error": "invalid_grant", "error_description": "Bad Request"}, 400, "invalid_grant"),
        ({"error": "invalid_client"}, 401, "invalid_client"),
        ({"error": "invalid_request"}, 400, "invalid_request"),
        ({"error": "unauthorized_client"}, 401, "unauthorized_client"),
        ({"error": "admin_policy_enforced"}, 400, "other"),
    ],
)
def test_a_refusal_has_one_of_a_few_words_and_a_reason_of_ours(web, grants, body, status, code):
    web.answers[TOKENS[grants.provider]] = (status, body)
    for call in (lambda: grants.renew("the-token"), lambda: grants.exchange("the-code", VERIFIER, BACK)):
        with pytest.raises(GrantRefused) as refused:
            call()
        assert refused.value.code == code
        assert refused.value.reason.startswith(("Google", "Spotify"))
        assert "the-token" not in refused.value.reason


@each
@pytest.mark.parametrize("name", ["error_grant", "error_client"])
def test_recorded_refusals(web, grants, name):
    answer(web, grants, name, 400)
    with pytest.raises(GrantRefused) as refused:
        grants.renew("the-token")
    assert refused.value.code == "invalid_" + name.removeprefix("error_")


@each
@pytest.mark.parametrize(
    "outage",
    [
        *((503, {"error": "invalid_grant"}), (500, b""), (200, b"<html>"), (200, {}), (200, {"access_token": 7})),
        *((200, {"access_token": "with\nbreak"}), (400, b"<html>"), (403, {"error": {"code": 403}}), (302, b"")),
        FetchFailed("timeout", "no complete response in time"),
    ],
    ids=str,
)
def test_an_outage_says_nothing_about_the_consent(web, grants, outage):
    web.answers[TOKENS[grants.provider]] = outage
    with pytest.raises(Down):
        grants.renew("the-token")


@each
def test_too_many_requests_say_when_to_come_back(web, grants):
    web.answers[TOKENS[grants.provider]] = (429, {"error": "rate_limited"})
    web.headers = {"retry-after": "7200"}
    with pytest.raises(Throttled) as failed:
        grants.renew("the-token")
    assert failed.value.retry_after == 7_200


@each
@pytest.mark.parametrize("spoilt", [None, -1, 0, "soon", 10**30, [], True])
def test_the_rest_of_an_answer_may_be_nonsense(web, grants, spoilt):
    whole = recorded(f"{grants.provider.lower()}/tokens")
    nonsense = dict.fromkeys(("expires_in", "refresh_token", "scope", "refresh_token_expires_in"), spoilt)
    web.answers[TOKENS[grants.provider]] = whole | nonsense
    tokens = grants.renew("the-token")
    assert isinstance(tokens, Tokens)
    assert tokens.expires_in > 0
    assert tokens.consent_ends_in is None


def test_google_is_told_when_a_token_is_no_longer_wanted(web):
    place = "oauth2.googleapis.com/revoke"
    web.answers[place] = [(200, b""), (400, {"error": "invalid_token"}), (503, b""), (429, b"")]
    GOOGLE.revoke("the-token")
    GOOGLE.revoke("the-token")
    for expected in (Down, Throttled):
        with pytest.raises(expected):
            GOOGLE.revoke("the-token")
    assert {asked.form["token"] for asked in web.asked} == {"the-token"}
    assert not any("the-token" in asked.url for asked in web.asked)


def test_spotify_cannot_be_told(web):
    SPOTIFY_GRANTS.revoke("the-token")
    assert not web.asked


def test_whose_account_it_is(web):
    web.answers[f"{API}/channels"] = [recorded("youtube/own_channel"), recorded("youtube/channels_none")]
    web.answers[f"{SPOTIFY}/me"] = recorded("spotify/me")
    assert GOOGLE.account_id(Access(token="the-token")) == "UCsXVk37bltHxD1rDPwtNM8Q"
    assert GOOGLE.account_id(Access(token="the-token")) == ""
    assert SPOTIFY_GRANTS.account_id(Access(token="the-token")) == "31l77y2al5lnn7mxfrmd4bpfhqke"
    assert {asked.headers["Authorization"] for asked in web.asked} == {"Bearer the-token"}
