"""Where the providers are. With YOUTUBE_ORIGIN or SPOTIFY_ORIGIN, one base URL stands for all hosts of a provider;
the paths below it are the real ones."""

from urllib.parse import urlsplit

from chalicelib.kernel import settings

YOUTUBE_API = "https://www.googleapis.com/youtube/v3"
YOUTUBE_SITE = "https://www.youtube.com"
YOUTUBE_HUB = "https://pubsubhubbub.appspot.com/subscribe"
GOOGLE_CONSENT = "https://accounts.google.com/o/oauth2/v2/auth"
GOOGLE_TOKENS = "https://oauth2.googleapis.com/token"
GOOGLE_REVOKE = "https://oauth2.googleapis.com/revoke"

SPOTIFY_API = "https://api.spotify.com/v1"
SPOTIFY_SITE = "https://open.spotify.com"
SPOTIFY_CONSENT = "https://accounts.spotify.com/authorize"
SPOTIFY_TOKENS = "https://accounts.spotify.com/api/token"


def youtube(url: str) -> str:
    """Where we connect to for a URL of YouTube or Google."""
    return _moved(url, settings.current().youtube_origin)


def spotify(url: str) -> str:
    return _moved(url, settings.current().spotify_origin)


def youtube_original(url: str) -> str:
    """The other way round: a page below YOUTUBE_ORIGIN is a page of www.youtube.com."""
    return _original(url, settings.current().youtube_origin, YOUTUBE_SITE)


def spotify_original(url: str) -> str:
    return _original(url, settings.current().spotify_origin, SPOTIFY_SITE)


def _moved(url: str, origin: str) -> str:
    parts = urlsplit(url)
    return origin + url.removeprefix(f"{parts.scheme}://{parts.netloc}") if origin else url


def _original(url: str, origin: str, site: str) -> str:
    return site + url.removeprefix(origin) if origin and url.startswith(f"{origin}/") else url
