"""YouTube: channels and their videos, through the Data API, with a key or somebody's connection."""

from collections.abc import Sequence
from urllib.parse import quote

from msgspec.structs import replace

from chalicelib.feeds.reading import pages
from chalicelib.following.providers import hosts, youtube_links
from chalicelib.following.providers.contract import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    Access,
    Channel,
    Down,
    Found,
    Known,
    Page,
    Reference,
    Source,
    Unauthorised,
    Unknown,
)
from chalicelib.following.providers.fields import Fields
from chalicelib.following.providers.youtube_calls import read_list
from chalicelib.following.providers.youtube_videos import (
    PAGE_SIZE,
    Video,
    best_thumbnail,
    read_long_ids,
    read_uploads,
    read_videos,
)
from chalicelib.inbox.model import Provider
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import Bounds, FetchFailed

_MOST_PAGES = 20
_LONGEST_SHORT = 180
_PAGE_BOUNDS = Bounds(seconds=8.0, largest=pages.LARGEST_PAGE, redirects=3)
_TOPIC = f"{hosts.YOUTUBE_SITE}/xml/feeds/videos.xml?channel_id="
_NO_CHANNEL = "There is no such channel on YouTube"


class YouTube:
    provider = Provider.YOUTUBE
    polls_per_second = 10
    is_anybodys = False

    def check_id(self, text: str) -> str:
        if not youtube_links.CHANNEL_ID.match(text):
            raise Invalid("Invalid YouTube channel ID format. Expected UC + 22 characters")
        return text

    def recognise(self, url: str) -> Reference | None:
        return youtube_links.recognise(url)

    def resolve(self, reference: Reference, access: Access) -> Channel:
        if reference.kind == youtube_links.HANDLE:
            return _only_channel({"forHandle": f"@{reference.value}"}, access)
        if reference.kind == youtube_links.USERNAME:
            return _only_channel({"forUsername": reference.value}, access)
        return _only_channel({"id": _channel_id(reference, access)}, access)

    def latest(self, known: Known, access: Access) -> Page:
        """Push is subscribed with YouTube's own topic, wherever we connect."""
        uploads = read_uploads(known.channel_id, access)
        return Page(
            items=uploads.videos,
            has_older=uploads.has_older,
            total_items=uploads.total,
            hub=hosts.youtube(hosts.YOUTUBE_HUB),
            topic=_TOPIC + known.channel_id,
        )

    def complete(
        self, known: Known, found: Sequence[Found], access: Access, tell_shorts: bool = False
    ) -> tuple[Found, ...]:
        videos = _read_all([one.id for one in found], access)
        published = [one for one in found if one.id in videos and not videos[one.id].is_upcoming]
        brief = {one.id for one in published if _is_brief(videos[one.id])}
        shorts = brief - read_long_ids(known.channel_id, access) if tell_shorts and brief else set()
        return tuple(
            replace(one, duration_seconds=videos[one.id].found.duration_seconds, is_short=one.id in shorts)
            for one in published
        )

    def refresh(self, item_ids: Sequence[str], access: Access) -> dict[str, Found]:
        return {video_id: video.found for video_id, video in read_videos(item_ids, access).items()}

    def mine(self, access: Access) -> list[Channel]:
        if not access.token:
            raise Unauthorised("YouTube is not connected")
        wanted = {"part": "snippet,contentDetails", "mine": "true", "maxResults": str(PAGE_SIZE)}
        found: dict[str, Channel] = {}
        token = ""
        for _ in range(_MOST_PAGES):
            page = read_list("subscriptions", access, wanted | ({"pageToken": token} if token else {}))
            channels = [channel for item in page.each("items") if (channel := _subscribed(item))]
            found |= {channel.channel_id: channel for channel in channels}
            token = page.word("nextPageToken")
            if not token:
                break
        return list(found.values())

    def search(self, words: str, limit: int, access: Access) -> list[Channel]:
        """What a search answers about a channel is escaped and has no numbers, so the channels are asked for."""
        wanted = {"part": "snippet", "type": "channel", "q": words, "maxResults": str(min(limit, PAGE_SIZE))}
        answer = read_list("search", access, wanted)
        ids = [_found_id(item) for item in answer.each("items")]
        ids = [one for one in dict.fromkeys(ids) if youtube_links.CHANNEL_ID.match(one)][:limit]
        if not ids:
            return []
        channels = {channel.channel_id: channel for channel in _read_channels({"id": ",".join(ids)}, access)}
        return [channels[one] for one in ids if one in channels]


SOURCE: Source = YouTube()


def find_own_channel_id(access: Access) -> str:
    """The id of the channel of whoever's token it is; not everybody has one."""
    answer = read_list("channels", access, {"part": "id", "mine": "true"})
    return next((one for item in answer.each("items") if (one := item.word("id"))), "")


def _channel_id(reference: Reference, access: Access) -> str:
    if reference.kind == youtube_links.VIDEO:
        answer = read_list("videos", access, {"part": "snippet", "id": reference.value})
        found = next((item.inside("snippet").word("channelId") for item in answer.each("items")), "")
    elif reference.kind == youtube_links.PAGE:
        found = _read_page(reference.value)
    else:
        found = reference.value
    if not youtube_links.CHANNEL_ID.match(found):
        raise Unknown(_NO_CHANNEL)
    return found


def _read_page(path: str) -> str:
    """The API knows no names of the kind `/c/name`; the page itself says which channel it is."""
    url = f"{hosts.YOUTUBE_SITE}/{quote(path)}"
    try:
        answer = client.get(hosts.youtube(url), {"Accept": "text/html"}, _PAGE_BOUNDS)
    except FetchFailed as failure:
        raise Down(f"YouTube cannot be reached: {failure.reason}") from failure
    if answer.status == 404:
        raise Unknown(_NO_CHANNEL)
    if answer.status != 200:
        raise Down(f"YouTube answered {answer.status}")
    for link in pages.find_links(answer.body, answer.headers.get("content-type", ""), url):
        named = youtube_links.recognise(link.url) if link.relations & {"canonical", "alternate"} else None
        if named and named.kind == youtube_links.ID:
            return named.value
    return ""


def _only_channel(wanted: dict[str, str], access: Access) -> Channel:
    """Whether a channel exists is decided here: where nothing matches, the answer has no `items` at all."""
    channels = _read_channels(wanted, access)
    if not channels:
        raise Unknown(_NO_CHANNEL)
    return channels[0]


def _read_channels(wanted: dict[str, str], access: Access) -> list[Channel]:
    answer = read_list("channels", access, {"part": "snippet,statistics", "maxResults": str(PAGE_SIZE)} | wanted)
    return [channel for item in answer.each("items") if (channel := _channel(item))]


def _channel(item: Fields) -> Channel | None:
    channel_id, snippet, statistics = item.word("id"), item.inside("snippet"), item.inside("statistics")
    if not youtube_links.CHANNEL_ID.match(channel_id):
        return None
    hidden = statistics.is_true("hiddenSubscriberCount")
    handle = snippet.text("customUrl", LONGEST_NAME)
    return replace(
        _described(channel_id, snippet),
        handle=handle if handle.startswith("@") else "",
        total_items=statistics.number("videoCount"),
        subscriber_count=None if hidden else statistics.number("subscriberCount"),
    )


def _subscribed(item: Fields) -> Channel | None:
    snippet = item.inside("snippet")
    channel_id = snippet.inside("resourceId").word("channelId")
    if not youtube_links.CHANNEL_ID.match(channel_id):
        return None
    return replace(
        _described(channel_id, snippet), total_items=item.inside("contentDetails").number("totalItemCount")
    )


def _described(channel_id: str, snippet: Fields) -> Channel:
    return Channel(
        channel_id=channel_id,
        name=snippet.text("title", LONGEST_NAME) or channel_id,
        description=snippet.text("description", LONGEST_DESCRIPTION),
        image_url=best_thumbnail(snippet),
        external_url=f"{hosts.YOUTUBE_SITE}/channel/{channel_id}",
    )


def _found_id(item: Fields) -> str:
    return item.inside("id").word("channelId") or item.inside("snippet").word("channelId")


def _read_all(ids: list[str], access: Access) -> dict[str, Video]:
    videos: dict[str, Video] = {}
    for start in range(0, len(ids), PAGE_SIZE):
        videos |= read_videos(ids[start : start + PAGE_SIZE], access)
    return videos


def _is_brief(video: Video) -> bool:
    """Whether it may be a short: not longer than they may be, and never a live stream."""
    seconds = video.found.duration_seconds
    return seconds is not None and seconds <= _LONGEST_SHORT and not video.is_live
