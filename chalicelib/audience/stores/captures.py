"""Captures: one for each source through which a person signed up.

A row has two parts. What was confirmed changes only when a mailed link is opened; the request that waits for its link
is beside it, with an expiry of its own. A sparse index holds the rows with a request.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from pynamodb.attributes import NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.audience import model
from chalicelib.audience.model import Request, StoredCapture, Subscriber
from chalicelib.audience.stores import requests
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Delete, Update, Write


class WaitingIndex(GlobalSecondaryIndex["CaptureRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "waiting"
        projection = KeysOnlyProjection()

    # Spread by subscriber, so that no partition is hot, however many sign-ups there are.
    subscriber_id = UnicodeAttribute(hash_key=True)
    waits_until = UnicodeAttribute(range_key=True)


class CaptureRow(tables.Row):
    """`expires_at` is the table's TTL and set on tombstones only; `waits_until` is when the request expires."""

    class Meta:
        table_name = tables.name("captures")

    subscriber_id = UnicodeAttribute(hash_key=True)
    source = UnicodeAttribute(range_key=True)
    source_raw = UnicodeAttribute(null=True)
    status = UnicodeAttribute()
    tags = UnicodeSetAttribute(null=True)
    metadata = UnicodeAttribute(null=True)
    ip_hash = UnicodeAttribute(null=True)
    created_at = UnicodeAttribute()
    updated_at = UnicodeAttribute()
    request = UnicodeAttribute(null=True)
    request_id = UnicodeAttribute(null=True)
    waits_until = UnicodeAttribute(null=True)
    expires_at = NumberAttribute(null=True)

    waiting = WaitingIndex()


def list_stored(subscriber_id: str) -> list[StoredCapture]:
    return [_parse(row) for row in tables.query(CaptureRow, subscriber_id, consistent_read=True)]


def describe(subscriber_id: str) -> list[dict[str, Any]]:
    """Every capture, for the person to download."""
    return [
        {
            "source": stored.source,
            "source_raw": stored.source_raw,
            "status": stored.status,
            "tags": sorted(stored.tags),
            "metadata": stored.metadata,
            "ip_hash": stored.ip_hash,
            "created_at": clock.text(stored.created_at),
            "updated_at": clock.text(stored.updated_at),
            "waits_for_confirmation": _describe_request(stored.request) if stored.request else None,
        }
        for stored in list_stored(subscriber_id)
    ]


def find_request(subscriber_id: str, source: str) -> Request | None:
    """What waits for this source."""
    row = tables.get(CaptureRow, subscriber_id, source)
    return _parse_request(row) if row else None


def list_requests(subscriber_id: str, now: datetime) -> list[Request]:
    """What can still be confirmed, newest first."""
    condition = CaptureRow.waits_until > clock.text(now)
    rows = tables.query(CaptureRow, subscriber_id, filter_condition=condition, consistent_read=True)
    found = [request for row in rows if (request := _parse_request(row))]
    return sorted(found, key=lambda request: request.id, reverse=True)


def open_requests(stored: Iterable[StoredCapture], now: datetime) -> list[Request]:
    """The same of captures at hand."""
    found = [capture.request for capture in stored if capture.request and capture.request.expires_at > now]
    return sorted(found, key=lambda request: request.id, reverse=True)


def list_expired(now: datetime) -> Iterator[tuple[str, str]]:
    """Subscriber and source of requests nobody confirmed in time; an index may be a moment late."""
    condition = CaptureRow.waits_until <= clock.text(now)
    for row in tables.scan(CaptureRow, index_name="waiting", filter_condition=condition):
        yield row.subscriber_id, row.source


def metadata_bytes(subscriber_id: str, requested_source: str) -> int:
    """Of all captures and requests but the request that waits for this source, which is about to be replaced."""
    found = list_stored(subscriber_id)
    waiting = [each.request.capture for each in found if each.request and each.source != requested_source]
    metadata = [each.metadata for each in found] + [each.metadata for each in waiting]
    return sum(len(model.encode_metadata(each).encode()) for each in metadata if each)


def request_write(subscriber: Subscriber, request: Request) -> Write:
    """Let the request wait, in place of an earlier one of the same source. Without anything confirmed, the row may be
    the tombstone of a capture that expired: nothing of it stays."""
    moment = clock.text(request.requested_at)
    source = request.capture.source
    actions: list[Any] = [
        CaptureRow.updated_at.set(moment),
        CaptureRow.request.set(requests.encode(request)),
        CaptureRow.request_id.set(request.id),
        CaptureRow.waits_until.set(clock.text(request.expires_at)),
        CaptureRow.expires_at.remove(),
    ]
    if source not in subscriber.sources:
        waits_already = source in subscriber.requested_sources
        created_at = CaptureRow.created_at | moment if waits_already else moment
        actions += [CaptureRow.status.set(model.CAPTURE_PENDING), CaptureRow.created_at.set(created_at)]
        actions += _clear_actions()
    return Update(CaptureRow(subscriber.id, source), actions)


def extend_write(subscriber_id: str, request: Request, until: datetime) -> Write:
    """A newly mailed link gives its request the full lifetime again. Fails if a newer request took its place."""
    actions = [CaptureRow.waits_until.set(clock.text(until))]
    return Update(CaptureRow(subscriber_id, request.capture.source), actions, CaptureRow.request_id == request.id)


def confirm_write(
    subscriber_id: str, request: Request, waiting: Request, now: datetime, *, keep_waiting: bool
) -> Write:
    """`waiting` is what was found in the row: the request itself, or a newer one whose link was not mailed yet."""
    capture = request.capture
    actions: list[Any] = [
        CaptureRow.status.set(model.CAPTURE_CONFIRMED),
        CaptureRow.updated_at.set(clock.text(now)),
        CaptureRow.source_raw.set(capture.source_raw),
    ]
    if capture.tags:
        actions.append(CaptureRow.tags.set(set(capture.tags)))
    if capture.metadata is not None:
        actions.append(CaptureRow.metadata.set(model.encode_metadata(capture.metadata)))
    if capture.ip_hash:
        actions.append(CaptureRow.ip_hash.set(capture.ip_hash))
    if not keep_waiting:
        actions += _withdraw_actions()
    return Update(CaptureRow(subscriber_id, capture.source), actions, CaptureRow.request_id == waiting.id)


def withdraw_write(subscriber_id: str, request: Request, now: datetime) -> Write:
    """The request of a confirmed source expires; what was confirmed stays as it is."""
    row = CaptureRow(subscriber_id, request.capture.source)
    return Update(row, _withdraw_actions(), _is_expired(request, now))


def expire_write(subscriber_id: str, request: Request, now: datetime) -> Write:
    return _tombstone_write(subscriber_id, request.capture.source, now, _is_expired(request, now))


def expire_writes(subscriber: Subscriber, now: datetime) -> list[Write]:
    return [_tombstone_write(subscriber.id, source, now) for source in sorted(subscriber.requested_sources)]


def delete_writes(subscriber: Subscriber) -> list[Write]:
    sources = sorted(subscriber.sources | subscriber.requested_sources)
    return [Delete(CaptureRow(subscriber.id, source)) for source in sources]


def _tombstone_write(subscriber_id: str, source: str, now: datetime, condition: Any = None) -> Write:
    """Ids and times only, kept for a while."""
    moment = clock.text(now)
    actions = [
        CaptureRow.status.set(model.CAPTURE_EXPIRED),
        CaptureRow.created_at.set(CaptureRow.created_at | moment),
        CaptureRow.updated_at.set(moment),
        CaptureRow.expires_at.set(clock.epoch(now + model.EXPIRED_CAPTURE_LIFE)),
        *_clear_actions(),
        *_withdraw_actions(),
    ]
    return Update(CaptureRow(subscriber_id, source), actions, condition)


def _is_expired(request: Request, now: datetime) -> Any:
    return (CaptureRow.request_id == request.id) & (CaptureRow.waits_until <= clock.text(now))


def _clear_actions() -> list[Any]:
    fields = (CaptureRow.source_raw, CaptureRow.tags, CaptureRow.metadata, CaptureRow.ip_hash)
    return [field.remove() for field in fields]


def _withdraw_actions() -> list[Any]:
    return [field.remove() for field in (CaptureRow.request, CaptureRow.request_id, CaptureRow.waits_until)]


def _parse(row: CaptureRow) -> StoredCapture:
    return StoredCapture(
        source=row.source,
        source_raw=row.source_raw,
        status=row.status,
        tags=frozenset(row.tags or ()),
        metadata=json.loads(row.metadata) if row.metadata else None,
        ip_hash=row.ip_hash,
        created_at=clock.parse(row.created_at),
        updated_at=clock.parse(row.updated_at),
        request=_parse_request(row),
    )


def _parse_request(row: CaptureRow) -> Request | None:
    return requests.parse(row.request, clock.parse(row.waits_until)) if row.request and row.waits_until else None


def _describe_request(request: Request) -> dict[str, Any]:
    return {
        "source_raw": request.capture.source_raw,
        "tags": sorted(request.capture.tags),
        "metadata": request.capture.metadata,
        "ip_hash": request.capture.ip_hash,
        "nickname": request.nickname,
        "lang": request.lang,
        "requested_at": clock.text(request.requested_at),
        "expires_at": clock.text(request.ends_at) if request.ends_at else None,
    }
