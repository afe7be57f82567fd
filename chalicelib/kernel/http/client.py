"""The HTTP client for URLs that others chose: feeds, hubs, webhooks.

Time, size and redirects are limited, and it connects only to addresses that `egress` allows. Every failure becomes
one exception with a reason of our own, which quotes nothing from the other side.
"""

import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import lru_cache
from http.client import HTTPException, IncompleteRead
from typing import Any
from urllib.parse import urljoin

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.kernel import settings
from chalicelib.kernel.http import compression, egress
from chalicelib.kernel.version import VERSION

_PERMANENT = (301, 308)
_REDIRECTS = (301, 302, 303, 307, 308)
_REPEATING = (307, 308)
_ENCODINGS = ("", "identity", "gzip", "x-gzip", "deflate")
# Headers that may be repeated instead of written as one list.
_LISTS = ("link", "content-encoding")
_LARGEST_HEADERS = 64_000
_CHUNK = 65_536
_CONNECT_SECONDS = 3.0


class FetchFailed(Exception):
    """`kind`: refused (not an allowed address), unreachable (no such host, no connection, or no secure one), cut,
    timeout, too_large, redirects or protocol."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


class Bounds(Struct, frozen=True):
    """`largest` is the limit of the uncompressed body; at 0 the body is not read. With `cut`, of a larger one the
    beginning is taken; otherwise it is a failure."""

    seconds: float = 8.0
    largest: int = 5_000_000
    redirects: int = 5
    cut: bool = False


class Answer(Struct, frozen=True):
    """`url` is the last one after all redirects; `permanent_url` is the last one after permanent redirects only."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    permanent_url: str
    elapsed: float


class _Call(Struct, frozen=True):
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    bounds: Bounds
    deadline: float
    permanent_url: str

    @property
    def seconds_left(self) -> float:
        return self.deadline - time.monotonic()


def get(url: str, headers: Mapping[str, str] | None = None, bounds: Bounds | None = None) -> Answer:
    """Follows redirects; each hop is checked like the first."""
    return _follow("GET", url, headers or {}, None, bounds or Bounds())


def head(url: str, bounds: Bounds | None = None) -> Answer:
    """Whether the URL answers, and where it leads; follows redirects like `get`."""
    return _follow("HEAD", url, {}, None, replace(bounds or Bounds(), largest=0))


def find_redirect(url: str, seconds: float) -> str | None:
    """Where the URL leads to, which itself is not asked; None if it does not redirect. No body is read."""
    started = time.monotonic()
    answer = _request(_Call("GET", url, {}, None, Bounds(largest=0), started + seconds, url), started)
    location = answer.headers.get("location")
    if not location or answer.status not in _REDIRECTS:
        return None
    return _resolve_redirect(url, _decode_location(location))


def post(url: str, body: bytes, headers: Mapping[str, str], bounds: Bounds | None = None) -> Answer:
    """Follows only redirects that say to repeat the request (307, 308), never to an unencrypted connection, and none
    if `bounds` allow none."""
    return _follow("POST", url, headers, body, bounds or Bounds(redirects=0))


def _follow(method: str, url: str, headers: Mapping[str, str], body: bytes | None, bounds: Bounds) -> Answer:
    started = time.monotonic()
    call = _Call(method, url, headers, body, bounds, started + bounds.seconds, url)
    only_permanent = True
    for _ in range(bounds.redirects + 1):
        answer = _request(call, started)
        location = answer.headers.get("location")
        if not location or answer.status not in _followed(method, bounds):
            return answer
        only_permanent = only_permanent and answer.status in _PERMANENT
        next_url = _resolve_redirect(call.url, _decode_location(location))
        if method == "POST" and call.url.startswith("https:") and not next_url.startswith("https:"):
            raise FetchFailed("refused", "it redirects to an unencrypted connection")
        call = replace(call, url=next_url, permanent_url=next_url if only_permanent else call.permanent_url)
    raise FetchFailed("redirects", "too many redirects")


def _followed(method: str, bounds: Bounds) -> tuple[int, ...]:
    if method == "POST":
        return _REPEATING if bounds.redirects else ()
    return _REDIRECTS


def _resolve_redirect(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:  # for example half an IPv6 address
        raise FetchFailed("protocol", "it redirects to an invalid URL") from None


def _decode_location(location: str) -> str:
    """Headers are read as Latin-1, but servers that send non-ASCII characters here mean UTF-8."""
    try:
        return location.encode("latin-1").decode()
    except UnicodeError:
        return location


def _request(call: _Call, started: float) -> Answer:
    """One request and its answer. The exceptions of five libraries become one."""
    from urllib3.exceptions import HTTPError

    try:
        with _response(call) as response:
            headers = _headers(response)
            body = _body(response, headers, call.bounds) if call.bounds.largest else b""
    except egress.Unreachable as failure:
        raise FetchFailed("refused" if failure.refused else "unreachable", failure.reason) from None
    except (HTTPError, HTTPException, OSError, ValueError, EOFError, zlib.error) as failure:
        raise _translate(call, failure) from failure
    if call.seconds_left <= 0:  # a socket closed at the deadline may look like the end of the body
        raise FetchFailed("timeout", "no complete response in time")
    return Answer(response.status, headers, body, call.url, call.permanent_url, time.monotonic() - started)


@contextmanager
def _response(call: _Call) -> Iterator[Any]:
    """The answer with its body unread. At the deadline the connection is closed, whatever its state."""
    target = egress.target(call.url)
    with ExitStack() as stack:
        sock = stack.enter_context(_connect(target, call))
        stack.enter_context(_Watchdog(sock, call.seconds_left))
        connection = stack.enter_context(closing(_connection(target, sock)))
        connection.request(
            call.method,
            target.path,
            body=call.body,
            headers={"User-Agent": _user_agent(), "Accept-Encoding": "gzip, deflate", **call.headers},
            preload_content=False,
        )
        yield stack.enter_context(closing(connection.getresponse()))


class _Watchdog(threading.Thread):
    """Closes the connection at the deadline. A socket's timeout starts again with every byte that arrives, so a slow
    server could keep it open forever.

    It holds a duplicate of the socket, because TLS takes over the first one.
    """

    def __init__(self, sock: socket.socket, seconds: float) -> None:
        super().__init__(daemon=True)
        self._guard = sock.dup()
        self._seconds = seconds
        self._done = threading.Event()

    def run(self) -> None:
        with self._guard:
            if not self._done.wait(self._seconds):
                with suppress(OSError):  # it may be closed already
                    self._guard.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *failure: object) -> None:
        self._done.set()
        self.join()


def _connect(target: egress.Target, call: _Call) -> socket.socket:
    """A socket to the first address that accepts a connection; all of them were checked."""
    failure: OSError | None = None
    for address in egress.addresses(target.host, target.port, call.seconds_left):
        try:
            return _with_timeout(
                socket.create_connection((address, target.port), min(_CONNECT_SECONDS, max(call.seconds_left, 0.01))),
                call,
            )
        except OSError as refusal:
            failure = refusal
    assert failure is not None
    raise failure


def _with_timeout(sock: socket.socket, call: _Call) -> socket.socket:
    sock.settimeout(max(call.seconds_left, 0.01))
    return sock


def _connection(target: egress.Target, sock: socket.socket) -> Any:
    """urllib3's connection on our socket. Its host is the name, for the Host header, SNI and the certificate."""
    from urllib3.connection import HTTPConnection, HTTPSConnection

    connection: HTTPConnection
    if target.scheme == "https":
        connection = HTTPSConnection(target.host, target.port)
        connection.sock = _tls().wrap_socket(sock, server_hostname=target.host.rstrip("."))
    else:
        connection = HTTPConnection(target.host, target.port)
        connection.sock = sock
    return connection


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _headers(response: Any) -> dict[str, str]:
    if sum(len(name) + len(value) for name, value in response.headers.items()) > _LARGEST_HEADERS:
        raise FetchFailed("too_large", "the headers are too large")
    headers: dict[str, str] = {}
    for name, value in response.headers.items():
        name = name.lower()
        headers[name] = f"{headers[name]}, {value}" if name in headers and name in _LISTS else value
    return headers


def _body(response: Any, headers: Mapping[str, str], bounds: Bounds) -> bytes:
    """The uncompressed body. Stops reading as soon as it is larger than allowed."""
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise FetchFailed("protocol", "the response has an encoding we did not ask for")
    parts, size = [], 0
    for chunk in compression.unpack(response.stream(_CHUNK, decode_content=False), encoding):
        size += len(chunk)
        if size > bounds.largest and not bounds.cut:
            raise FetchFailed("too_large", f"the response is larger than {bounds.largest // 1000} kB")
        parts.append(chunk)
        if size > bounds.largest:
            break
    return b"".join(parts)[: bounds.largest]


def _translate(call: _Call, failure: Exception) -> FetchFailed:
    from urllib3.exceptions import ProtocolError, SSLError
    from urllib3.exceptions import TimeoutError as ReadTimeout

    if call.seconds_left <= 0 or isinstance(failure, TimeoutError | ReadTimeout):
        return FetchFailed("timeout", "no complete response in time")
    if isinstance(failure, SSLError | ssl.SSLError):
        return FetchFailed("unreachable", "the secure connection failed (certificate or TLS)")
    if isinstance(failure, ConnectionRefusedError):
        return FetchFailed("unreachable", "the host does not respond")
    if isinstance(failure, OSError):
        return FetchFailed("cut", "the connection failed")
    if isinstance(failure, EOFError | IncompleteRead | ProtocolError):
        return FetchFailed("cut", "the response ends in the middle")
    return FetchFailed("protocol", "the response is not valid HTTP")


def _user_agent() -> str:
    return f"Gna/{VERSION} (+{settings.current().site_url})"
