"""What opening a confirmation link changes: the request it was mailed for is confirmed, and nothing else."""

from datetime import datetime

from chalicelib.audience import counts, model, pausing, sign_ups, welcomes
from chalicelib.audience.model import Request, Subscriber
from chalicelib.audience.stores import captures, subscribers
from chalicelib.audience.stores import tokens as token_store
from chalicelib.audience.stores.tokens import TokenRow
from chalicelib.events.model import EventType
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Write


def confirm(subscriber: Subscriber, row: TokenRow, now: datetime) -> bool:
    """False if nothing waits any more. Raises `Stale` when something moved meanwhile, such as a second click."""
    request = row.mailed_for()
    if not request:
        return False  # mailed by a version whose links did not name a request
    try:
        _confirm(subscriber, row, request, request, now)
        return True
    except Stale:
        waiting = captures.find_request(subscriber.id, request.capture.source)
        if not waiting and not _was_used(row):
            return False
        if not waiting or waiting.id == request.id:
            raise
    _confirm(subscriber, row, request, waiting, now)
    return True


def _confirm(subscriber: Subscriber, row: TokenRow, request: Request, waiting: Request, now: datetime) -> None:
    """`waiting` is the request in the row of the capture: this one, or a newer one whose link was not mailed, which
    goes on waiting if it has more to add."""
    more = waiting.id != request.id and not waiting.capture.tags <= subscriber.tags | request.capture.tags
    tables.transact(
        token_store.use_write(row, now),
        *_join_writes(subscriber, request, now, keep_waiting=more),
        captures.confirm_write(subscriber.id, request, waiting, now, keep_waiting=more),
        sign_ups.event_write(EventType.SUBSCRIPTION_CONFIRMED, subscriber.id, request.capture.source),
    )


def _join_writes(subscriber: Subscriber, request: Request, now: datetime, *, keep_waiting: bool) -> list[Write]:
    if subscriber.activated:
        resumed = pausing.event_writes(subscriber, pausing.BY_PERSON)
        return [subscribers.join_write(subscriber, request, now, keep_waiting=keep_waiting), *resumed]
    activation = subscribers.activate_writes(subscriber, request, now, keep_waiting=keep_waiting)
    return [*activation, *counts.move_writes(now, joined=[subscriber]), *welcomes.owe_writes(subscriber, now)]


def _was_used(row: TokenRow) -> bool:
    found = token_store.find(row.subscriber_id, model.CONFIRM)
    return found is not None and found.used_at is not None
