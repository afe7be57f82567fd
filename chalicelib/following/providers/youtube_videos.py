"""Videos as YouTube's API has them, in a playlist and by themselves.

A playlist tells neither how long a video is nor that it is only announced; `videos.list` does.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from chalicelib.following.providers import hosts, youtube_links
from chalicelib.following.providers.contract import Access, Found, Unknown, unique
from chalicelib.following.providers.fields import Fields
from chalicelib.following.providers.youtube_calls import read_list
from chalicelib.inbox.model import LONGEST_EXCERPT, LONGEST_TITLE, ContentType
from chalicelib.kernel import clock

PAGE_SIZE = 50
_MOST_PAGES = 3
_UPLOADS, _LONG = "UU", "UULF"
_HIDDEN_TITLES = ("Private video", "Deleted video")
_GONE = ("deleted", "failed", "rejected")
_SIZES = ("maxres", "standard", "high", "medium", "default")
_DURATION = re.compile(
    r"P(?:(\d{1,4})W)?(?:(\d{1,4})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,7})(?:\.\d+)?S)?)?\Z", re.ASCII
)
_SECONDS = (604_800, 86_400, 3_600, 60, 1)


class Uploads(Struct, frozen=True):
    videos: tuple[Found, ...] = ()
    has_older: bool = False
    total: int | None = None


class Video(Struct, frozen=True):
    """`is_live`: it is, was or will be a live stream."""

    found: Found
    is_upcoming: bool
    is_live: bool


def read_uploads(channel_id: str, access: Access) -> Uploads:
    """The latest 50 uploads. A page may come without a single public video and still not be the last."""
    token, total = "", None
    for _ in range(_MOST_PAGES):
        try:
            page = _read_playlist(_UPLOADS + channel_id[2:], access, "snippet,contentDetails,status", token)
        except Unknown:  # how YouTube answers for a channel that has uploaded nothing
            return Uploads()
        total, token = page.inside("pageInfo").number("totalResults"), page.word("nextPageToken")
        videos = unique(found for item in page.each("items") if (found := _uploaded(item)))
        if videos or not token:
            return Uploads(videos, bool(token), total)
    return Uploads((), True, total)


def read_long_ids(channel_id: str, access: Access) -> set[str]:
    """The latest of the channel's videos that are neither shorts nor live streams; YouTube keeps a list of them."""
    try:
        page = _read_playlist(_LONG + channel_id[2:], access, "contentDetails")
    except Unknown:
        return set()
    return {_video_id(item) for item in page.each("items")}


def read_videos(ids: Sequence[str], access: Access) -> dict[str, Video]:
    """At most 50, by id. What is deleted, private or never became a video is missing."""
    wanted = [one for one in dict.fromkeys(ids) if youtube_links.VIDEO_ID.match(one)][:PAGE_SIZE]
    if not wanted:
        return {}
    parts = "snippet,contentDetails,status,liveStreamingDetails"
    answer = read_list("videos", access, {"part": parts, "id": ",".join(wanted), "maxResults": str(PAGE_SIZE)})
    videos = [video for item in answer.each("items") if (video := _video(item))]
    return {video.found.id: video for video in videos if video.found.id in wanted}


def parse_duration(text: str) -> int | None:
    """Seconds of `PT4M13S` or `P1DT2H`. Nothing for `PT0S` and `P0D`: a live stream that goes on has no length."""
    found = _DURATION.match(text)
    parts = found.groups() if found else ()
    return sum(int(part or 0) * seconds for part, seconds in zip(parts, _SECONDS, strict=False)) or None


def best_thumbnail(snippet: Fields) -> str:
    thumbnails = snippet.inside("thumbnails")
    return next((url for size in _SIZES if (url := thumbnails.inside(size).url("url"))), "")


def _read_playlist(playlist_id: str, access: Access, parts: str, token: str = "") -> Fields:
    wanted = {"part": parts, "playlistId": playlist_id, "maxResults": str(PAGE_SIZE)}
    return read_list("playlistItems", access, wanted | ({"pageToken": token} if token else {}))


def _uploaded(item: Fields) -> Found | None:
    """Only what is public and published: the status of deleted ones is none of the documented, and the date of the
    snippet is that of the upload, not of the publication."""
    snippet, video_id = item.inside("snippet"), _video_id(item)
    published_at = item.inside("contentDetails").moment("videoPublishedAt")
    if item.inside("status").word("privacyStatus") != "public" or snippet.text("title", 100) in _HIDDEN_TITLES:
        return None
    if not video_id or not published_at or published_at > clock.now():
        return None
    return _found(video_id, snippet, published_at)


def _video_id(item: Fields) -> str:
    found = item.inside("contentDetails").word("videoId") or item.inside("snippet", "resourceId").word("videoId")
    return found if youtube_links.VIDEO_ID.match(found) else ""


def _video(item: Fields) -> Video | None:
    snippet, status, video_id = item.inside("snippet"), item.inside("status"), item.word("id")
    is_gone = status.word("privacyStatus") != "public" or status.word("uploadStatus") in _GONE
    if is_gone or not youtube_links.VIDEO_ID.match(video_id):
        return None
    broadcast, duration = snippet.word("liveBroadcastContent"), item.inside("contentDetails").word("duration")
    found = _found(video_id, snippet, snippet.moment("publishedAt"), parse_duration(duration))
    is_live = broadcast in ("live", "upcoming") or bool(item.inside("liveStreamingDetails"))
    return Video(found, broadcast == "upcoming", is_live)


def _found(video_id: str, snippet: Fields, published_at: datetime | None, duration: int | None = None) -> Found:
    return Found(
        id=video_id,
        title=snippet.text("title", LONGEST_TITLE) or video_id,
        url=f"{hosts.YOUTUBE_SITE}/watch?v={video_id}",
        content_type=ContentType.VIDEO,
        published_at=published_at,
        excerpt=snippet.text("description", LONGEST_EXCERPT),
        image=best_thumbnail(snippet),
        duration_seconds=duration,
    )
