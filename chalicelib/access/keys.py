"""The team's public keys: fetched when needed, cached, and never fetched as often as a stranger likes."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chalicelib.access.narrow_checks import canonical_base64url
from chalicelib.kernel import log
from chalicelib.kernel.errors import Unavailable

if TYPE_CHECKING:
    from jwt import PyJWK

_TIMEOUT = 3.0
_MAX_BYTES = 65_536
_MAX_KEYS = 32
_KEY_BITS = range(2048, 8193)

# A key that the team revokes stops working within the hour; an outage is bridged for four.
_FRESH = 3600
_STALE = 4 * 3600
# A stranger chooses the `kid`: whatever they send, keys are fetched at most once a minute for it, and not at once
# after a failure.
_AFTER_UNKNOWN = 60
_AFTER_FAILURE = 10

_NEVER = float("-inf")


class Keys:
    """Keys by `kid`, from one URL. Times are seconds since 1970, given by the caller."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._keys: dict[str, PyJWK] = {}
        self._fetched = self._failed = self._sought_unknown = _NEVER
        self._lock = threading.Lock()

    def find(self, kid: str, now: float) -> "PyJWK | None":
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
        """The team may have added a key since the last fetch; only a successful fetch shows that it has not."""
        if not _within(now, self._sought_unknown, _AFTER_UNKNOWN) and self._fetched != now:
            self._sought_unknown = now
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
    """The cached keys of this process."""
    return Keys(url)


def fetch(url: str) -> bytes:
    """GET within three seconds, from that URL only: no redirects, no proxies, no cookies."""
    import http.client

    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT)
    try:
        connection.connect()
        with _deadline(connection.sock):
            connection.request("GET", parts.path or "/", headers={"Accept": "application/json", "User-Agent": "gna"})
            response = connection.getresponse()
            body = response.read(_MAX_BYTES + 1)
    except (OSError, http.client.HTTPException, ValueError) as failure:
        raise Unavailable from failure
    finally:
        connection.close()
    if response.status != 200 or len(body) > _MAX_BYTES:
        raise Unavailable
    return body


@contextlib.contextmanager
def _deadline(connected: socket.socket) -> Iterator[None]:
    """The socket's own timeout restarts with every byte: a response that drips would hold us for ever."""

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


def parse(body: bytes) -> dict[str, "PyJWK"]:
    """The signing keys in a key set. Anything else (an HTML page, say) counts as an outage."""
    try:
        entries = json.loads(body)["keys"][:_MAX_KEYS]
    except (ValueError, TypeError, KeyError, RecursionError) as failure:
        raise Unavailable from failure
    keys = {entry["kid"]: key for entry in entries if (key := _key(entry))}
    if not keys:
        raise Unavailable
    return keys


def _key(entry: Any) -> "PyJWK | None":
    """The entry as a key, if it may verify an RS256 signature: RSA, for signatures, neither short nor endless."""
    import jwt

    if not isinstance(entry, dict) or not isinstance(entry.get("kid"), str) or not entry["kid"]:
        return None
    if (entry.get("kty"), entry.get("use"), entry.get("alg", "RS256")) != ("RSA", "sig", "RS256"):
        return None
    try:
        for name in ("n", "e"):
            canonical_base64url(entry[name])
        # Only the two public numbers: with `d` beside them PyJWT would make a private key. Bound to RS256, so that
        # no other algorithm can be used with it, whatever a token's header says.
        key = jwt.PyJWK({"kty": "RSA", "n": entry["n"], "e": entry["e"]}, "RS256")
    except (ValueError, TypeError, KeyError, jwt.PyJWTError):
        return None
    return key if key.key.key_size in _KEY_BITS else None


def _within(now: float, since: float, seconds: float) -> bool:
    """Setting the clock back must not make anything last longer."""
    return 0 <= now - since < seconds
