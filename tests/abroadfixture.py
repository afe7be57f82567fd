"""`abroad`: a server on loopback that answers whatever it is told to, to whatever it is asked. The feed leads to it,
and webhooks may; no other machine is asked in such a test, because no name is looked up."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import strategies as st

from chalicelib.feeds import service, websub, websub_store
from chalicelib.feeds.state import Trigger
from chalicelib.kernel import ids

Said = tuple[int, dict[str, str], bytes]

_ITEM = "<item><title>{0}</title><guid>{0}</guid><link>{1}</link><description>{1}</description></item>"
_RSS = "<rss version='2.0'><channel><title>{0}</title>{2}" + _ITEM + "</channel></rss>"
_words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=30).map(
    lambda text: text.replace("&", "&amp;").replace("<", "&lt;")
)
_bodies = st.one_of(
    st.binary(max_size=60),
    st.builds(lambda title, text: _RSS.format(title, text, "").encode(), _words, _words),
    st.sampled_from(
        [
            b"<html><title>Sign in</title>",
            b'{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "title": 1}, null]}',
            b'<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><rss><channel>&c;</channel></rss>',
            b"x" * 100_000,
        ]
    ),
)
_headers = st.fixed_dictionaries(
    {},
    optional={
        "Content-Type": st.sampled_from(
            ["text/xml", "application/json", "text/html; charset=utf-7", "é".encode().decode("latin-1")]
        ),
        "Content-Encoding": st.sampled_from(["gzip", "br", "identity"]),
        "Content-Length": st.sampled_from(["0", "7", "99999"]),
        "Retry-After": st.sampled_from(["0", "-1", "soon", "9" * 30]),
        "Location": st.sampled_from(["/", "//", "http://127.0.0.1:1/", "http://10.0.0.1/", "ftp://x", "http://[::1"]),
        "ETag": st.sampled_from(['"1"', "W/"]),
    },
)
answers = st.tuples(
    st.sampled_from([200, 200, 200, 200, 204, 301, 302, 304, 308, 400, 401, 404, 410, 429, 500, 503, 999]),
    _headers,
    _bodies,
)


class Abroad:
    """`says` is what it answers; `asked` counts; `token` is that of a hub's subscription to the feed."""

    def __init__(self, configure: Any) -> None:
        self.configure = configure
        self.says: Said = (200, {}, b"")
        self.asked = 0
        self.token = ""
        abroad = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                abroad.asked += 1
                status, headers, body = abroad.says
                with contextlib.suppress(OSError):  # whoever asked may have heard enough
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                self.do_GET()

            def log_message(self, *ignored: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def say(self, data: Any) -> None:
        """Something else from now on. Mostly the feed moves too: one that asked us to wait is not asked again."""
        self.says = data.draw(answers, label="said elsewhere")
        if data.draw(st.integers(0, 3), label="the same feed as before"):
            self.configure(FEED_URL=f"{self.url}/{ids.new()}")

    def subscribe(self) -> None:
        """Let the feed name a hub, and ask that hub, so that it has a token to come back with."""
        links = f'<a:link xmlns:a="http://www.w3.org/2005/Atom" rel="hub" href="{self.url}/hub"/>'
        links += links.replace('rel="hub"', 'rel="self"')
        self.says = (200, {}, _RSS.format("Blog", "x", links).encode())
        service.check(Trigger.SCHEDULE)
        websub.tend()
        [self.token] = [one.token for one in websub_store.all()]


@pytest.fixture
def abroad(configure: Any, aws: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Abroad]:
    found = Abroad(configure)
    monkeypatch.setattr(socket, "getaddrinfo", _only_loopback)
    configure(GNA_LOCAL="true", FEED_URL=f"{found.url}/feed.xml")
    yield found
    found.server.shutdown()
    found.server.server_close()


def _only_loopback(host: Any, *rest: Any, **more: Any) -> Any:
    """Nothing a stranger names is looked up outside this machine."""
    if host in ("127.0.0.1", "localhost", b"127.0.0.1"):
        return _really(host, *rest, **more)
    raise socket.gaierror(socket.EAI_NONAME, "no such name")


_really = socket.getaddrinfo
