"""Does the relay's work over and over, and dies by SIGKILL one step later each time. Run as a program of its own.

A step is whatever leaves the process: a call to AWS or to a receiver. What dies is a child that was forked before
it had made any connection.
"""

import os
import signal
import sys
from typing import Any

from chalicelib.events import jobs, outbox
from chalicelib.events.model import EventType
from chalicelib.events.webhooks import lanes
from chalicelib.kernel import fetch, ids, tables

_MOST_STEPS = 60


def main(webhook_id: str) -> None:
    for steps in range(_MOST_STEPS):
        about = ids.new()
        child = os.fork()
        if child == 0:
            _live(about, webhook_id, steps)
        _, status = os.waitpid(child, 0)
        print(about, steps, "killed" if os.WIFSIGNALED(status) else "done", flush=True)
        if not os.WIFSIGNALED(status):
            return
    raise SystemExit("it never came to an end")


def _live(about: str, webhook_id: str, steps: int) -> None:
    _die_after(steps)
    lanes._LEASE = 0  # the next child must not wait for the lease of this one to end
    first = outbox.record(EventType.SUBSCRIPTION_CREATED, about, {"subscriber_id": about})
    second = outbox.record(EventType.SUBSCRIPTION_CONFIRMED, about, {"subscriber_id": about})
    tables.transact(first, second)
    jobs.sweep()
    lanes.drain(webhook_id, lambda subscriber_id: None)
    os._exit(0)


def _die_after(steps: int) -> None:
    from botocore.httpsession import URLLib3Session

    left = [steps]

    def counted(call: Any) -> Any:
        def step(*given: Any, **named: Any) -> Any:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return call(*given, **named)

        return step

    URLLib3Session.send = counted(URLLib3Session.send)
    fetch.post = counted(fetch.post)


if __name__ == "__main__":
    main(sys.argv[1])
