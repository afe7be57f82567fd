"""As much HTTP/1.1 as a local endpoint needs, on one event loop and loopback only.

With a framework, the benchmarks would count its tens of microseconds per request as the sending engine's.
"""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

LARGEST_BODY = 64_000_000
_LOCAL_NAMES = {"127.0.0.1", "localhost", "[::1]", "::1"}
_REASONS = {200: "OK", 204: "No Content", 400: "Bad Request", 403: "Forbidden", 404: "Not Found"}


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    def encode(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} {_REASONS.get(self.status, 'Answer')}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        lines.append(f"Content-Length: {len(self.body)}\r\n\r\n")
        return "\r\n".join(lines).encode() + self.body


# None closes the connection without an answer.
Handler = Callable[[Request], Awaitable[Reply | None]]


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    named = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, json.dumps(value).encode(), named)


async def listen(handler: Handler, port: int) -> asyncio.Server:
    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _converse(handler, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # the client went away, or does not speak HTTP
        except asyncio.CancelledError:
            pass  # the server is being stopped
        finally:
            writer.close()

    return await asyncio.start_server(connection, "127.0.0.1", port, limit=65_536, backlog=512)


async def _converse(handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    wire = writer.get_extra_info("socket")
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        # botocore sends head and body separately and waits for the first to be acknowledged: 40 ms with delayed ACKs.
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        start, _, rest = head.decode("latin-1").partition("\r\n")
        headers = _headers(rest)
        length = int(headers.get("content-length", "0"))
        if length > LARGEST_BODY:
            return
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await reader.readexactly(length) if length else b""
        reply = await _answer(handler, start, headers, body)
        if reply is None:
            return
        writer.write(reply.encode())
        await writer.drain()
        if headers.get("connection", "").lower() == "close":
            return


def _headers(lines: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in lines.split("\r\n") if line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _answer(handler: Handler, start: str, headers: dict[str, str], body: bytes) -> Reply | None:
    method, target, _ = start.split(" ", 2)
    # A website could point its own name to this address and read the links in the mails.
    if headers.get("host", "").rsplit(":", 1)[0] not in _LOCAL_NAMES:
        return Reply(403, b"This is a local address only")
    parts = urlsplit(target)
    query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
    return await handler(Request(method, unquote(parts.path), query, body))
