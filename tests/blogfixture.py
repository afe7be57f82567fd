"""`blog`: a server on loopback with a feed that tests publish to; Gna watches it."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Blog:
    """`answer` replaces the feed: a status, headers and a body."""

    url: str = ""
    posts: list[tuple[str, str, datetime | None]] = field(default_factory=list)
    answer: tuple[int, dict[str, str], bytes] | None = None
    etag: bool = False
    asked: list[dict[str, str]] = field(default_factory=list)
    posted: list[tuple[str, bytes]] = field(default_factory=list)
    hub: str = ""

    def publish(self, title: str, at: datetime | None = None, undated: bool = False) -> None:
        self.posts.insert(0, (title, f"<p>About {escape(title)}.</p>", None if undated else at or datetime.now(UTC)))

    def feed(self) -> bytes:
        items = "".join(
            f"<item><title>{escape(title)}</title><guid>{self.url}/{number}</guid><link>/posts/{number}</link>"
            f"<description>{escape(text)}</description>"
            f"{f'<pubDate>{format_datetime(at)}</pubDate>' if at else ''}</item>"
            for number, (title, text, at) in zip(range(len(self.posts), 0, -1), self.posts, strict=True)
        )
        hub = f'<a:link xmlns:a="http://www.w3.org/2005/Atom" rel="hub" href="{self.hub}"/>' if self.hub else ""
        return f'<rss version="2.0"><channel><title>Blog</title>{hub}{items}</channel></rss>'.encode()

    def reply(self, asked: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        self.asked.append({name.lower(): value for name, value in asked.headers.items()} | {"path": asked.path})
        if asked.path == "/moved.xml":
            return 200, {}, self.feed()
        if self.answer:
            return self.answer
        body = self.feed()
        tag = f'"{hash(body)}"'
        if self.etag and asked.headers.get("If-None-Match") == tag:
            return 304, {}, b""
        return 200, {"ETag": tag} if self.etag else {}, body


class _Handler(BaseHTTPRequestHandler):
    blog: Blog

    def do_GET(self) -> None:
        status, headers, body = self.blog.reply(self)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        with contextlib.suppress(OSError):  # whoever asked may have heard enough
            self.end_headers()
            self.wfile.write(body)

    def do_POST(self) -> None:
        self.blog.posted.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *ignored: Any) -> None:
        pass


@pytest.fixture
def blog(configure: Any) -> Iterator[Blog]:
    """With one old post. FEED_URL is set to it."""
    blog = Blog()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"blog": blog}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    blog.url = f"http://127.0.0.1:{server.server_port}"
    blog.publish("Hello", datetime.now(UTC) - timedelta(days=9))
    configure(GNA_LOCAL="true", FEED_URL=f"{blog.url}/feed.xml")
    yield blog
    server.shutdown()
    server.server_close()
