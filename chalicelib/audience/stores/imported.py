"""People an import adds: active at once, or pending until they answer the confirmation they are asked for."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from chalicelib.audience import model
from chalicelib.audience.model import Capture, Request, Subscriber
from chalicelib.audience.stores import asked, captures, emails, searchable, subscribers
from chalicelib.audience.stores.captures import CaptureRow
from chalicelib.audience.stores.subscriber_row import SubscriberRow
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Put, Update, Write


def list_subscribers(subscriber_ids: Iterable[str]) -> list[Subscriber]:
    return [subscribers.parse_subscriber(row) for row in tables.get_many(SubscriberRow, subscriber_ids)]


def add_writes(subscriber: Subscriber, stored: Sequence[Capture], now: datetime) -> list[Write]:
    """Somebody new who need not confirm."""
    row = SubscriberRow(
        subscriber.id,
        email=subscriber.email,
        nickname=subscriber.nickname,
        status=model.ACTIVATED,
        unsubscribe_secret=subscriber.unsubscribe_secret,
        created_at=clock.text(subscriber.created_at),
        activated_at=clock.text(now),
        sources=set(subscriber.sources),
        tags=set(subscriber.tags) or None,
        paused_at=clock.text(subscriber.paused_at) if subscriber.paused_at else None,
        paused_because=subscriber.paused_because,
        import_id=subscriber.import_id,
        imported_as=subscriber.fingerprint if subscriber.import_id else subscriber.imported_as,
        unmailed=subscriber.unmailed,
    )
    new = Put(searchable.with_attributes(row), SubscriberRow.id.does_not_exist())
    taken = [emails.take_write(subscriber, now), new]
    return [*taken, *(_capture_write(subscriber, capture, now) for capture in stored)]


def ask_writes(subscriber: Subscriber, request: Request, now: datetime) -> list[Write]:
    """Somebody new who has to confirm; from an import, when it is their turn to be asked."""
    turn = [asked.ask_write(subscriber.id, now)] if subscriber.import_id else []
    return [*subscribers.create_writes(subscriber, now), captures.request_write(subscriber, request), *turn]


def tag_write(subscriber: Subscriber, tags: frozenset[str]) -> Write:
    """Tags for somebody who reads already, provided that theirs are those they were weighed against."""
    same = SubscriberRow.tags == set(subscriber.tags) if subscriber.tags else SubscriberRow.tags.does_not_exist()
    condition = (SubscriberRow.status == subscriber.status) & same
    return Update(SubscriberRow(subscriber.id), [SubscriberRow.tags.add(set(tags))], condition)


def _capture_write(subscriber: Subscriber, capture: Capture, now: datetime) -> Write:
    return Put(
        CaptureRow(
            subscriber.id,
            capture.source,
            source_raw=capture.source_raw,
            status=model.CAPTURE_CONFIRMED,
            tags=set(capture.tags) or None,
            metadata=model.encode_metadata(capture.metadata) if capture.metadata else None,
            ip_hash=capture.ip_hash,
            created_at=clock.text(subscriber.created_at),
            updated_at=clock.text(now),
        )
    )
