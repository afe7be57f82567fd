"""A small YouTube and a small Spotify: `python -m local.providers.main --port 8026 --data DIR`. Never deployed.

`http://127.0.0.1:8026/youtube` stands for all hosts of YouTube, `…/spotify` for those of Spotify, with the real paths
below; people use the pages at `/`, and tests control it at `/control`.
"""

import argparse
import signal
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from local.gateway.gateway import Answer
from local.gateway.server import Server
from local.providers import control
from local.providers.library import Library
from local.providers.server import Router
from local.providers.state import State
from local.providers.youtube.hub import Hub, Send, send

_TICK = 0.5


class Providers:
    """Both of them, in this process. Without a folder everything is in memory only."""

    def __init__(self, folder: Path | None = None, app_url: str = "") -> None:
        self.state = State(folder)
        self.hub = Hub(self.state)
        self.library = Library(self.state, lambda video: self.hub.announce(self.library, video))
        self.url = "http://127.0.0.1"
        self.router = Router(self.state, self.library, self.hub, lambda: self.url, app_url)
        self._ended = threading.Event()
        self._server: Server | None = None

    @property
    def youtube(self) -> str:
        return f"{self.url}/youtube"

    @property
    def spotify(self) -> str:
        return f"{self.url}/spotify"

    def start(self, port: int = 0) -> "Providers":
        self._server = Server(self.router.handle, port)
        self.url = f"http://127.0.0.1:{self._server.port}"
        self._server.start()
        threading.Thread(target=self._settle, name="providers", daemon=True).start()
        return self

    def stop(self) -> None:
        self._ended.set()
        if self._server:
            self._server.stop()

    def _settle(self) -> None:
        """What is scheduled is pushed when its time has come, also while nobody asks."""
        while not self._ended.wait(_TICK):
            self.library.settle()

    # For tests

    def publish(self, where: str, title: str, kind: str = "normal", **more: Any) -> str:
        """A video on a channel (its id or handle) or an episode of a show (its id); its id. See `Library`."""
        return control.publish(self.library, where, title, kind, **more)

    def change(self, video_id: str, *, title: str | None = None, public: bool | None = None) -> None:
        self.library.change_video(video_id, title=title, public=public)

    def delete(self, id: str, leave_entry: bool = False) -> None:
        control.delete(self.library, id, leave_entry)

    def set_fault(self, provider: str, **orders: Any) -> None:
        """See `Faults` for what can be set."""
        control.set_fault(self.state, provider, **orders)

    def calls(self) -> dict[str, Any]:
        return control.count_calls(self.state)

    def forget_calls(self) -> None:
        with self.state.lock:
            self.state.calls.clear()

    def advance(self, seconds: float) -> None:
        """Move the clock of the providers: tokens expire, and what is scheduled becomes public."""
        self.state.shift += seconds
        self.library.settle()

    def flush(self, seconds: float = 10.0) -> None:
        """Wait until the hub has verified and pushed everything."""
        self.hub.flush(seconds)

    def deliver_by(self, send: Send) -> None:
        """Let the hub call this instead of connecting: method, URL, headers, body; status and body."""
        self.hub.send = send

    def consent(self, url: str, allow: bool = True) -> str:
        """Open a consent page and decide; where the browser is sent."""
        fields = dict(parse_qsl(urlsplit(url).query)) | {"decision": "allow" if allow else "decline"}
        answer: Answer = self.router.handle(
            "POST", urlsplit(url).path, [("Host", "127.0.0.1")], urlencode(fields).encode(), "127.0.0.1"
        )
        return dict(answer.headers)["Location"]

    def reset(self) -> None:
        """As if just started on an empty directory."""
        self.hub.forget()
        self.hub.send = send
        self.state.reset()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m local.providers.main", description=__doc__)
    parser.add_argument("--port", type=int, default=8026)
    parser.add_argument("--data", type=Path, help="where everything is stored (in memory if not given)")
    parser.add_argument("--app-url", default="", help="where Gna is, for links on the pages")
    options = parser.parse_args()
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    try:
        providers = Providers(options.data, options.app_url).start(options.port)
    except OSError as failure:
        reason = failure.strerror or str(failure)
        print(f"providers: port {options.port} cannot be used ({reason})", file=sys.stderr)
        return 1
    print(f"providers: {providers.url}", flush=True)
    ended.wait()
    providers.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
