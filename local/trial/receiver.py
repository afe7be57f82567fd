"""Another system, which accepts every event and remembers its id, but not always at the first attempt."""

import json
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """It refuses some events, closes the connection on others, and refuses all while it is `down`: each event only
    once, because the second wait of a webhook is five minutes."""

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}
        self.down = False
        self.failed = 0
        self._tried: set[str] = set()
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = receiver.take(event["id"])
                if status:
                    self.send_response(status)
                    self.end_headers()

            def log_message(self, *ignored: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, id: str) -> int:
        """The status to answer; 0: none."""
        with self._lock:
            first, mood = id not in self._tried, zlib.crc32(id.encode()) % 16
            self._tried.add(id)
            if first and (self.down or mood == 0):
                self.failed += 1
                return 500
            self.seen[id] = self.seen.get(id, 0) + 1
            if first and mood == 1:
                self.failed += 1
                return 0
            return 204

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
