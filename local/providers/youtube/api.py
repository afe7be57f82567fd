"""The YouTube Data API v3, as far as Gna asks it: five lists, with their quota, keys and pages."""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from local.gateway.gateway import Answer
from local.providers.catalogue import ACCOUNT, CHANNELS, SUBSCRIBED
from local.providers.credentials import YOUTUBE
from local.providers.grants import Grants
from local.providers.library import Library, Unknown
from local.providers.model import Channel, Video
from local.providers.state import Grant, State
from local.providers.wire import Call, json_answer
from local.providers.youtube import errors, resources
from local.providers.youtube.resources import Resource

_SCOPES = {f"https://www.googleapis.com/auth/{name}" for name in ("youtube", "youtube.readonly", "youtube.force-ssl")}
_PARTS = {
    "channels": {"id", "snippet", "contentDetails", "statistics", "status"},
    "subscriptions": {"id", "snippet", "contentDetails"},
    "playlistItems": {"id", "snippet", "contentDetails", "status"},
    "videos": {"id", "snippet", "contentDetails", "status", "statistics", "liveStreamingDetails"},
    "search": {"id", "snippet"},
}
_PLAYLIST = re.compile(r"(UULF|UUSH|UU)([A-Za-z0-9_-]{22})\Z")
_MOST = 50


class Api:
    def __init__(self, state: State, library: Library, grants: Grants, base: Callable[[], str]) -> None:
        self._state, self._library, self._grants, self._base = state, library, grants, base

    def handle(self, call: Call, name: str) -> Answer:
        """Every call costs, also one that is refused; the server has counted it."""
        try:
            self._check_faults(name)
            grant = self._check_caller(call)
            lists = {
                "channels": self._channels,
                "subscriptions": self._subscriptions,
                "playlistItems": self._playlist_items,
                "videos": self._videos,
                "search": self._search,
            }
            if call.method != "GET" or name not in lists:
                raise errors.no_method()
            answer = lists[name](call, self._wanted(call, name), grant)
        except errors.Refusal as refusal:
            return refusal.answer
        if call.headers.get("if-none-match", "").strip('"') == answer["etag"]:
            return Answer(304, [("ETag", f'"{answer["etag"]}"')], b"")
        return json_answer(answer, 200, ("ETag", f'"{answer["etag"]}"'))

    def _check_faults(self, name: str) -> None:
        faults = self._state.faults["youtube"]
        if faults.rate_limit:
            raise errors.rate_limited(faults.rate_limit)
        if faults.quota and name != "search":
            raise errors.quota_exceeded()
        if (faults.quota or faults.search_quota) and name == "search":
            raise errors.searches_exceeded()

    def _check_caller(self, call: Call) -> Grant | None:
        """By a token, or else by the key."""
        if "authorization" in call.headers:
            grant, expired = self._grants.find(call.bearer)
            if not grant or expired:
                raise errors.bad_token()
            if not _SCOPES & set(grant.scope.split()):
                raise errors.insufficient_scope()
            return grant
        key = call.one("key") or call.headers.get("x-goog-api-key", "")
        if not key:
            raise errors.nobody()
        if key != YOUTUBE["YOUTUBE_API_KEY"]:
            raise errors.bad_key()
        return None

    def _wanted(self, call: Call, name: str) -> list[str]:
        parts = [part.strip() for part in call.many("part")]
        if not parts:
            raise errors.no_part()
        for part in parts:
            if part not in _PARTS[name]:
                raise errors.unknown_part(part)
        return parts

    # The lists

    def _channels(self, call: Call, wanted: list[str], grant: Grant | None) -> Resource:
        found: list[Channel]
        if ids := call.many("id"):
            self._check_count(ids)
            found = [channel for channel in (*CHANNELS, ACCOUNT) if channel.id in ids]
        elif handle := call.one("forHandle"):
            found = self._found(handle.lower().removeprefix("@"))
        elif call.one("mine") == "true":
            self._check_own(grant)
            found = [ACCOUNT]
        elif "forUsername" in call.query:
            found = []
        else:
            raise errors.no_filter(("categoryId", "forHandle", "forUsername", "id", "managedByMe", "mine"))
        items = [
            resources.channel_resource(channel, self._library.uploads(channel.id), wanted, self._base())
            for channel in found
        ]
        answer = self._page(call, "channelListResponse", items)
        if not items:
            del answer["items"]  # the real one leaves them out when there is no match
        return answer

    def _found(self, handle: str) -> list[Channel]:
        try:
            return [self._library.channel(f"@{handle}")]
        except Unknown:
            return []

    def _subscriptions(self, call: Call, wanted: list[str], grant: Grant | None) -> Resource:
        if call.one("mine") != "true":
            raise errors.no_filter(("channelId", "id", "mine", "myRecentSubscribers", "mySubscribers"))
        self._check_own(grant)
        mine = [channel for channel in CHANNELS if channel.id in SUBSCRIBED]
        if call.one("order") == "alphabetical":
            mine.sort(key=lambda channel: channel.title.casefold())
        items = [
            resources.subscription(channel, len(self._library.uploads(channel.id)), wanted, self._base())
            for channel in mine
        ]
        return self._page(call, "SubscriptionListResponse", items)  # a capital, unlike the others

    def _playlist_items(self, call: Call, wanted: list[str], grant: Grant | None) -> Resource:
        playlist = call.one("playlistId")
        if not playlist:
            raise errors.no_filter(("id", "playlistId"))
        owner, videos = self._playlist(playlist)
        items = [
            resources.playlist_item(video, owner, playlist, position, wanted, self._base())
            for position, video in enumerate(videos)
        ]
        return self._page(call, "playlistItemListResponse", items)

    def _playlist(self, playlist: str) -> tuple[Channel, list[Video]]:
        """UU… has all uploads, UULF… the long videos, UUSH… the shorts. An empty one does not exist."""
        match = _PLAYLIST.match(playlist)
        try:
            owner = self._library.channel("UC" + match[2]) if match else None
        except Unknown:
            owner = None
        if not owner or not match:
            raise errors.no_playlist()
        videos = self._library.uploads(owner.id)
        if match[1] != "UU":
            videos = [video for video in videos if video.short is (match[1] == "UUSH")]
        if not videos:
            raise errors.no_playlist()
        return owner, videos

    def _videos(self, call: Call, wanted: list[str], grant: Grant | None) -> Resource:
        ids = call.many("id")
        if not ids:
            raise errors.no_filter(("chart", "id", "myRating"))
        self._check_count(ids)
        known = self._state.videos
        found = [known[id] for id in dict.fromkeys(ids) if id in known and known[id].is_public]
        items = [
            resources.video_resource(video, self._library.channel(video.channel_id), wanted, self._base())
            for video in found
        ]
        answer = {"kind": "youtube#videoListResponse", "etag": resources.etag(items), "items": items}
        return answer | {"pageInfo": {"totalResults": len(items), "resultsPerPage": len(items)}}

    def _search(self, call: Call, wanted: list[str], grant: Grant | None) -> Resource:
        kinds = call.many("type") or ["video", "channel", "playlist"]
        if set(kinds) - {"video", "channel", "playlist"}:
            raise errors.bad_value("type")
        words, within = call.one("q").casefold().split(), call.one("channelId")
        channels = [channel for channel in CHANNELS if within in ("", channel.id)]
        items: list[Resource] = []
        if "channel" in kinds:
            named = [channel for channel in channels if _matches(words, channel.title, channel.handle)]
            items += [resources.channel_result(channel, wanted, self._base()) for channel in named]
        if "video" in kinds:
            for channel in channels:
                named_videos = [
                    video
                    for video in self._library.uploads(channel.id)
                    if video.is_public and _matches(words, video.title)
                ]
                items += [resources.video_result(video, channel, wanted, self._base()) for video in named_videos]
        return self._page(call, "searchListResponse", items) | {"regionCode": "GB"}

    # What the lists share

    def _check_own(self, grant: Grant | None) -> None:
        if not grant:
            raise errors.not_authorized("mine")

    def _check_count(self, ids: list[str]) -> None:
        if len(ids) > _MOST:
            raise errors.bad_value("id", "invalidFilters")

    def _page(self, call: Call, kind: str, items: list[Resource]) -> Resource:
        size, start = _page_size(call), _offset(call.one("pageToken"))
        shown = min(size, self._state.faults["youtube"].short_pages or size)
        page = items[start : start + shown]
        answer: dict[str, Any] = {"kind": f"youtube#{kind}", "etag": resources.etag([kind, start, page])}
        if start + shown < len(items):
            answer["nextPageToken"] = _token(start + shown)
        if start:
            answer["prevPageToken"] = _token(max(0, start - shown))
        answer["pageInfo"] = {"totalResults": len(items), "resultsPerPage": size}
        return answer | {"items": page}


def _matches(words: list[str], *texts: str) -> bool:
    text = " ".join(texts).casefold()
    return all(word in text for word in words)


def _page_size(call: Call) -> int:
    text = call.one("maxResults", "5")
    if not (text.isascii() and text.isdigit() and 0 <= int(text) <= _MOST):
        raise errors.bad_value("maxResults")
    return int(text) or 5


def _token(offset: int) -> str:
    return base64.urlsafe_b64encode(f"PT:{offset}".encode()).decode().rstrip("=")


def _offset(token: str) -> int:
    if not token:
        return 0
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
        prefix, _, number = text.partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise errors.bad_page_token() from None
    if prefix != "PT" or not number.isdigit():
        raise errors.bad_page_token()
    return int(number)
