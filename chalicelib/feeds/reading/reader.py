"""Asks a server for a feed, politely: with validators, so that an unchanged feed is recognised early."""

import hashlib

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.feeds.reading import entries, links
from chalicelib.feeds.reading.document import NotAFeed
from chalicelib.feeds.reading.model import Feed
from chalicelib.feeds.reading.waiting import parse_retry_after
from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import Answer, Bounds, FetchFailed

_BOUNDS = Bounds(seconds=7.0, largest=5_000_000, redirects=5)
_ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
    "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1"
)
_LONGEST_VALIDATOR = 400
_LONGEST_WAIT = 86_400


class Validators(Struct, frozen=True):
    """What identifies the last answer, so that the next one can be recognised as unchanged."""

    etag: str = ""
    last_modified: str = ""
    body_hash: str = ""


class Reading(Struct, frozen=True):
    """`feed` is None if it has not changed; `url` is where it was read, after all redirects."""

    feed: Feed | None
    validators: Validators
    permanent_url: str
    url: str = ""


class Unreadable(Exception):
    """`kind` is one of a few fixed words, `reason` a sentence for the admin, `retry_after` how many seconds the
    server asked us to wait, and `status` what it answered, if it did."""

    def __init__(self, kind: str, reason: str, retry_after: int = 0, status: int = 0) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.retry_after = retry_after
        self.status = status


def read(url: str, known: Validators | None = None) -> Reading:
    """One request. Without the validators of an earlier answer the feed always comes whole."""
    try:
        answer = client.get(url, _headers(known), _BOUNDS)
    except FetchFailed as failure:
        raise Unreadable(failure.kind, f"The feed cannot be fetched: {failure.reason}") from failure
    if answer.status == 304 and known:
        return Reading(None, known, answer.permanent_url)
    _check_status(answer)
    validators = _validators(answer)
    if known and known.body_hash == validators.body_hash:
        return Reading(None, validators, answer.permanent_url)
    return Reading(_parse(answer), validators, answer.permanent_url, answer.url)


def _headers(known: Validators | None) -> dict[str, str]:
    """Who needs the feed as it is now asks caches not to answer for the server."""
    headers = {"Accept": _ACCEPT}
    if known is None:
        return headers | {"Cache-Control": "no-cache"}
    if known.etag:
        headers["If-None-Match"] = known.etag
    if known.last_modified:
        headers["If-Modified-Since"] = known.last_modified
    return headers


def _check_status(answer: Answer) -> None:
    if answer.status == 200:
        return
    wait = _retry_after(answer.headers.get("retry-after", ""))
    if answer.status == 410:
        raise Unreadable("gone", "The feed is permanently gone (410)", status=410)
    if answer.status == 429:
        raise Unreadable("throttled", "The feed's server is limiting our requests (429)", wait or 3600, 429)
    raise Unreadable("status", f"The feed's server returned {answer.status}", wait, answer.status)


def _retry_after(value: str) -> int:
    """Seconds; a day at most."""
    return parse_retry_after(value, _LONGEST_WAIT)


def _validators(answer: Answer) -> Validators:
    def header(name: str) -> str:
        value = answer.headers.get(name, "")
        return value if len(value) <= _LONGEST_VALIDATOR and value.isascii() and value.isprintable() else ""

    return Validators(header("etag"), header("last-modified"), hashlib.sha256(answer.body).hexdigest())


def _parse(answer: Answer) -> Feed:
    try:
        feed = entries.parse(answer.body, answer.headers.get("content-type", ""), answer.url)
    except NotAFeed as failure:
        raise Unreadable(failure.kind, f"The feed cannot be read: {failure.reason}") from failure
    # The links of the header take precedence over those in the feed.
    hub, topic = links.choose(links.parse_header(answer.headers.get("link", "")), answer.url)
    return replace(feed, hub=hub or feed.hub, topic=topic or feed.topic or answer.url)
