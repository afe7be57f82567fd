"""What runs without a reader waiting: the mail queue, the hourly clean-up, removals that wait their turn."""

from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.audience import erasure, letters, store, token_store
from chalicelib.census import service as census
from chalicelib.events import outbox
from chalicelib.kernel import clock, downloads, log
from chalicelib.kernel.errors import NotFound


def handle(message: Mapping[str, Any]) -> None:
    """One message of the mail queue."""
    kind, subscriber_id = str(message["kind"]), str(message["subscriber_id"])
    if kind == erasure.REMOVE:
        _remove(subscriber_id)
    else:
        letters.write(kind, subscriber_id)
        outbox.hurry(subscriber_id)  # here, so that the sign-up itself need not wait for one more call


def _remove(subscriber_id: str) -> None:
    try:
        erasure.remove(subscriber_id)
    except NotFound:
        log.info("removal.overtaken", subscriber_id=subscriber_id)


def clean_up(time_left: Callable[[], bool]) -> None:
    """Remove what has outlived its time: unconfirmed sign-ups, address changes and links. Each removal stands by
    itself, so that a run that is cut short, or runs beside another, leaves nothing half done."""
    now = clock.now()
    expired = forgotten = 0
    for subscriber_id in store.expired_sign_ups(now):
        if not time_left():
            break
        expired += erasure.expire(subscriber_id)
    for row in token_store.expired(now):
        if not time_left():
            break
        token_store.forget(row)
        forgotten += 1
    log.info("clean_up.done", expired=expired, tokens=forgotten, downloads=downloads.clean_up(), days=census.fold())
