"""A server on the loopback that answers as each test tells it."""

import contextlib
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[BaseHTTPRequestHandler], None]


class Server:
    def __init__(self) -> None:
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.replies: dict[str, Reply] = {}
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                server.seen.append((self.command, self.path, dict(self.headers.items()), body))
                self.close_connection = True
                server.replies[self.path](self)

            do_HEAD = do_POST = do_GET  # noqa: N815 - the names the library calls

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def on(self, path: str, status: int = 200, body: bytes = b"", **headers: str) -> str:
        def reply(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                handler.send_header(name.replace("_", "-"), value)
            handler.end_headers()
            if handler.command != "HEAD":
                with contextlib.suppress(OSError):  # whoever asked may have heard enough
                    handler.wfile.write(body)

        self.replies[path] = reply
        return self.url + path

    def secure(self, context: ssl.SSLContext) -> None:
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
