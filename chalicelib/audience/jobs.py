"""Background work: the audience queue (mails, sign-ups, deferred removals) and the hourly clean-up."""

from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.audience import asking, erasure, filling, held, mails, model, places, sign_ups, welcomes
from chalicelib.audience import counts as audience_counts
from chalicelib.audience.imports import jobs as import_jobs
from chalicelib.audience.stores import captures, subscribers
from chalicelib.audience.stores import sign_ups as sign_up_store
from chalicelib.audience.stores import tokens as token_store
from chalicelib.audience.tags import jobs as tag_jobs
from chalicelib.events import outbox
from chalicelib.kernel import clock, limits, log
from chalicelib.kernel.aws import files, queues


def handle(message: Mapping[str, Any]) -> None:
    """One message of the audience queue."""
    kind = str(message["kind"])
    if kind == model.SIGN_UP:
        _process_sign_up(str(message["pseudonym"]))
    elif kind == model.RELEASE:
        asking.release()
        held.release()
    elif kind == erasure.REMOVE:
        erasure.handle_removal(message)
    else:
        mails.send(kind, str(message["subscriber_id"]))


def _process_sign_up(pseudonym: str) -> None:
    processed = sign_ups.process(pseudonym)
    if processed:
        mails.confirm(processed.subscriber_id, processed.network)
        outbox.relay_soon(processed.subscriber_id)
        sign_up_store.forget(pseudonym)


def clean_up(time_left: Callable[[], bool]) -> None:
    """Remove what has expired (unconfirmed sign-ups and requests, address changes, links, counts) and requeue what
    the queue gave up on. Each step is complete in itself, so a run that is cut short, or runs beside another, leaves
    nothing half done."""
    now = clock.now()
    requeued = expired = withdrawn = forgotten = 0
    for subscriber_id in subscribers.list_expired(now):
        if not time_left():
            break
        expired += erasure.expire(subscriber_id)
    for subscriber_id, source in captures.list_expired(now):
        if not time_left():
            break
        withdrawn += erasure.expire_request(subscriber_id, source)
    for row in token_store.list_expired(now):
        if not time_left():
            break
        if not welcomes.send_forgotten(row):
            token_store.forget(row)
            forgotten += 1
    for pseudonym in sign_up_store.list_overdue(now):
        if not time_left():
            break
        queues.send("audience", {"kind": model.SIGN_UP, "pseudonym": pseudonym})
        requeued += 1
    held.release_forgotten()
    counts = {"again": requeued, "expired": expired, "requests": withdrawn, "tokens": forgotten}
    counts |= {"imports": import_jobs.sweep(time_left), "tags": tag_jobs.sweep()}
    counts |= {"filled": filling.fill(time_left), "merged": places.merge(time_left)}
    counts |= {"limits": limits.clean_up(now, time_left), "downloads": files.clean_up()}
    log.info("clean_up.done", **counts, days=audience_counts.fold())
