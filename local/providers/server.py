"""Which request goes where: APIs, consent pages, pictures, what tests control, and the pages for people."""

import re
import time
import traceback
from collections.abc import Callable
from urllib.parse import urlsplit

from local.gateway.gateway import Answer, Headers
from local.providers import pictures, wire
from local.providers.consent import Consent
from local.providers.control import Control
from local.providers.grants import Grants, Refused
from local.providers.library import Library, Unknown
from local.providers.pages import Pages
from local.providers.spotify import api as spotify_api
from local.providers.spotify import oauth as spotify_oauth
from local.providers.state import State
from local.providers.wire import Call, json_answer, text_answer
from local.providers.youtube import api as youtube_api
from local.providers.youtube import atom, errors
from local.providers.youtube import oauth as youtube_oauth
from local.providers.youtube.hub import Hub

_LOCAL_NAMES = ("127.0.0.1", "localhost", "::1")
_PICTURE = re.compile(r"/(?:vi|image)/([\w-]{1,40})/(\d{2,4})x(\d{2,4})\.png\Z")
_ID = re.compile(r"/[0-9A-Za-z]{22}(?=/|\Z)")
_LONGEST_WAIT = 60.0


class Router:
    def __init__(self, state: State, library: Library, hub: Hub, base: Callable[[], str], app_url: str) -> None:
        self._state, self._library, self._hub = state, library, hub
        self.grants = {"youtube": Grants(state, youtube_oauth.RULES), "spotify": Grants(state, spotify_oauth.RULES)}
        self._base = base
        self._youtube_api = youtube_api.Api(state, library, self.grants["youtube"], lambda: f"{base()}/youtube")
        self._spotify_api = spotify_api.Api(state, library, self.grants["spotify"], lambda: f"{base()}/spotify")
        self._consents = {
            "youtube": Consent(self.grants["youtube"], youtube_oauth.RULES),
            "spotify": Consent(self.grants["spotify"], spotify_oauth.RULES),
        }
        self._control = Control(state, library, hub)
        self._pages = Pages(state, library, hub, self.grants, app_url)

    def handle(self, method: str, target: str, headers: Headers, body: bytes, source_ip: str) -> Answer:
        try:
            return self._handle(wire.parse(method, target, headers, body))
        except Exception:
            traceback.print_exc()  # a mistake here must not look like one of the caller's
            return text_answer("Internal server error\n", "text/plain", 500)

    def _handle(self, call: Call) -> Answer:
        # A website could point its own name to this address, or send a form here.
        if urlsplit(f"//{call.headers.get('host', '')}").hostname not in _LOCAL_NAMES:
            return text_answer("This is a local address only\n", "text/plain", 421)
        if call.method != "GET" and call.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return text_answer("Use the page's own forms\n", "text/plain", 403)
        self._library.settle()
        if call.path.startswith("/control/"):
            return self._control.handle(call)
        name, path = call.path[1:8], call.path[8:] or "/"
        answer = None
        if name in self.grants and path.startswith("/"):
            answer = self._picture(path) or (self._youtube if name == "youtube" else self._spotify)(call, path)
        return answer or self._pages.handle(call)

    def _picture(self, path: str) -> Answer | None:
        match = _PICTURE.match(path)
        if not match:
            return None
        width, height = (max(16, min(int(side), pictures.LARGEST)) for side in match.group(2, 3))
        return Answer(200, [("Content-Type", "image/png")], pictures.png(match[1], width, height))

    def _youtube(self, call: Call, path: str) -> Answer | None:
        match call.method, path:
            case (("GET" | "POST"), "/o/oauth2/v2/auth"):
                return self._consents["youtube"].handle(call)
            case "POST", "/token":
                return self._served("youtube", call, path, lambda: self._token("youtube", call))
            case "POST", "/revoke":
                return self._served("youtube", call, path, lambda: self._revoke(call))
            case "POST", "/subscribe":
                return self._served("youtube", call, path, lambda: self._subscribe(call))
            case "GET", ("/xml/feeds/videos.xml" | "/feeds/videos.xml"):
                return self._served("youtube", call, path, lambda: self._feed(call))
        if path.startswith("/youtube/v3/"):
            name = path.removeprefix("/youtube/v3/")
            return self._served("youtube", call, path, lambda: self._youtube_api.handle(call, name))
        return None

    def _spotify(self, call: Call, path: str) -> Answer | None:
        match call.method, path:
            case (("GET" | "POST"), "/authorize"):
                return self._consents["spotify"].handle(call)
            case "POST", "/api/token":
                return self._served("spotify", call, path, lambda: self._token("spotify", call))
        if path.startswith("/v1/"):
            rest = path.removeprefix("/v1/")
            return self._served("spotify", call, path, lambda: self._spotify_api.handle(call, rest))
        return None

    def _served(self, provider: str, call: Call, path: str, answer: Callable[[], Answer]) -> Answer:
        """Counted first: a request that is refused has been made all the same."""
        faults = self._state.faults[provider]
        with self._state.lock:
            self._state.calls[provider, f"{call.method} {_ID.sub('/{id}', path)}"] += 1
        if faults.slow:
            time.sleep(min(faults.slow, _LONGEST_WAIT))
        if faults.outage:
            return _unavailable(provider, path)
        if faults.broken:
            return Answer(200, [("Content-Type", "application/json")], b"<html>Sorry")
        return answer()

    def _token(self, provider: str, call: Call) -> Answer:
        try:
            return json_answer(self.grants[provider].answer(call.form))
        except Refused as refused:
            return _refusal(provider, refused.why)

    def _revoke(self, call: Call) -> Answer:
        if self.grants["youtube"].revoke(call.form.get("token", "") or call.one("token")):
            return json_answer({})
        return json_answer({"error": "invalid_token", "error_description": "Token expired or revoked"}, 400)

    def _subscribe(self, call: Call) -> Answer:
        if self._state.faults["youtube"].hub_down:
            return text_answer("Service unavailable", "text/plain", 503)
        return self._hub.subscribe(call.form)

    def _feed(self, call: Call) -> Answer:
        try:
            channel = self._library.channel(call.one("channel_id"))
        except Unknown:
            return text_answer("Not found", "text/html", 404)
        document = atom.feed(channel, self._library.uploads(channel.id), f"{self._base()}/youtube")
        return text_answer(document, "text/xml; charset=UTF-8")


def _refusal(provider: str, why: str) -> Answer:
    words = youtube_oauth.REFUSALS if provider == "youtube" else spotify_oauth.REFUSALS
    status, error, description = words[why]
    return json_answer({"error": error, "error_description": description}, status)


def _unavailable(provider: str, path: str) -> Answer:
    if path in ("/token", "/api/token"):
        return _refusal(provider, "unavailable")
    if path.startswith("/youtube/v3/"):
        return errors.unavailable().answer
    if path.startswith("/v1/"):
        return json_answer({"error": {"status": 503, "message": "Service unavailable"}}, 503)
    return text_answer("Service unavailable", "text/plain", 503)
