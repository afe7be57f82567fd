"""Does one action of this room again and again, and dies by SIGKILL one step later each time, until it survives.
Run as a program of its own.

A step is whatever leaves the process: a call to AWS or to a receiver. What dies is a child that was forked before
it had made any connection. Each life has an aggregate of its own, so that no later one makes up for it.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from chalicelib.events import jobs, outbox, store
from chalicelib.events.model import Event, EventType
from chalicelib.events.webhooks import dispatch, replay, service
from chalicelib.events.webhooks import store as webhook_store
from chalicelib.kernel import clock, ids, locks
from chalicelib.kernel.aws import connection, raw, session, tables
from chalicelib.kernel.http import client

_MOST_STEPS = 60


def send(about: str, webhook_id: str, arm: Callable[[], None]) -> None:
    """A change, and all the way to the receiver."""
    arm()
    tables.transact(*_two(about))
    jobs.sweep()
    dispatch.drain(webhook_id, nobody)


def replay_range(about: str, webhook_id: str, arm: Callable[[], None]) -> None:
    """The message of a replayed time range, printed, so that the queue can bring it again."""
    rows: list[Any] = [write.row for write in _two(about)]
    tables.transact(*map(tables.Put, rows))
    for row in rows:  # relayed when there was no webhook yet
        store.mark_processed(Event(row.id, about, row.type, {}, row.created_at), clock.now())
    day, first, last = clock.now().date().isoformat(), rows[0].id, rows[1].id + "~"
    message = {"replay": webhook_id, "day": day, "shard": 0, "after": first, "first": first, "until": last}
    print("message", json.dumps(message), flush=True)
    arm()
    jobs.work(message, nobody)


def rotate(about: str, webhook_id: str, arm: Callable[[], None]) -> None:
    """A new secret; the last step is the answer that shows it."""
    arm()
    service.rotate(webhook_id)
    service.get(webhook_id)


def nobody(subscriber_id: str) -> None:
    return None


def _two(about: str) -> list[tables.Put]:
    types = (EventType.SUBSCRIPTION_CREATED, EventType.SUBSCRIPTION_CONFIRMED)
    return [outbox.event_write(type, about, {"subscriber_id": about}) for type in types]


def main(webhook_id: str, action: Callable[[str, str, Callable[[], None]], None]) -> None:
    _get_ready()
    for steps in range(_MOST_STEPS):
        about = ids.new()
        child = os.fork()
        if child == 0:
            replay._AT_ONCE = 1  # more than one page
            dispatch._LEASE = 0  # the next child must not wait for the lease of this one to end
            action(about, webhook_id, partial(_die_after, steps))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status)
        print(about, steps, "killed" if killed else "done", flush=True)
        if not killed:
            raise SystemExit(os.waitstatus_to_exitcode(status))
    raise SystemExit("it never came to an end")


def _get_ready() -> None:
    """Whatever can be made without connecting is made once, not in every life."""
    import urllib3.connection  # noqa: F401

    connection.patient().client  # noqa: B018
    raw._connection(session.botocore_session(), raw._SQS)
    for row in (store.EventRow, webhook_store.WebhookRow, webhook_store.DispatchRow, locks.LockRow):
        row._get_connection()


def _die_after(steps: int) -> None:
    from botocore.httpsession import URLLib3Session

    remaining = [steps]

    def counted(call: Any) -> Any:
        def step(*given: Any, **named: Any) -> Any:
            if remaining[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            remaining[0] -= 1
            return call(*given, **named)

        return step

    URLLib3Session.send = counted(URLLib3Session.send)
    client.post = counted(client.post)


if __name__ == "__main__":
    main(sys.argv[1], {"send": send, "replay_range": replay_range, "rotate": rotate}[sys.argv[2]])
