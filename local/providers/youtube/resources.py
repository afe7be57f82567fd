"""The resources of the YouTube Data API v3: each with the parts that were asked for, and no others."""

import base64
import hashlib
import html
import json
from typing import Any

from local.providers.catalogue import ACCOUNT
from local.providers.model import Channel, Video, instant

Resource = dict[str, Any]

_VIDEO_SIZES = {
    "default": (120, 90),
    "medium": (320, 180),
    "high": (480, 360),
    "standard": (640, 480),
    "maxres": (1280, 720),
}
_CHANNEL_SIZES = {"default": 88, "medium": 240, "high": 800}
_SUBSCRIBED_AT = "2023-04-16T17:54:07.230507Z"


def etag(value: Any) -> str:
    digest = hashlib.sha1(json.dumps(value, sort_keys=True).encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _resource(kind: str, id: Any, parts: Resource, wanted: list[str]) -> Resource:
    named = {name: value for name, value in parts.items() if name in wanted}
    return {"kind": f"youtube#{kind}", "etag": etag([id, named]), "id": id, **named}


def video_thumbnails(video: Video, base: str) -> Resource:
    return {
        name: {"url": f"{base}/vi/{video.id}/{width}x{height}.png", "width": width, "height": height}
        for name, (width, height) in _VIDEO_SIZES.items()
    }


def channel_thumbnails(channel: Channel, base: str, sized: bool = True) -> Resource:
    """Those in subscriptions and search results do not tell their size."""
    found: Resource = {}
    for name, size in _CHANNEL_SIZES.items():
        found[name] = {"url": f"{base}/vi/{channel.id}/{size}x{size}.png"}
        found[name] |= {"width": size, "height": size} if sized else {}
    return found


def channel_resource(channel: Channel, videos: list[Video], wanted: list[str], base: str) -> Resource:
    public = [video for video in videos if video.is_public]
    words = {"title": channel.title, "description": channel.description}
    parts = {
        "snippet": {
            **words,
            "customUrl": channel.handle,
            "publishedAt": instant(channel.created),
            "thumbnails": channel_thumbnails(channel, base),
            "localized": words,
            "country": "GB",
        },
        "contentDetails": {"relatedPlaylists": {"likes": "", "uploads": channel.uploads}},
        "statistics": {
            "viewCount": str(channel.subscribers * 37),
            "subscriberCount": str(channel.subscribers),
            "hiddenSubscriberCount": False,
            "videoCount": str(len(public)),
        },
        "status": {
            "privacyStatus": "public",
            "isLinked": True,
            "longUploadsStatus": "longUploadsUnspecified",
            "madeForKids": False,
        },
    }
    return _resource("channel", channel.id, parts, wanted)


def playlist_item(
    video: Video, owner: Channel, playlist: str, position: int, wanted: list[str], base: str
) -> Resource:
    identity = base64.urlsafe_b64encode(f"{playlist}.{etag(video.id)[:16]}".encode()).decode().rstrip("=")
    shown = video.is_public
    deleted = video.state == "deleted"
    snippet: Resource = {
        "publishedAt": instant(video.public_since if shown else video.uploaded),
        "channelId": owner.id,
        "title": video.title if shown else "Deleted video" if deleted else "Private video",
        "description": video.description if shown else f"This video is {'unavailable' if deleted else 'private'}.",
        "thumbnails": video_thumbnails(video, base) if shown else {},
        "channelTitle": owner.title,
        "playlistId": playlist,
        "position": position,
        "resourceId": {"kind": "youtube#video", "videoId": video.id},
    }
    details: Resource = {"videoId": video.id}
    if shown:
        snippet |= {"videoOwnerChannelTitle": owner.title, "videoOwnerChannelId": owner.id}
        details["videoPublishedAt"] = instant(video.public_since)
    # A value of no enum: so the real one answers about what was deleted.
    privacy = "public" if shown else "privacyStatusUnspecified" if deleted else "private"
    parts = {"snippet": snippet, "contentDetails": details, "status": {"privacyStatus": privacy}}
    return _resource("playlistItem", identity, parts, wanted)


def video_resource(video: Video, owner: Channel, wanted: list[str], base: str) -> Resource:
    upcoming = video.state == "premiere"
    parts = {
        "snippet": _video_snippet(video, owner, base),
        "contentDetails": {
            "duration": "P0D" if upcoming else iso_duration(video.seconds),
            "dimension": "2d",
            "definition": "hd",
            "caption": "false",
            "licensedContent": False,
            "contentRating": {},
            "projection": "rectangular",
        },
        "status": {
            "uploadStatus": "uploaded" if upcoming else "processed",
            "privacyStatus": "public",
            "license": "youtube",
            "embeddable": True,
            "publicStatsViewable": True,
            "madeForKids": False,
        },
        "statistics": {"viewCount": "0", "likeCount": "0", "favoriteCount": "0", "commentCount": "0"},
    }
    started = {"liveStreamingDetails": {"scheduledStartTime": instant(video.published)}} if upcoming else {}
    return _resource("video", video.id, parts | started, wanted)


def _video_snippet(video: Video, owner: Channel, base: str) -> Resource:
    words = {"title": video.title, "description": video.description}
    return {
        "publishedAt": instant(video.public_since),
        "channelId": owner.id,
        **words,
        "thumbnails": video_thumbnails(video, base),
        "channelTitle": owner.title,
        "categoryId": "26",
        "liveBroadcastContent": "upcoming" if video.state == "premiere" else "none",
        "localized": words,
        "defaultAudioLanguage": "en",
    }


def iso_duration(seconds: int) -> str:
    hours, rest = divmod(seconds, 3_600)
    minutes, seconds = divmod(rest, 60)
    return "PT" + "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M"), (seconds, "S")) if n)


def subscription(channel: Channel, videos: int, wanted: list[str], base: str) -> Resource:
    parts = {
        "snippet": {
            "publishedAt": _SUBSCRIBED_AT,
            "title": channel.title,
            "description": channel.description,
            "resourceId": {"kind": "youtube#channel", "channelId": channel.id},
            "channelId": ACCOUNT.id,
            "thumbnails": channel_thumbnails(channel, base, sized=False),
        },
        "contentDetails": {"totalItemCount": videos, "newItemCount": 0, "activityType": "all"},
    }
    return _resource("subscription", etag(channel.id), parts, wanted)


def channel_result(channel: Channel, wanted: list[str], base: str) -> Resource:
    snippet = {
        "publishedAt": instant(channel.created),
        "channelId": channel.id,
        "title": _escaped(channel.title),
        "description": channel.description,
        "thumbnails": channel_thumbnails(channel, base, sized=False),
        "channelTitle": channel.title,
        "liveBroadcastContent": "none",
        "publishTime": instant(channel.created),
    }
    return _resource(
        "searchResult", {"kind": "youtube#channel", "channelId": channel.id}, {"snippet": snippet}, wanted
    )


def video_result(video: Video, owner: Channel, wanted: list[str], base: str) -> Resource:
    small = {name: value for name, value in video_thumbnails(video, base).items() if name in _CHANNEL_SIZES}
    snippet = {
        "publishedAt": instant(video.public_since),
        "channelId": owner.id,
        "title": _escaped(video.title),
        "description": video.description[:160],
        "thumbnails": small,
        "channelTitle": owner.title,
        "liveBroadcastContent": "upcoming" if video.state == "premiere" else "none",
        "publishTime": instant(video.public_since),
    }
    return _resource("searchResult", {"kind": "youtube#video", "videoId": video.id}, {"snippet": snippet}, wanted)


def _escaped(title: str) -> str:
    """Only the search answers with HTML where others have plain text."""
    return html.escape(title).replace("&#x27;", "&#39;")
