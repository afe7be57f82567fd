"""Spotify: podcasts, called shows, and their episodes. Always with somebody's connection, and for one market, because
without it Spotify answers with what is available nowhere.

Neither the publisher nor the list of markets is read: apps in development mode do not get them. Nor do they get
several episodes at once.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from urllib.parse import parse_qs, unquote, urlsplit

from chalicelib.following.providers import api, hosts
from chalicelib.following.providers.api import Reply
from chalicelib.following.providers.contract import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    Access,
    Channel,
    Down,
    Forbidden,
    Found,
    Known,
    Page,
    ProviderFailed,
    QuotaExceeded,
    Reference,
    Source,
    Throttled,
    Unauthorised,
    Unknown,
    unique,
)
from chalicelib.following.providers.fields import Fields
from chalicelib.inbox.model import LONGEST_EXCERPT, LONGEST_TITLE, ContentType, Provider
from chalicelib.kernel import clock, settings
from chalicelib.kernel.errors import Invalid

_NAME = "Spotify"
_ID = re.compile(r"[A-Za-z0-9]{22}\Z")
_LANGUAGE = re.compile(r"intl-[a-z-]{2,10}\Z", re.IGNORECASE)
_SHOW, _EPISODE = "id", "episode"
_KINDS = {"show": _SHOW, "episode": _EPISODE}
_PAGE_SIZE, _SEARCH_PAGE_SIZE = 50, 10
_MOST_PAGES, _MOST_FOUND = 20, 50
_SHORTEST_WAIT = 60
_DATE_LENGTHS = (len("2026-11-16"), len("2026-11"), len("2026"))
_EARLIEST_YEAR = 1970


class Spotify:
    provider = Provider.SPOTIFY
    # It answers about a hundred requests in thirty seconds.
    polls_per_second = 2
    is_anybodys = False

    def check_id(self, text: str) -> str:
        if not _ID.match(text):
            raise Invalid("Invalid Spotify show ID format. Expected 22 alphanumeric characters")
        return text

    def recognise(self, url: str) -> Reference | None:
        if url.startswith("spotify:"):
            return _reference(*(*url.split(":"), "", "")[1:3])
        try:
            parts = urlsplit(hosts.spotify_original(url))
            host = (parts.hostname or "").lower()
        except ValueError:
            return None
        if host not in ("open.spotify.com", "play.spotify.com") or parts.scheme not in ("http", "https"):
            return None
        path = [unquote(part) for part in parts.path.split("/") if part]
        path = path[1:] if path and (_LANGUAGE.match(path[0]) or path[0] == "embed") else path
        return _reference(*(*path, "", "")[:2])

    def resolve(self, reference: Reference, access: Access) -> Channel:
        """An episode stands for its show."""
        if reference.kind == _SHOW:
            return _channel(_read_show(reference.value, access))
        episode = _read_one(f"episodes/{reference.value}", access)
        return _channel(_read_show(episode.inside("show").word("id"), access))

    def latest(self, known: Known, access: Access) -> Page:
        show = _read_show(known.channel_id, access)
        first = show.inside("episodes")
        total = first.number("total")
        total = show.number("total_episodes") if total is None else total
        listed = _read_newest(known.channel_id, first.each("items"), total or 0, access)
        episodes = unique(found for item in listed if (found := _episode(item)))
        return Page(episodes, (total or 0) > len(listed), total, _channel(show))

    def complete(
        self, known: Known, found: Sequence[Found], access: Access, tell_shorts: bool = False
    ) -> tuple[Found, ...]:
        """Spotify's pages tell everything already."""
        return tuple(found)

    def refresh(self, item_ids: Sequence[str], access: Access) -> dict[str, Found]:
        """One request for each: several at once are not for apps in development mode."""
        found: dict[str, Found] = {}
        for item_id in [one for one in dict.fromkeys(item_ids) if _ID.match(one)][:_PAGE_SIZE]:
            try:
                episode = _episode(_read_one(f"episodes/{item_id}", access))
            except Unknown:
                continue
            if episode:
                found[item_id] = episode
        return found

    def mine(self, access: Access) -> list[Channel]:
        found: dict[str, Channel] = {}
        offset = 0
        for _ in range(_MOST_PAGES):
            page = _read("me/shows", access, limit=_PAGE_SIZE, offset=offset)
            found |= _channels([item.inside("show") for item in page.each("items")])
            if not page.word("next"):
                break
            offset = _next_offset(page, offset, _PAGE_SIZE)
        return list(found.values())

    def search(self, words: str, limit: int, access: Access) -> list[Channel]:
        """Ten at a time: Spotify refuses to answer with more."""
        found: dict[str, Channel] = {}
        wanted = min(limit, _MOST_FOUND)
        offset, size = 0, _SEARCH_PAGE_SIZE
        for _ in range(0, wanted, size):
            page = _read("search", access, q=words, type="show", limit=size, offset=offset).inside("shows")
            found |= _channels(page.each("items"))
            if len(found) >= wanted or not page.word("next"):
                break
            offset = _next_offset(page, offset, size)
        return list(found.values())[:wanted]


SOURCE: Source = Spotify()


def find_account_id(access: Access) -> str:
    return _read("me", access).word("id")


def _reference(what: str, value: str) -> Reference | None:
    return Reference(Provider.SPOTIFY, _KINDS[what], value) if what in _KINDS and _ID.match(value) else None


def _read_show(show_id: str, access: Access) -> Fields:
    """With its first 50 episodes."""
    if not _ID.match(show_id):
        raise Unknown("There is no such show on Spotify")
    return _read_one(f"shows/{show_id}", access)


def _read_one(path: str, access: Access) -> Fields:
    """A show or an episode. An answer that is neither is no word about it."""
    found = _read(path, access)
    if not _ID.match(found.word("id")):
        raise Down("Spotify answered something unreadable")
    return found


def _read_newest(show_id: str, first: list[Fields], total: int, access: Access) -> list[Fields]:
    """A show may list its oldest episodes first; then the newest are on the last page."""
    dates = [date for item in first if (date := _released(item))]
    if total <= len(first) or not dates or dates[0] >= dates[-1]:
        return first
    last = _read(f"shows/{show_id}/episodes", access, limit=_PAGE_SIZE, offset=max(0, total - _PAGE_SIZE))
    return last.each("items") or first


def _next_offset(page: Fields, offset: int, size: int) -> int:
    """Where the next page begins: a page that came short says so in its link."""
    named = parse_qs(urlsplit(page.word("next")).query).get("offset", [""])[0]
    begins = int(named) if named.isascii() and named.isdigit() and len(named) < 9 else 0
    return begins if offset < begins < offset + size else offset + size


def _read(path: str, access: Access, **parameters: str | int) -> Fields:
    if not access.token:
        raise Unauthorised("Spotify is not connected")
    query = {"market": settings.current().spotify_market} if path != "me" else {}
    query |= {name: str(value) for name, value in parameters.items()}
    reply = api.get(_NAME, hosts.spotify(f"{hosts.SPOTIFY_API}/{path}"), query, access.token)
    if reply.status != 200:
        raise _failure(reply)
    return reply.fields


def _failure(reply: Reply) -> ProviderFailed:
    """An id that cannot be one is 400. A 403 may be plain text, for somebody who is not among the app's users."""
    error = reply.fields.inside("error")
    if error.word("reason") == "QUOTA_EXCEEDED":
        return QuotaExceeded("Spotify's quota for this app is used up", retry_after=reply.retry_after)
    if reply.status == 429:
        return Throttled("Spotify is limiting our requests", max(reply.retry_after, _SHORTEST_WAIT))
    if reply.status == 401:
        return Unauthorised("Spotify does not accept the connection any more")
    if reply.status == 404 or (reply.status == 400 and "id" in error.text("message", 100).split()):
        return Unknown("Nothing on Spotify has this ID")
    if reply.status == 403:
        return Forbidden("Spotify refused the request: is this account among the app's users?")
    return Forbidden("Spotify refused the request")


def _channels(shows: list[Fields]) -> dict[str, Channel]:
    return {show.word("id"): _channel(show) for show in shows if _ID.match(show.word("id"))}


def _channel(show: Fields) -> Channel:
    show_id = show.word("id")
    return Channel(
        channel_id=show_id,
        name=show.text("name", LONGEST_NAME) or show_id,
        description=show.text("description", LONGEST_DESCRIPTION),
        image_url=_widest_image(show),
        external_url=show.inside("external_urls").url("spotify") or f"{hosts.SPOTIFY_SITE}/show/{show_id}",
        total_items=show.number("total_episodes"),
    )


def _episode(item: Fields) -> Found | None:
    """Nothing for one that is dated after today: it is announced, not published."""
    episode_id, released = item.word("id"), _released(item)
    if not _ID.match(episode_id) or (released and released > clock.now()):
        return None
    milliseconds = item.number("duration_ms")
    return Found(
        id=episode_id,
        title=item.text("name", LONGEST_TITLE) or episode_id,
        url=item.inside("external_urls").url("spotify") or f"{hosts.SPOTIFY_SITE}/episode/{episode_id}",
        content_type=ContentType.PODCAST,
        published_at=released,
        excerpt=item.text("description", LONGEST_EXCERPT),
        image=_widest_image(item),
        duration_seconds=milliseconds // 1000 if milliseconds else None,
    )


def _released(item: Fields) -> datetime | None:
    """The start of the day, the month or the year, whichever is known."""
    text = item.word("release_date")[:10]
    try:
        found = date.fromisoformat((text + "-01-01")[:10]) if len(text) in _DATE_LENGTHS else None
    except ValueError:
        return None
    return (
        datetime(found.year, found.month, found.day, tzinfo=UTC) if found and found.year >= _EARLIEST_YEAR else None
    )


def _widest_image(item: Fields) -> str:
    """They come widest first."""
    return next((url for image in item.each("images") if (url := image.url("url"))), "")
