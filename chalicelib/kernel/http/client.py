"""The client for URLs that others chose: feeds, hubs, webhooks.

Bounded in time, size and redirects, and it connects only to addresses it has checked (see `reach`). Whatever goes
wrong comes out as one exception with a reason of ours; nothing the other side said is in it.
"""

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import lru_cache
from http.client import HTTPException
from typing import Any
from urllib.parse import urljoin

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.kernel import settings
from chalicelib.kernel.http import egress
from chalicelib.kernel.version import VERSION

_PERMANENT = (301, 308)
_REDIRECTS = (301, 302, 303, 307, 308)
_ENCODINGS = ("", "identity", "gzip", "x-gzip", "deflate")
_LARGEST_HEADERS = 64_000
_CHUNK = 65_536
_CONNECT = 3.0


class FetchFailed(Exception):
    """`kind`: refused (we will not go there), unreachable (there is no such host, it takes no connection, or not a
    secure one), cut, timeout, too_large, redirects or protocol."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


class Bounds(Struct, frozen=True):
    """`largest` is of the body as it was before compression; at 0 it is not read at all."""

    seconds: float = 8.0
    largest: int = 5_000_000
    redirects: int = 5


class Answer(Struct, frozen=True):
    """`url` is where it came from in the end; `permanent_url` is where permanent redirects alone lead."""

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
    largest: int
    deadline: float
    permanent_url: str

    @property
    def left(self) -> float:
        return self.deadline - time.monotonic()


def get(url: str, headers: Mapping[str, str] | None = None, bounds: Bounds | None = None) -> Answer:
    """Follow redirects, each hop checked like the first."""
    return _follow("GET", url, headers or {}, None, bounds or Bounds())


def head(url: str, bounds: Bounds | None = None) -> Answer:
    """Whether somebody answers, and where; followed like a `get`."""
    return _follow("HEAD", url, {}, None, replace(bounds or Bounds(), largest=0))


def post(url: str, body: bytes, headers: Mapping[str, str], bounds: Bounds | None = None) -> Answer:
    """A redirect is an answer like any other here: what is posted goes where it was addressed, or nowhere."""
    return _follow("POST", url, headers, body, replace(bounds or Bounds(), redirects=0))


def _follow(method: str, url: str, headers: Mapping[str, str], body: bytes | None, bounds: Bounds) -> Answer:
    started = time.monotonic()
    call = _Call(method, url, headers, body, bounds.largest, started + bounds.seconds, url)
    only_permanent = True
    for _ in range(bounds.redirects + 1):
        answer = _one(call, started)
        location = answer.headers.get("location")
        if method == "POST" or answer.status not in _REDIRECTS or not location:
            return answer
        only_permanent = only_permanent and answer.status in _PERMANENT
        onward = _onward(call.url, _readable(location))
        call = replace(call, url=onward, permanent_url=onward if only_permanent else call.permanent_url)
    raise FetchFailed("redirects", "too many redirects")


def _onward(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:  # half an IPv6 address, for one
        raise FetchFailed("protocol", "it redirects to an invalid URL") from None


def _readable(location: str) -> str:
    """Headers are read as Latin-1; who writes letters beyond ASCII into this one means UTF-8."""
    try:
        return location.encode("latin-1").decode()
    except UnicodeError:
        return location


def _one(call: _Call, started: float) -> Answer:
    """One request, one answer. The failures of five libraries become one."""
    from urllib3.exceptions import HTTPError

    try:
        with _response(call) as response:
            headers = _headers(response)
            body = _body(response, headers, call.largest) if call.largest else b""
    except egress.Unreachable as failure:
        raise FetchFailed("refused" if failure.refused else "unreachable", failure.reason) from None
    except (HTTPError, HTTPException, OSError, ValueError) as failure:
        raise _failed(call, failure) from failure
    if call.left <= 0:  # a socket cut short at the deadline may look like a body that has ended
        raise FetchFailed("timeout", "no complete response in time")
    return Answer(response.status, headers, body, call.url, call.permanent_url, time.monotonic() - started)


@contextmanager
def _response(call: _Call) -> Iterator[Any]:
    """The answer, its body still unread. At the deadline the connection is cut, wherever it is."""
    target = egress.target(call.url)
    with ExitStack() as at_the_end:
        sock = at_the_end.enter_context(_connected(target, call))
        at_the_end.enter_context(_Watch(sock, call.left))
        connection = at_the_end.enter_context(closing(_connection(target, sock)))
        connection.request(
            call.method,
            target.path,
            body=call.body,
            headers={"User-Agent": _user_agent(), "Accept-Encoding": "gzip, deflate", **call.headers},
            preload_content=False,
        )
        yield at_the_end.enter_context(closing(connection.getresponse()))


class _Watch(threading.Thread):
    """Cuts the connection at the deadline. Timeouts alone start anew with each byte of a server that drips.

    It holds a duplicate of the socket, which stays ours when TLS takes the first one over.
    """

    def __init__(self, sock: socket.socket, seconds: float) -> None:
        super().__init__(daemon=True)
        self._guard = sock.dup()
        self._seconds = seconds
        self._done = threading.Event()

    def run(self) -> None:
        with self._guard:
            if not self._done.wait(self._seconds):
                with suppress(OSError):  # it may have ended by itself
                    self._guard.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> None:
        self.start()

    def __exit__(self, *failure: object) -> None:
        self._done.set()
        self.join()


def _connected(target: egress.Target, call: _Call) -> socket.socket:
    """A socket to the first address that takes it; every one of them was checked."""
    failure: OSError | None = None
    for address in egress.addresses(target.host, target.port, call.left):
        try:
            return _patient(
                socket.create_connection((address, target.port), min(_CONNECT, max(call.left, 0.01))), call
            )
        except OSError as refusal:
            failure = refusal
    assert failure is not None
    raise failure


def _patient(sock: socket.socket, call: _Call) -> socket.socket:
    sock.settimeout(max(call.left, 0.01))
    return sock


def _connection(target: egress.Target, sock: socket.socket) -> Any:
    """urllib3's connection on our socket: its host is the name, so Host, SNI and certificate are the name's."""
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
    return {name.lower(): value for name, value in response.headers.items()}


def _body(response: Any, headers: Mapping[str, str], largest: int) -> bytes:
    """The body as it was before compression, given up as soon as it is larger than allowed."""
    if headers.get("content-encoding", "").strip().lower() not in _ENCODINGS:
        raise FetchFailed("protocol", "the response has an encoding we did not ask for")
    parts, size = [], 0
    for chunk in response.stream(_CHUNK, decode_content=True):
        size += len(chunk)
        if size > largest:
            raise FetchFailed("too_large", f"the response is larger than {largest // 1000} kB")
        parts.append(chunk)
    return b"".join(parts)


def _failed(call: _Call, failure: Exception) -> FetchFailed:
    from urllib3.exceptions import SSLError
    from urllib3.exceptions import TimeoutError as ReadTimeout

    if call.left <= 0 or isinstance(failure, TimeoutError | ReadTimeout):
        return FetchFailed("timeout", "no complete response in time")
    if isinstance(failure, SSLError | ssl.SSLError):
        return FetchFailed("unreachable", "the secure connection failed (certificate or TLS)")
    if isinstance(failure, ConnectionRefusedError):
        return FetchFailed("unreachable", "the host does not respond")
    if isinstance(failure, OSError):
        return FetchFailed("cut", "the connection failed")
    return FetchFailed("protocol", "the response is not valid HTTP")


def _user_agent() -> str:
    return f"Gna/{VERSION} (+{settings.current().site_url})"
