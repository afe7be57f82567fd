"""What a URL of YouTube names: a channel by id, handle, old user name or page, or a video, whose channel is meant."""

import re
from urllib.parse import parse_qs, unquote, urlsplit

from chalicelib.following.providers import hosts
from chalicelib.following.providers.contract import Reference
from chalicelib.inbox.model import Provider

ID, HANDLE, USERNAME, PAGE, VIDEO = "id", "handle", "username", "page", "video"

CHANNEL_ID = re.compile(r"UC[A-Za-z0-9_-]{22}\Z")
VIDEO_ID = re.compile(r"[A-Za-z0-9_-]{11}\Z")
# Handles may be of any script.
_NAME = re.compile(r"[\w.·-]{1,100}\Z")
_HOSTS = {"youtube.com", "youtube-nocookie.com"}
_SHORT_HOST = "youtu.be"
_FEEDS = ("feeds/videos.xml", "xml/feeds/videos.xml")
_VIDEO_PATHS = ("shorts", "live", "embed", "v")
# First parts of paths that are no channel's name.
_RESERVED = {
    *("about", "account", "c", "feed", "feeds", "gaming", "hashtag", "post", "playlist", "premium", "results")
}
_RESERVED |= {"user", "channel", "xml", "watch", "redirect", "signin", "t", *_VIDEO_PATHS}


def recognise(text: str) -> Reference | None:
    if text.startswith("@"):
        return _name(HANDLE, text[1:])
    if CHANNEL_ID.match(text):
        return _reference(ID, text)
    try:
        parts = urlsplit(hosts.youtube_original(text))
        host, query = (parts.hostname or "").lower(), parse_qs(parts.query, max_num_fields=50)
    except ValueError:
        return None
    path = [unquote(part) for part in parts.path.split("/") if part]
    if parts.scheme not in ("http", "https"):
        return None
    if host == _SHORT_HOST:
        return _video(path[0] if path else "")
    return _site(path, query) if host in _HOSTS or host.partition(".")[2] in _HOSTS else None


def _site(path: list[str], query: dict[str, list[str]]) -> Reference | None:
    first, second = (*path, "", "")[:2]
    if "/".join(path) in _FEEDS:
        return _channel(query.get("channel_id", [""])[0])
    if first == "watch":
        return _video(query.get("v", [""])[0])
    if first in _VIDEO_PATHS:
        return _video(second)
    if first == "channel":
        return _channel(second)
    if first.startswith("@"):
        return _name(HANDLE, first[1:])
    if first == "user":
        return _name(USERNAME, second)
    if first == "c":
        return _name(PAGE, second, "c/")
    return _name(PAGE, first) if len(path) == 1 and first not in _RESERVED else None


def _channel(text: str) -> Reference | None:
    return _reference(ID, text) if CHANNEL_ID.match(text) else None


def _video(text: str) -> Reference | None:
    return _reference(VIDEO, text) if VIDEO_ID.match(text) else None


def _name(kind: str, text: str, before: str = "") -> Reference | None:
    return _reference(kind, before + text) if _NAME.match(text) else None


def _reference(kind: str, value: str) -> Reference:
    return Reference(Provider.YOUTUBE, kind, value)
