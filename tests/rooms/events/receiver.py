"""A real HTTP receiver on loopback that answers as configured, and remembers what it was sent."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Call:
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        return json.loads(self.body)

    def is_signed_with(self, secret: str) -> bool:
        """As a receiver checks it: by the specification, with none of our code."""
        signed = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + self.body
        key = base64.b64decode(secret.removeprefix("whsec_"))
        expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
        return expected in self.headers["webhook-signature"].split()


@dataclass
class Receiver:
    """`answer(call)` gives the status; `delay` is waited first; `headers` go back with it."""

    answer: Callable[[Call], int] = lambda call: 204
    delay: float = 0
    headers: dict[str, str] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                if len(body) < length:
                    return  # the sender died in the middle of it: nothing has arrived
                call = Call({name.lower(): value for name, value in self.headers.items()}, body)
                receiver.calls.append(call)
                time.sleep(receiver.delay)
                try:
                    self.send_response(receiver.answer(call))
                    for name, value in receiver.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                except OSError:
                    pass  # the sender did not wait

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/hook"

    @property
    def ids(self) -> list[str]:
        return [call.event["id"] for call in self.calls]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
