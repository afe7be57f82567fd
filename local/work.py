"""The process for background work: queue handlers and schedules of `app.py`."""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from chalicelib.kernel import log, settings
from chalicelib.kernel.aws import session
from local import cadence
from local.gateway import handlers
from local.gateway.handlers import ScheduleHandler
from local.options import Options, read
from local.polling import Poller, pollers
from local.warming import warm_up

_WAIT_SECONDS = 10
_AT_ONCE = 2  # workers per queue: enough to run into each other
_GRACE = 8.0


class Workers:
    """Threads that can be stopped, and how many of them are busy."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self._idle = threading.Condition()
        self._busy = 0

    def start(self, *pollers: Poller) -> None:
        for poller in pollers:
            for _ in range(_AT_ONCE):
                threading.Thread(target=self._poll, args=(poller,), daemon=True).start()

    def schedule(self, schedule: ScheduleHandler, tick: float | None) -> None:
        threading.Thread(target=self._repeat, args=(schedule, tick), daemon=True).start()

    def end(self) -> None:
        """Wait a while for work that has begun to end; idle threads are not waited for."""
        self.ended.set()
        with self._idle:
            self._idle.wait_for(lambda: self._busy == 0, _GRACE)

    def _poll(self, poller: Poller) -> None:
        while not self.ended.is_set():
            try:
                poller.poll(_WAIT_SECONDS, working=self._working)
            except Exception as failure:
                log.exception("poll.failed", failure, handler=poller.name)
                self.ended.wait(1)

    def _repeat(self, schedule: ScheduleHandler, tick: float | None) -> None:
        # Once at the start: the first check of a feed only records its entries, and should not come after a post.
        with self._working():
            schedule.handle()
        due = cadence.times(schedule.expression, datetime.now(UTC))
        while not self.ended.wait(tick or max(0.0, next(due).timestamp() - time.time())):
            with self._working():
                schedule.handle()

    @contextmanager
    def _working(self) -> Iterator[None]:
        with self._idle:
            self._busy += 1
        try:
            yield
        finally:
            with self._idle:
                self._busy -= 1
                self._idle.notify_all()


def main() -> int:
    import app

    workers = Workers()
    signal.signal(signal.SIGTERM, lambda *_: workers.ended.set())
    warm_up(workers.ended)
    workers.start(*pollers(app.app, _patient_client(), settings.current().prefix))
    options = read(os.environ)
    _wait_for_app(options, workers.ended)
    for schedule in handlers.schedules(app.app):
        workers.schedule(schedule, options.tick)
    workers.ended.wait()
    workers.end()
    return 0


def _wait_for_app(options: Options, ended: threading.Event) -> None:
    """The feed is a page of the demo site: a check before it is served would count as a failure."""
    until = time.monotonic() + 60
    while not ended.is_set() and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", options.port), 1).close()
            return
        except OSError:
            ended.wait(0.1)


def _patient_client() -> Any:
    """The app's own client would time out on a long poll."""
    from botocore.config import Config

    return session.session().client("sqs", config=Config(read_timeout=60, max_pool_connections=100))


if __name__ == "__main__":
    sys.exit(main())
