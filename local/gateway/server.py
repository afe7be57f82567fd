"""HTTP on a loopback port, one thread per connection. A function is given to answer the requests."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from local.gateway.gateway import Answer, Headers

Handle = Callable[[str, str, Headers, bytes, str], Answer]

_NO_BODY = frozenset({204, 304})


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, handle: Handle, port: int) -> None:
        self.handle_call = handle
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def start(self) -> None:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that closes the connection is not worth a traceback."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "gna-local"
    sys_version = ""
    timeout = 60
    disable_nagle_algorithm = True  # head and body are two small packets; the second must not wait for an answer
    wbufsize = -1
    server: Server

    def _serve(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdigit():
            self.close_connection = True
            return self._send(Answer(411, [("Content-Type", "application/json")], b'{"error": "Length required"}'))
        body = self.rfile.read(int(length))
        return self._send(
            self.server.handle_call(
                self.command, self.path, list(self.headers.items()), body, str(self.client_address[0])
            )
        )

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        if answer.status not in _NO_BODY:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD" and answer.status not in _NO_BODY:
            self.wfile.write(answer.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve  # noqa: N815 - the names http.server asks for

    def log_message(self, format: str, *args: Any) -> None:
        """Paths hold tokens: they are not logged."""
