"""The objects of the Spotify Web API, as an app in development mode gets them: since 2026 without the publisher and
the markets of a show, and without the country, product and address of a person."""

from html import escape
from typing import Any
from urllib.parse import urlencode

from local.providers.catalogue import USER_ID, USER_NAME
from local.providers.model import Episode, Show

Object = dict[str, Any]

_SIZES = (640, 300, 64)
_WEB = "https://open.spotify.com"


def _images(id: str, base: str) -> list[Object]:
    return [{"url": f"{base}/image/{id}/{size}x{size}.png", "height": size, "width": size} for size in _SIZES]


def _identity(kind: str, id: str, base: str) -> Object:
    return {
        "external_urls": {"spotify": f"{_WEB}/{kind}/{id}"},
        "href": f"{base}/v1/{kind}s/{id}",
        "id": id,
        "type": kind,
        "uri": f"spotify:{kind}:{id}",
    }


def simplified_show(show: Show, episodes: int, base: str) -> Object:
    return {
        **_identity("show", show.id, base),
        "copyrights": [],
        "description": show.description,
        "html_description": f"<p>{escape(show.description)}</p>",
        "explicit": False,
        "images": _images(show.id, base),
        "is_externally_hosted": False,
        "languages": ["en-GB"],
        "media_type": "audio",
        "name": show.name,
        "total_episodes": episodes,
    }


def simplified_episode(episode: Episode, base: str, with_position: bool) -> Object:
    found = {
        **_identity("episode", episode.id, base),
        "audio_preview_url": None,
        "description": episode.description,
        "html_description": f"<p>{escape(episode.description)}</p>",
        "duration_ms": episode.seconds * 1_000,
        "explicit": False,
        "images": _images(episode.id, base),
        "is_externally_hosted": False,
        "is_playable": True,
        "languages": ["en-GB"],
        "name": episode.name,
        "release_date": episode.released,
        "release_date_precision": episode.precision,
    }
    resume = {"fully_played": False, "resume_position_ms": 0}
    return found | ({"resume_point": resume} if with_position else {})


def private_user(base: str) -> Object:
    return {
        "account_id": "jM4rsh0Ga7",
        "display_name": USER_NAME,
        "external_urls": {"spotify": f"{_WEB}/user/{USER_ID}"},
        "href": f"{base}/v1/users/{USER_ID}",
        "id": USER_ID,
        "images": _images(USER_ID, base),
        "type": "user",
        "uri": f"spotify:user:{USER_ID}",
    }


def paging(url: str, items: list[Any], limit: int, offset: int, shown: int, **query: str) -> Object:
    """One page. `shown` is how many it has, which may be fewer than the limit that was asked for."""

    def link(start: int) -> str:
        return f"{url}?{urlencode(query | {'offset': str(start), 'limit': str(limit)})}"

    return {
        "href": link(offset),
        "limit": limit,
        "next": link(offset + shown) if offset + shown < len(items) else None,
        "offset": offset,
        "previous": link(max(0, offset - limit)) if offset else None,
        "total": len(items),
        "items": items[offset : offset + shown],
    }
