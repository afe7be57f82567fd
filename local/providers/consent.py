"""The page on which a person lets Gna see their account, and where they are sent from it."""

from urllib.parse import urlencode, urlsplit

from local.gateway.gateway import Answer
from local.providers.grants import Grants, Rules
from local.providers.pages import html
from local.providers.wire import Call, redirect

# What the scopes mean, in the words of a consent page.
_MEANINGS = {
    "https://www.googleapis.com/auth/youtube.readonly": "See your YouTube account, and the channels you subscribe to",
    "user-library-read": "See the shows you have saved",
    "user-read-playback-position": "See how far you have listened",
    "user-read-private": "See your account",
    "user-read-email": "See your email address",
}
_NAMES = {"youtube": "YouTube", "spotify": "Spotify"}


class Problem(Exception):
    """Shown on a page of the provider: nobody is sent to an address that is not known to be right."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(code)
        self.code, self.words = code, words


class Consent:
    def __init__(self, grants: Grants, rules: Rules) -> None:
        self._grants, self._rules = grants, rules

    def handle(self, call: Call) -> Answer:
        ask = call.form if call.method == "POST" else {name: values[-1] for name, values in call.query.items()}
        try:
            self._check(ask)
        except Problem as problem:
            return html("refused.html", 400, provider=self._rules.provider, problem=problem)
        if call.method == "POST":
            return self._decide(ask)
        scopes = [_MEANINGS.get(scope, scope) for scope in ask.get("scope", "").split()]
        return html(
            "consent.html",
            provider=self._rules.provider,
            name=_NAMES[self._rules.provider],
            ask=ask,
            scopes=scopes,
            back=urlsplit(ask["redirect_uri"]).netloc,
        )

    def _check(self, ask: dict[str, str]) -> None:
        if ask.get("client_id") != self._rules.client_id:
            raise Problem("invalid_client", "No app with this client id is registered here.")
        if not self._may_return(ask.get("redirect_uri", "")):
            raise Problem("redirect_uri_mismatch", "The redirect URI is not one that could be registered.")
        if ask.get("response_type") != "code":
            raise Problem("unsupported_response_type", "The response type must be “code”.")
        if ask.get("code_challenge") and ask.get("code_challenge_method") != "S256":
            raise Problem("invalid_request", "The code challenge method must be “S256”.")
        if self._rules.secret is None and not ask.get("code_challenge"):
            raise Problem("invalid_request", "An app without a secret needs a code challenge.")
        if self._rules.provider == "youtube" and not ask.get("scope"):
            raise Problem("invalid_request", "The scope is missing.")

    def _may_return(self, uri: str) -> bool:
        """https, or this machine by its number; Google allows its name too, Spotify does not."""
        parts = urlsplit(uri)
        if parts.fragment or not parts.hostname:
            return False
        names = ("127.0.0.1", "::1") + (("localhost",) if self._rules.provider == "youtube" else ())
        return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in names)

    def _decide(self, ask: dict[str, str]) -> Answer:
        given = {"state": ask["state"]} if "state" in ask else {}
        if ask.get("decision") == "allow":
            given["code"] = self._grants.issue_code(ask)
            given |= {"scope": ask["scope"]} if self._rules.provider == "youtube" else {}
        else:
            given["error"] = "access_denied"
        uri = ask["redirect_uri"]
        return redirect(uri + ("&" if urlsplit(uri).query else "?") + urlencode(given), 302)
