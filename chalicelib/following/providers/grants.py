"""Connecting an account, by OAuth 2 with PKCE: Google with its client's secret, Spotify without one.

The verifier is the browser's; it passes through here to the provider and is kept nowhere.
"""

from collections.abc import Mapping

from chalicelib.following.providers import api, hosts, spotify, youtube
from chalicelib.following.providers.api import Reply
from chalicelib.following.providers.contract import Access, Down, GrantRefused, Grants, Throttled, Tokens
from chalicelib.following.providers.fields import Fields
from chalicelib.inbox.model import Provider
from chalicelib.kernel import settings

_SHORTEST_WAIT = 60
_USUAL_SECONDS = 3_600
_LONGEST_SECONDS = 10 * 365 * 86_400
# RFC 6749, section 5.2.
_REASONS = {
    "invalid_grant": "{} does not accept this consent: it has ended, was withdrawn or has been used already",
    "invalid_client": "{} does not know this app: check its client id and secret",
    "invalid_request": "{} refused the request as incomplete",
    "unauthorized_client": "{} does not let this app ask for consent: check its settings there",
    "unsupported_grant_type": "{} does not let this app ask for consent: check its settings there",
    "invalid_scope": "{} does not let this app read what it asked for",
}
_OTHER_REASON = "{} refused the connection"


class Google:
    """For YouTube."""

    provider = Provider.YOUTUBE
    scopes: tuple[str, ...] = ("https://www.googleapis.com/auth/youtube.readonly",)

    def is_configured(self) -> bool:
        return bool(settings.current().youtube_client_id and settings.provider_secret("YOUTUBE_CLIENT_SECRET"))

    def authorize_url(self) -> str:
        return hosts.youtube(hosts.GOOGLE_CONSENT)

    def authorize_parameters(self) -> dict[str, str]:
        """Offline, and asked for each time: otherwise Google sends a refresh token only at the very first consent."""
        return _parameters(settings.current().youtube_client_id, self.scopes) | {
            "access_type": "offline",
            "prompt": "consent",
        }

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> Tokens:
        return self._ask(_code_form(code, verifier, redirect_uri))

    def renew(self, refresh_token: str) -> Tokens:
        return self._ask({"grant_type": "refresh_token", "refresh_token": refresh_token})

    def revoke(self, token: str) -> None:
        """A token that Google no longer knows is as good as revoked."""
        reply = api.post_form("Google", hosts.youtube(hosts.GOOGLE_REVOKE), {"token": token})
        if reply.status == 429:
            raise _throttled("Google", reply)

    def account_id(self, access: Access) -> str:
        """The id of their channel. It costs one unit, at most once for each consent."""
        return youtube.find_own_channel_id(access)

    def _ask(self, form: Mapping[str, str]) -> Tokens:
        """Google tells when the consent ends if it does, as for apps that are still being tested."""
        client_id = settings.current().youtube_client_id
        secret = settings.provider_secret("YOUTUBE_CLIENT_SECRET")
        answer = _ask(
            "Google", hosts.youtube(hosts.GOOGLE_TOKENS), {"client_id": client_id, "client_secret": secret, **form}
        )
        return _tokens("Google", answer, answer.number("refresh_token_expires_in") or None)


class Spotify:
    provider = Provider.SPOTIFY
    scopes: tuple[str, ...] = ("user-library-read",)
    # Six months after consent, however often it is renewed; the shortest six months there are.
    _consent_ends_in = 181 * 86_400

    def is_configured(self) -> bool:
        return bool(settings.current().spotify_client_id)

    def authorize_url(self) -> str:
        return hosts.spotify(hosts.SPOTIFY_CONSENT)

    def authorize_parameters(self) -> dict[str, str]:
        return _parameters(settings.current().spotify_client_id, self.scopes)

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> Tokens:
        return self._ask(_code_form(code, verifier, redirect_uri), self._consent_ends_in)

    def renew(self, refresh_token: str) -> Tokens:
        """Says nothing about the end of the consent, which stays where it was."""
        return self._ask({"grant_type": "refresh_token", "refresh_token": refresh_token}, None)

    def revoke(self, token: str) -> None:
        """Spotify cannot be told: people remove an app on their account's page, and tokens end by themselves."""

    def account_id(self, access: Access) -> str:
        return spotify.find_account_id(access)

    def _ask(self, form: Mapping[str, str], consent_ends_in: int | None) -> Tokens:
        form = {"client_id": settings.current().spotify_client_id, **form}
        return _tokens("Spotify", _ask("Spotify", hosts.spotify(hosts.SPOTIFY_TOKENS), form), consent_ends_in)


GOOGLE: Grants = Google()
SPOTIFY: Grants = Spotify()


def _parameters(client_id: str, scopes: tuple[str, ...]) -> dict[str, str]:
    return {
        "client_id": client_id,
        "response_type": "code",
        "scope": " ".join(scopes),
        "code_challenge_method": "S256",
    }


def _code_form(code: str, verifier: str, redirect_uri: str) -> dict[str, str]:
    return {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": verifier,
        "redirect_uri": redirect_uri,
    }


def _ask(name: str, url: str, form: Mapping[str, str]) -> Fields:
    reply = api.post_form(name, url, form)
    if reply.status == 429:
        raise _throttled(name, reply)
    code = reply.fields.word("error")
    if reply.status != 200 and code:
        known = code if code in _REASONS else "other"
        raise GrantRefused(_REASONS.get(code, _OTHER_REASON).format(name), known)
    # A refusal in another form than the standard's is no word about the consent.
    if reply.status != 200:
        raise Down(f"{name} answered {reply.status}", reply.retry_after)
    return reply.fields


def _throttled(name: str, reply: Reply) -> Throttled:
    return Throttled(f"{name} is limiting our requests", max(reply.retry_after, _SHORTEST_WAIT))


def _tokens(name: str, answer: Fields, consent_ends_in: int | None) -> Tokens:
    token = answer.word("access_token")
    if not token:
        raise Down(f"{name} answered without a token")
    return Tokens(
        access_token=token,
        expires_in=min(answer.number("expires_in") or _USUAL_SECONDS, _LONGEST_SECONDS),
        refresh_token=answer.word("refresh_token"),
        scopes=tuple(answer.text("scope", 2_000).split()),
        consent_ends_in=min(consent_ends_in, _LONGEST_SECONDS) if consent_ends_in else None,
    )
