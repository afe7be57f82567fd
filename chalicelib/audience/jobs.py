"""What runs without a reader waiting: the mail queue, the hourly clean-up, removals that wait their turn."""

from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.audience import counts as audience_counts
from chalicelib.audience import erasure, mails, model, sign_ups
from chalicelib.audience.stores import sign_ups as sign_up_store
from chalicelib.audience.stores import subscribers
from chalicelib.audience.stores import tokens as token_store
from chalicelib.events import outbox
from chalicelib.kernel import clock, log
from chalicelib.kernel.aws import files, queues
from chalicelib.kernel.errors import NotFound


def handle(message: Mapping[str, Any]) -> None:
    """One message of the mail queue."""
    kind = str(message["kind"])
    if kind == model.SIGN_UP:
        _sign_up(str(message["mark"]))
    elif kind == erasure.REMOVE:
        _remove(str(message["subscriber_id"]))
    else:
        mails.send(kind, str(message["subscriber_id"]))


def _sign_up(mark: str) -> None:
    subscriber_id = sign_ups.take_in(mark)
    if subscriber_id:
        mails.send(model.CONFIRM, subscriber_id)
        outbox.relay_soon(subscriber_id)
        sign_up_store.forget(mark)


def _remove(subscriber_id: str) -> None:
    try:
        erasure.remove(subscriber_id)
    except NotFound:
        log.info("removal.overtaken", subscriber_id=subscriber_id)


def clean_up(time_left: Callable[[], bool]) -> None:
    """Remove what has outlived its time: unconfirmed sign-ups, address changes and links; hand over once more what
    the queue gave up. Each stands by itself, so that a run that is cut short, or runs beside another, leaves nothing
    half done."""
    now = clock.now()
    again = expired = forgotten = 0
    for subscriber_id in subscribers.list_expired(now):
        if not time_left():
            break
        expired += erasure.expire(subscriber_id)
    for row in token_store.list_expired(now):
        if not time_left():
            break
        token_store.forget(row)
        forgotten += 1
    for mark in sign_up_store.list_left_behind(now):
        if not time_left():
            break
        queues.send("audience", {"kind": model.SIGN_UP, "mark": mark})
        again += 1
    counts = {"again": again, "expired": expired, "tokens": forgotten, "downloads": files.clean_up()}
    log.info("clean_up.done", **counts, days=audience_counts.fold())
