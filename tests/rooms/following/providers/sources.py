"""What the contract test needs to know of each provider: its hosts' answers, and what to ask it for."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from chalicelib.inbox.model import Provider
from tests.rooms.following.providers.web import Asked, Web, recorded

CHANNEL = "UC4QobU6STFB0P71PMvOGN5A"
SHOW = "38bS44xjbVVZ3No3ByF1dJ"
FEED = "https://blog.example.org/feed.xml"

API = "www.googleapis.com/youtube/v3"
SPOTIFY = "api.spotify.com/v1"

PODCAST = b"""<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
  xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>Talks &amp; Walks</title><link>https://blog.example.org/</link>
<description>Weekly &lt;b&gt;talks&lt;/b&gt;</description>
<itunes:image href="https://blog.example.org/cover.jpg"/><atom:link rel="hub" href="https://hub.example.org/"/>
<item><title>In 2100</title><guid>e-9</guid><pubDate>Fri, 01 Jan 2100 00:00:00 +0000</pubDate></item>
<item><title>Third &amp; last</title><guid>e-3</guid><pubDate>Tue, 10 Nov 2026 08:00:00 +0000</pubDate>
<description>&lt;p&gt;All about &lt;em&gt;bridges&lt;/em&gt;.&lt;/p&gt;&lt;img src="/b.jpg"&gt;</description>
<enclosure url="https://cdn.example.org/3.mp3" type="audio/mpeg" length="9"/>
<itunes:duration>1:02:03</itunes:duration></item>
<item><title>Read this</title><guid>e-2</guid><link>/posts/2</link>
<pubDate>Mon, 09 Nov 2026 08:00:00 +0000</pubDate></item>
</channel></rss>"""


@dataclass(frozen=True)
class Case:
    """`junk` has texts that are none of its ids; `answers` may be spoilt one by one."""

    provider: Provider
    channel_id: str
    junk: tuple[str, ...]
    answers: dict[str, Any]

    def serve(self, web: Web) -> None:
        web.answers.update(self.answers)


def _playlist(asked: Asked) -> Any:
    return recorded("youtube/long" if asked.query["playlistId"].startswith("UULF") else "youtube/uploads")


YOUTUBE_CASE = Case(
    Provider.YOUTUBE,
    CHANNEL,
    ("", "UC", "UC" + "x" * 23, CHANNEL + "\n", "PL4QobU6STFB0P71PMvOGN5A", "UC4QobU6STFB0P71PMvOGN5é"),
    {
        f"{API}/channels": recorded("youtube/channels"),
        f"{API}/playlistItems": _playlist,
        f"{API}/videos": recorded("youtube/videos"),
        f"{API}/subscriptions": recorded("youtube/subscriptions_2"),
        f"{API}/search": recorded("youtube/search"),
    },
)
SPOTIFY_CASE = Case(
    Provider.SPOTIFY,
    SHOW,
    ("", SHOW[:-1], SHOW + "x", SHOW[:-1] + "-", SHOW + "\n", SHOW[:-1] + "é"),
    {
        f"{SPOTIFY}/shows/{SHOW}": recorded("spotify/show"),
        f"{SPOTIFY}/shows/{SHOW}/episodes": recorded("spotify/show")["episodes"],
        f"{SPOTIFY}/me/shows": recorded("spotify/saved_2"),
        f"{SPOTIFY}/search": recorded("spotify/search"),
        **{f"{SPOTIFY}/episodes/512ojhOuo1ktJprKbVc{n:03}": recorded("spotify/episode") for n in range(60)},
    },
)
RSS_CASE = Case(
    Provider.RSS,
    FEED,
    ("", "blog.example.org", "ftp://blog.example.org/", "https://", "javascript:alert(1)", "https://a@b.example/"),
    {FEED.removeprefix("https://"): (200, PODCAST)},
)
CASES = (YOUTUBE_CASE, SPOTIFY_CASE, RSS_CASE)


BAD: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1.5,
    "",
    "x" * 30_000,
    "\ud83c",
    "\n\x00\u2028",
    [],
    [None, [], 7],
    {},
    {"a": 1},
)


def spoilt(value: Any) -> Iterator[Any]:
    """The answer with each of its fields missing, null, of a wrong type or huge, one after the other."""
    yield from BAD
    for path in _paths(value):
        yield from (_with(value, path, bad) for bad in BAD)
        yield _without(value, path)


def _paths(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    if isinstance(value, list):
        inside = list(enumerate(value[:2]))  # the others have the same fields
    return [path for name, one in inside for path in ((*before, name), *_paths(one, (*before, name)))]


def _with(value: Any, path: tuple[Any, ...], bad: Any) -> Any:
    return _changed(value, path, lambda place, name: place.__setitem__(name, bad))


def _without(value: Any, path: tuple[Any, ...]) -> Any:
    return _changed(value, path, lambda place, name: place.__delitem__(name))


def _changed(value: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    copy = json.loads(json.dumps(value))
    place = copy
    for name in path[:-1]:
        place = place[name]
    change(place, path[-1])
    return copy
