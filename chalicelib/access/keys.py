"""The team's public keys: fetched when needed, kept while they may be, never fetched at a stranger's command."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chalicelib.access.token import decode
from chalicelib.kernel import log
from chalicelib.kernel.errors import Unavailable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

_TIMEOUT = 3.0
_LARGEST_ANSWER = 65_536
_MOST_KEYS = 32
_KEY_BITS = range(2048, 8193)

# A key taken back by the team stops working within the hour; an outage is bridged for four.
_FRESH = 3600
_STALE = 4 * 3600
# A stranger chooses the `kid`: whatever they send, we ask once a minute, and not at once after a failure.
_AFTER_UNKNOWN = 60
_AFTER_FAILURE = 10

_NEVER = float("-inf")


class Keys:
    """Keys by `kid`, from one address. Times are seconds since 1970, given by the caller."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._keys: dict[str, RSAPublicKey] = {}
        self._fetched = self._failed = self._asked_for_unknown = _NEVER
        self._lock = threading.Lock()

    def find(self, kid: str, now: float) -> "RSAPublicKey | None":
        """The key, or None if the team has no such key; `Unavailable` if that cannot be known."""
        with self._lock:
            if not _within(now, self._fetched, _FRESH):
                self._refresh(now)
            if not _within(now, self._fetched, _STALE):
                raise Unavailable(retry_after=_AFTER_FAILURE)
            if kid not in self._keys:
                self._look_for_new(now)
            return self._keys.get(kid)

    def _look_for_new(self, now: float) -> None:
        """The team may have made a new key since; only a fetch that succeeded can say that it has not."""
        if not _within(now, self._asked_for_unknown, _AFTER_UNKNOWN) and self._fetched != now:
            self._asked_for_unknown = now
            self._refresh(now)
        if self._failed > self._fetched:
            raise Unavailable(retry_after=_AFTER_FAILURE)

    def _refresh(self, now: float) -> None:
        if _within(now, self._failed, _AFTER_FAILURE):
            return
        try:
            self._keys = parse(fetch(self._url))
            self._fetched = now
        except Unavailable as failure:
            self._failed = now
            log.exception("authorizer.keys_unreachable", failure)
            log.metric("AccessKeysUnreachable")


@cache
def keys_from(url: str) -> Keys:
    """The keys of this process."""
    return Keys(url)


def fetch(url: str) -> bytes:
    """GET, within three seconds, from that address alone: no redirects, no proxies, no cookies."""
    import http.client

    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT)
    try:
        connection.connect()
        with _deadline(connection.sock):
            connection.request("GET", parts.path or "/", headers={"Accept": "application/json", "User-Agent": "gna"})
            answer = connection.getresponse()
            body = answer.read(_LARGEST_ANSWER + 1)
    except (OSError, http.client.HTTPException, ValueError) as failure:
        raise Unavailable from failure
    finally:
        connection.close()
    if answer.status != 200 or len(body) > _LARGEST_ANSWER:
        raise Unavailable
    return body


@contextlib.contextmanager
def _deadline(connected: socket.socket) -> Iterator[None]:
    """The socket's own time-out starts again with every byte: an answer that drips would keep us for ever."""

    def cut() -> None:
        with contextlib.suppress(OSError):
            connected.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(_TIMEOUT, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def parse(answer: bytes) -> dict[str, "RSAPublicKey"]:
    """The signing keys in a key set. Anything that is not a key set (an HTML page, say) is an outage."""
    try:
        found = json.loads(answer)["keys"][:_MOST_KEYS]
    except (ValueError, TypeError, KeyError, RecursionError) as failure:
        raise Unavailable from failure
    keys = {entry["kid"]: key for entry in found if (key := _key(entry))}
    if not keys:
        raise Unavailable
    return keys


def _key(entry: Any) -> "RSAPublicKey | None":
    """Only what may verify an RS256 signature: RSA, meant for signatures, neither short nor endless."""
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

    if not isinstance(entry, dict) or not isinstance(entry.get("kid"), str) or not entry["kid"]:
        return None
    if (entry.get("kty"), entry.get("use"), entry.get("alg", "RS256")) != ("RSA", "sig", "RS256"):
        return None
    try:
        modulus, exponent = (int.from_bytes(decode(entry[name])) for name in ("n", "e"))
        key = RSAPublicNumbers(exponent, modulus).public_key()
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return key if key.key_size in _KEY_BITS else None


def _within(now: float, since: float, seconds: float) -> bool:
    """A clock that was set back makes nothing last longer."""
    return 0 <= now - since < seconds
