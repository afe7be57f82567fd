"""The Spotify Web API, as far as Gna asks it: a person, their saved shows, a show, its episodes, and a search."""

import re
from collections.abc import Callable
from typing import Any

from local.gateway.gateway import Answer
from local.providers.catalogue import SAVED, SHOWS
from local.providers.grants import Grants
from local.providers.library import Library, Unknown
from local.providers.spotify import objects
from local.providers.state import Grant, State
from local.providers.wire import Call, json_answer

_ID = re.compile(r"[0-9A-Za-z]{22}\Z")
_MARKET = re.compile(r"[A-Z]{2}\Z")
_TYPES = ("album", "artist", "playlist", "track", "show", "episode", "audiobook")
_HOURS = 48_925  # what the real one has told an app that had used up its day


class Refusal(Exception):
    def __init__(self, status: int, message: str, *, reason: str = "", retry_after: int = 0) -> None:
        super().__init__(message)
        error = {"status": status, "message": message} | ({"reason": reason} if reason else {})
        headers = (("Retry-After", str(retry_after)),) if retry_after else ()
        self.answer: Answer = json_answer({"error": error}, status, *headers)


class Api:
    def __init__(self, state: State, library: Library, grants: Grants, base: Callable[[], str]) -> None:
        self._state, self._library, self._grants, self._base = state, library, grants, base

    def handle(self, call: Call, path: str) -> Answer:
        try:
            self._check_faults()
            return json_answer(self._find(call, path, self._check_caller(call)))
        except Refusal as refusal:
            return refusal.answer

    def _find(self, call: Call, path: str, grant: Grant) -> Any:
        if call.method != "GET":
            raise Refusal(405, "Method not allowed")
        match path.split("/"):
            case ["me"]:
                return objects.private_user(self._base())
            case ["me", "shows"]:
                return self._saved(call, grant)
            case ["shows", id]:
                return self._show(call, id, grant)
            case ["shows", id, "episodes"]:
                return self._episodes(call, id, grant)
            case ["episodes", id]:
                return self._episode(call, id, grant)
            case ["search"]:
                return self._search(call, grant)
        raise Refusal(404, "Service not found")

    def _check_faults(self) -> None:
        faults = self._state.faults["spotify"]
        if faults.quota:
            raise Refusal(429, "Too many requests", reason="QUOTA_EXCEEDED", retry_after=_HOURS)
        if faults.rate_limit:
            raise Refusal(429, "API rate limit exceeded", retry_after=faults.rate_limit)

    def _check_caller(self, call: Call) -> Grant:
        if "authorization" not in call.headers:
            raise Refusal(401, "No token provided")
        grant, expired = self._grants.find(call.bearer)
        if expired:
            raise Refusal(401, "The access token expired")
        if not grant:
            raise Refusal(401, "Invalid access token")
        return grant

    def _saved(self, call: Call, grant: Grant) -> Any:
        if "user-library-read" not in grant.scope.split():
            raise Refusal(403, "Insufficient client scope")
        saved = [self._simplified(show) for show in SHOWS if show.id in SAVED]
        items = [{"added_at": "2025-03-02T08:15:00Z", "show": show} for show in saved]
        return self._page(call, f"{self._base()}/v1/me/shows", items)

    def _show(self, call: Call, id: str, grant: Grant) -> Any:
        show = self._known(call, id)
        url, items = f"{self._base()}/v1/shows/{id}/episodes", self._listed(id, grant)
        first = objects.paging(url, items, 50, 0, self._shown(50))
        return self._simplified(show) | {"episodes": first}

    def _episodes(self, call: Call, id: str, grant: Grant) -> Any:
        self._known(call, id)
        return self._page(call, f"{self._base()}/v1/shows/{id}/episodes", self._listed(id, grant))

    def _known(self, call: Call, id: str) -> Any:
        return _found(call, id, self._library.show)

    def _episode(self, call: Call, id: str, grant: Grant) -> Any:
        """One episode tells its show too. What is not for the market of the caller does not exist."""
        episode = _found(call, id, self._library.episode)
        if episode.hidden:
            raise Refusal(404, "non existing id")
        told = objects.simplified_episode(episode, self._base(), _tells_position(grant))
        return told | {"show": self._simplified(self._library.show(episode.show_id))}

    def _listed(self, show_id: str, grant: Grant) -> list[Any]:
        """What may not be heard in the market of the caller has its place in the list, and nothing in it."""
        return [
            None if episode.hidden else objects.simplified_episode(episode, self._base(), _tells_position(grant))
            for episode in self._library.episodes(show_id)
        ]

    def _search(self, call: Call, grant: Grant) -> Any:
        words, kinds = call.one("q").casefold().split(), call.many("type")
        if not words:
            raise Refusal(400, "No search query")
        if not kinds:
            raise Refusal(400, "Missing parameter type")
        if set(kinds) - set(_TYPES):
            raise Refusal(400, "Bad search type field")
        _check_market(call)
        query = {"query": call.one("q"), "type": ",".join(kinds)}
        return {
            f"{kind}s": self._page(
                call, f"{self._base()}/v1/search", self._matching(kind, words, grant), 5, 10, **query
            )
            for kind in kinds
        }

    def _matching(self, kind: str, words: list[str], grant: Grant) -> list[Any]:
        if kind == "show":
            return [self._simplified(show) for show in SHOWS if _matches(words, show.name, show.description)]
        if kind == "episode":
            listed = [episode for show in SHOWS for episode in self._listed(show.id, grant)]
            return [episode for episode in listed if episode and _matches(words, episode["name"])]
        return []

    def _simplified(self, show: Any) -> Any:
        return objects.simplified_show(show, len(self._library.episodes(show.id)), self._base())

    def _page(self, call: Call, url: str, items: list[Any], usual: int = 20, most: int = 50, **query: str) -> Any:
        limit = _number(call, "limit", usual, 1, most)
        offset = _number(call, "offset", 0, 0, 1_000 if "query" in query else 10**9)
        if market := call.one("market"):
            query["market"] = market
        return objects.paging(url, items, limit, offset, self._shown(limit), **query)

    def _shown(self, limit: int) -> int:
        return min(limit, self._state.faults["spotify"].short_pages or limit)


def _matches(words: list[str], *texts: str) -> bool:
    text = " ".join(texts).casefold()
    return all(word in text for word in words)


def _found(call: Call, id: str, find: Callable[[str], Any]) -> Any:
    _check_market(call)
    if not _ID.match(id):
        raise Refusal(400, "Invalid base62 id")
    try:
        return find(id)
    except Unknown:
        raise Refusal(404, "non existing id") from None


def _tells_position(grant: Grant) -> bool:
    return "user-read-playback-position" in grant.scope.split()


def _check_market(call: Call) -> None:
    if "market" in call.query and not _MARKET.match(call.one("market")):
        raise Refusal(400, "Invalid market code")


def _number(call: Call, name: str, default: int, least: int, most: int) -> int:
    text = call.one(name, str(default))
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise Refusal(400, f"Invalid {name}")
    return int(text)
