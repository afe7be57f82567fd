"""A worker that can be killed at a named step: SIGKILL, from inside, so that nothing gets a chance to tidy up.

Started once as a process that has loaded the app; for every line on its standard input (`step occurrence`) it forks
a worker, lets it work, and says how it ended. Nothing of this is in the product: steps are wrapped from outside.
"""

import itertools
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import app
from chalicelib.campaigns import delivery_store, store
from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.sending import deliveries, mailer, part_store, supervisor, worker
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import settings
from chalicelib.kernel.aws import queues, session
from local.gateway import handlers
from local.polling import pollers
from tests.emulator.sending import LEASE_MS

# What a worker does, in the order it does it: where the function is, and whether to die before or after it.
STEPS: dict[str, tuple[Any, str, bool]] = {
    "before the plan": (part_store, "begin", False),
    "after the plan": (part_store, "begin", True),
    "between two orders": (queues, "send", True),
    "after taking a part": (part_store, "take", True),
    "before a claim": (part_store, "save", False),
    "after a claim": (part_store, "save", True),
    "before sending": (mailer.Mailer, "post", False),
    "after sending": (mailer.Mailer, "post", True),
    "after the last part": (supervisor, "_finish_if_last", False),
    "before the sums": (part_store, "expire", False),
    "before the end": (deliveries, "finish", False),
    "after the end": (deliveries, "finish", True),
    "while forgetting": (part_store, "forget", False),
    "in the sweep": (supervisor, "tend", True),
}


def main() -> None:
    _load()
    for line in sys.stdin:
        step, _, occurrence = line.strip().rpartition(" ")
        child = os.fork()
        if child == 0:
            _work(step, int(occurrence))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "ended", flush=True)


def _load() -> None:
    """All that a worker would read and import before it calls anybody: done once here, its children inherit it."""
    for service in ("sqs", "sesv2"):
        session.client(service)
    for row in (store.CampaignRow, delivery_store.DeliveryRow):
        row._get_connection().connection.client  # noqa: B018 - made by being asked for
    handlers.queues(app.app)
    renderer.render(campaigns.preview_detail(Draft("Hello", "<p>Hi</p>")))


def shorten_leases() -> None:
    worker.LEASE_MS = LEASE_MS
    worker._CALL_MS = 100


def _work(step: str, occurrence: int) -> None:
    shorten_leases()
    if step:
        _arm(step, occurrence)
    os.dup2(os.open(os.environ.get("LOUD", os.devnull), os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
    sqs = session.client("sqs")
    found = [
        poller
        for poller in pollers(app.app, sqs, settings.current().prefix)
        if poller.name in ("deliveries", "sending")
    ]
    (sweep,) = [schedule for schedule in handlers.schedules(app.app) if schedule.name == "sweep_deliveries"]
    idle = 0
    while idle < 3:
        sweep.handle()
        idle = 0 if sum(poller.poll() for poller in found) else idle + 1
        time.sleep(0.05 if idle else 0)


def _arm(step: str, occurrence: int) -> None:
    place, name, after = STEPS[step]
    real: Callable[..., Any] = getattr(place, name)
    calls = itertools.count(1)  # several threads come here

    def wrapped(*arguments: Any, **more: Any) -> Any:
        is_fatal = next(calls) == occurrence
        if is_fatal and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = real(*arguments, **more)
        if is_fatal and after:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    setattr(place, name, wrapped)


if __name__ == "__main__":
    main()
