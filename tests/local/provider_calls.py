"""What a client of the small providers does, by plain HTTP and with none of Gna's code."""

import base64
import hashlib
import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from json import dumps as encoded
from json import loads
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from local.providers.credentials import SPOTIFY, YOUTUBE

VERIFIER = "a-verifier-of-more-than-forty-three-characters"
REDIRECT = "https://news.example.org/admin/following/callback"
KEY = YOUTUBE["YOUTUBE_API_KEY"]
READONLY = "https://www.googleapis.com/auth/youtube.readonly"


@dataclass(frozen=True)
class Answered:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def reason(self) -> str:
        """Of a refusal in Google's form."""
        return str(self.json["error"]["errors"][0]["reason"])


def ask(url: str, form: Mapping[str, str] | None = None, json: Any = None, **headers: str) -> Answered:
    """A form or JSON is posted; otherwise it is a GET."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if form is not None:
        named |= {"Content-Type": "application/x-www-form-urlencoded"}
    body = urlencode(form) if form is not None else None if json is None else encoded(json)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request("GET" if body is None else "POST", target, body, named)
    answer = connection.getresponse()
    found = Answered(answer.status, dict(answer.getheaders()), answer.read())
    connection.close()
    return found


def youtube(providers: Any, name: str, token: str = "", **query: Any) -> Answered:
    """One list of the Data API, with the key unless there is a token."""
    access: Any = {"Authorization": f"Bearer {token}"} if token else {}
    query |= {} if token else {"key": KEY}
    return ask(f"{providers.youtube}/youtube/v3/{name}?{urlencode(query)}", **access)


def spotify(providers: Any, path: str, token: str, **query: Any) -> Answered:
    return ask(f"{providers.spotify}/v1/{path}?{urlencode(query)}", Authorization=f"Bearer {token}")


def authorize_url(providers: Any, provider: str, **changed: str) -> str:
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
    ours = {
        "response_type": "code",
        "redirect_uri": REDIRECT,
        "state": "a-state",
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    if provider == "youtube":
        place = f"{providers.youtube}/o/oauth2/v2/auth"
        ours |= {"client_id": YOUTUBE["YOUTUBE_CLIENT_ID"], "scope": READONLY}
        ours |= {"access_type": "offline", "prompt": "consent"}
    else:
        place = f"{providers.spotify}/authorize"
        ours |= {"client_id": SPOTIFY["SPOTIFY_CLIENT_ID"], "scope": "user-library-read user-read-playback-position"}
    return f"{place}?{urlencode(ours | changed)}"


def code_from(providers: Any, provider: str, **changed: str) -> str:
    sent_to = str(providers.consent(authorize_url(providers, provider, **changed)))
    return parse_qs(urlsplit(sent_to).query)["code"][0]


def token_call(providers: Any, provider: str, **form: str) -> Answered:
    """The token endpoint, with what identifies the app unless it is given."""
    if provider == "youtube":
        ours = {"client_id": YOUTUBE["YOUTUBE_CLIENT_ID"], "client_secret": YOUTUBE["YOUTUBE_CLIENT_SECRET"]}
        return ask(f"{providers.youtube}/token", ours | form)
    return ask(f"{providers.spotify}/api/token", {"client_id": SPOTIFY["SPOTIFY_CLIENT_ID"]} | form)


def exchange(providers: Any, provider: str, code: str, /, **changed: str) -> Answered:
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "code_verifier": VERIFIER}
    return token_call(providers, provider, **(form | changed))


def renew(providers: Any, provider: str, refresh_token: str) -> Answered:
    return token_call(providers, provider, grant_type="refresh_token", refresh_token=refresh_token)


def connect(providers: Any, provider: str, **changed: str) -> dict[str, Any]:
    """From the consent page to the tokens."""
    return dict(exchange(providers, provider, code_from(providers, provider, **changed)).json)
