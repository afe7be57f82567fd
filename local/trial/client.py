"""Calls to the app from an IP address of their own, and how long each took."""

import http.client
import itertools
import json
import threading
import time
from collections import Counter
from typing import Any

_LONGEST = 40.0


class Log:
    """Every answer: of which kind of request, its status (0: none), and how long it took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.times: dict[str, list[float]] = {}
        self.statuses: Counter[tuple[str, int]] = Counter()

    def note(self, kind: str, status: int, seconds: float) -> None:
        with self._lock:
            self.times.setdefault(kind, []).append(seconds)
            self.statuses[kind, status] += 1

    def table(self) -> str:
        lines = [f"{'request':<14}{'count':>7}{'p50 ms':>9}{'p90 ms':>9}{'p99 ms':>9}{'max ms':>9}  statuses"]
        for kind, times in sorted(self.times.items()):
            ordered = sorted(times)
            last = len(ordered) - 1
            slow = [ordered[min(last, int(len(ordered) * part))] * 1000 for part in (0.5, 0.9, 0.99, 1)]
            statuses = " ".join(
                f"{status or 'none'}:{n}" for (name, status), n in sorted(self.statuses.items()) if name == kind
            )
            lines.append(f"{kind:<14}{len(times):>7}" + "".join(f"{ms:>9.0f}" for ms in slow) + f"  {statuses}")
        return "\n".join(lines)


class Caller:
    """The local server takes the socket's address for the client's: each caller has one of the 127.0.0.0/8."""

    _numbers = itertools.count(1)

    def __init__(self, port: int, log: Log) -> None:
        number = next(self._numbers)
        self._source = f"127.{1 + number // 65_536 % 250}.{number // 256 % 256}.{number % 256}"
        self._port, self._log = port, log
        self.cookie = ""  # the last one it was given

    def ask(self, kind: str, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str, str]:
        """Status, place it leads to, text; status 0 if nobody answered. A body that is text is a form."""
        begun = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self._port, _LONGEST, source_address=(self._source, 0))
        form = isinstance(body, str)
        if body is not None:
            headers |= {"Content-Type": "application/x-www-form-urlencoded" if form else "application/json"}
        try:
            connection.request(method, path, body if form or body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            found = answer.status, answer.getheader("Location") or "", answer.read().decode(errors="replace")
            self.cookie = (answer.getheader("Set-Cookie") or self.cookie).partition(";")[0]
        except (OSError, http.client.HTTPException):
            found = 0, "", ""
        finally:
            connection.close()
        self._log.note(kind, found[0], time.monotonic() - begun)
        if not found[0]:
            time.sleep(0.5)  # nobody asks again at once who was not answered
        return found
