"""The WebSub hub: it asks whether a subscription is wanted, and then pushes every change, signed.

What it sends goes through `send`, which a test may replace; by default it connects to this machine only.
"""

import contextlib
import hmac
import http.client
import queue
import secrets
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

from local.gateway.gateway import Answer
from local.providers.library import Library
from local.providers.model import Video, instant
from local.providers.state import Lease, State
from local.providers.wire import text_answer
from local.providers.youtube import atom

Send = Callable[[str, str, dict[str, str], bytes], tuple[int, bytes]]

_USUAL_LEASE, _LONGEST_LEASE = 432_000, 864_000
_RETRIES = (0.3, 1.0, 3.0)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Hub:
    def __init__(self, state: State) -> None:
        self._state = state
        self._jobs: queue.Queue[Callable[[], None]] = queue.Queue()
        self._worker = threading.Thread(target=self._work, name="hub", daemon=True)
        self._lock = threading.Lock()
        self._age = 0  # of what the hub remembers: what was begun before it was told to forget is not finished
        self.send: Send = send
        self.pushes: deque[dict[str, Any]] = deque(maxlen=50)  # the newest first

    def subscribe(self, form: dict[str, str]) -> Answer:
        """202: whether it is wanted is asked afterwards."""
        mode, topic, callback = (form.get(f"hub.{name}", "") for name in ("mode", "topic", "callback"))
        if mode not in ("subscribe", "unsubscribe"):
            return text_answer("Invalid value for hub.mode", "text/plain", 400)
        if urlsplit(callback).scheme not in ("http", "https") or not topic:
            return text_answer("Invalid parameter: hub.callback or hub.topic", "text/plain", 400)
        asked = form.get("hub.lease_seconds", "")
        seconds = min(
            int(asked) if asked.isascii() and asked.isdigit() and int(asked) else _USUAL_LEASE, _LONGEST_LEASE
        )
        lease = Lease(callback, topic, form.get("hub.secret", ""), self._state.now() + seconds)
        age = self._age
        self._start(lambda: self._verify(mode, lease, seconds, age))
        return Answer(202, [("Content-Type", "text/plain")], b"")

    def _verify(self, mode: str, lease: Lease, seconds: int, age: int) -> None:
        challenge = secrets.token_urlsafe(24)
        question = {"hub.topic": lease.topic, "hub.challenge": challenge, "hub.mode": mode}
        if mode == "subscribe":
            question["hub.lease_seconds"] = str(seconds)
        url = lease.callback + ("&" if "?" in lease.callback else "?") + urlencode(question)
        status, body = self.send("GET", url, {}, b"")
        if not 200 <= status < 300 or body.strip() != challenge.encode() or age != self._age:
            return
        with self._state.change():
            same = (lease.callback, lease.topic)
            others = [each for each in self._state.leases if (each.callback, each.topic) != same]
            self._state.leases = [*others, lease] if mode == "subscribe" else others

    def announce(self, library: Library, video: Video) -> None:
        """Tell everyone who subscribed. What was never public is nobody's news, but its end is told all the same."""
        if video.state == "scheduled" or (video.state == "private" and video.updated == video.uploaded):
            return
        channel = library.channel(video.channel_id)
        document = (atom.push if video.is_public else atom.tombstone)(channel, video)
        with self._state.lock:
            now = self._state.now()
            leases = [
                each for each in self._state.leases if each.topic == atom.TOPIC + channel.id and each.until > now
            ]
        if self._state.faults["youtube"].hub_down or self._state.faults["youtube"].outage:
            return
        for lease in leases:
            self._start(lambda lease=lease: self._push(lease, video, document.encode()))  # type: ignore[misc]

    def _push(self, lease: Lease, video: Video, body: bytes) -> None:
        headers = {
            "Content-Type": "application/atom+xml",
            "Link": f"<{lease.topic}>; rel=self, <http://pubsubhubbub.appspot.com/>; rel=hub",
            "From": "googlebot(at)googlebot.com",
        }
        if lease.secret:
            headers["X-Hub-Signature"] = "sha1=" + hmac.digest(lease.secret.encode(), body, "sha1").hex()
        age = self._age
        for wait in (*_RETRIES, None):
            status, _ = self.send("POST", lease.callback, headers, body)
            if 200 <= status < 300 or wait is None:
                break
            time.sleep(wait)
            if age != self._age:
                return
        what = video.title if video.is_public else "A deleted or private video"
        self.pushes.appendleft({"at": instant(self._state.now()), "what": what, "status": status})

    def forget(self) -> None:
        """Leave out what has not been verified or pushed yet."""
        self._age += 1
        with contextlib.suppress(queue.Empty):
            while True:
                self._jobs.get_nowait()
                self._jobs.task_done()
        self.pushes.clear()

    def flush(self, seconds: float = 10.0) -> None:
        """Wait until everything has been verified and pushed."""
        until = time.monotonic() + seconds
        while self._jobs.unfinished_tasks:
            if time.monotonic() > until:
                raise TimeoutError("The hub has not finished what it has to verify and push")
            time.sleep(0.005)

    def _start(self, job: Callable[[], None]) -> None:
        self._jobs.put(job)
        with self._lock:
            if self._worker.ident is None:
                self._worker.start()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                job()
            except Exception as failure:  # a callback of a test may raise; the next push must not suffer for it
                print(f"providers: a push failed: {type(failure).__name__}: {failure}", file=sys.stderr)
            finally:
                self._jobs.task_done()


def send(method: str, url: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
    """Status and body; 0 if there was no answer. Nothing leaves this machine."""
    parts = urlsplit(url)
    if parts.hostname not in _LOOPBACK or parts.scheme != "http":
        return 0, b""
    connection = http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=10)
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target or "/", body or None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read(100_000)
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()
