"""Captures: one for each source through which a person signed up."""

import json
from datetime import datetime
from typing import Any

from msgspec import Struct
from pynamodb.attributes import NumberAttribute, UnicodeAttribute, UnicodeSetAttribute

from chalicelib.audience import model
from chalicelib.audience.model import Capture, Subscriber
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Delete, Put, Update, Write


class CaptureRow(tables.Row):
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
    expires_at = NumberAttribute(null=True)


class Description(Struct, frozen=True):
    """A capture as editors see it."""

    source: str
    status: str
    tags: tuple[str, ...]
    metadata: dict[str, Any] | None
    created_at: str
    updated_at: str


def list_descriptions(subscriber_id: str) -> list[Description]:
    """Oldest first."""
    rows = tables.query(CaptureRow, subscriber_id, consistent_read=True)
    found = [
        Description(
            source=row.source,
            status=row.status,
            tags=tuple(sorted(row.tags or ())),
            metadata=json.loads(row.metadata) if row.metadata else None,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )
        for row in rows
    ]
    return sorted(found, key=lambda description: description.created_at)


def describe(subscriber_id: str) -> list[dict[str, Any]]:
    """Every capture, for the person to download."""
    return [
        {
            "source": row.source,
            "source_raw": row.source_raw,
            "status": row.status,
            "tags": sorted(row.tags or ()),
            "metadata": json.loads(row.metadata) if row.metadata else None,
            "ip_hash": row.ip_hash,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
        }
        for row in tables.query(CaptureRow, subscriber_id, consistent_read=True)
    ]


def request_write(subscriber_id: str, capture: Capture, now: datetime) -> Write:
    """The capture, to be confirmed. One that exists already keeps its creation time and its status."""
    row = CaptureRow(subscriber_id, capture.source)
    moment = clock.text(now)
    values: list[Any] = [
        CaptureRow.source_raw.set(capture.source_raw),
        CaptureRow.status.set(CaptureRow.status | model.CAPTURE_PENDING),
        CaptureRow.created_at.set(CaptureRow.created_at | moment),
        CaptureRow.updated_at.set(moment),
    ]
    if capture.tags:
        values.append(CaptureRow.tags.set(set(capture.tags)))
    if capture.metadata is not None:
        values.append(CaptureRow.metadata.set(json.dumps(capture.metadata, ensure_ascii=False)))
    if capture.ip_hash:
        values.append(CaptureRow.ip_hash.set(capture.ip_hash))
    return Update(row, values)


def confirm_writes(subscriber: Subscriber, now: datetime) -> list[Write]:
    actions = [CaptureRow.status.set(model.CAPTURE_CONFIRMED), CaptureRow.updated_at.set(clock.text(now))]
    return [
        Update(CaptureRow(subscriber.id, source), actions, CaptureRow.status.exists())
        for source in sorted(subscriber.requested_sources)
    ]


def expire_writes(subscriber: Subscriber, now: datetime) -> list[Write]:
    """An id-only tombstone of each capture is kept for a while."""
    return [_tombstone_write(subscriber, source, now) for source in sorted(subscriber.requested_sources)]


def delete_writes(subscriber: Subscriber) -> list[Write]:
    sources = sorted(subscriber.sources | subscriber.requested_sources)
    return [Delete(CaptureRow(subscriber.id, source)) for source in sources]


def _tombstone_write(subscriber: Subscriber, source: str, now: datetime) -> Write:
    row = CaptureRow(
        subscriber.id,
        source,
        status=model.CAPTURE_EXPIRED,
        created_at=clock.text(subscriber.created_at),
        updated_at=clock.text(now),
        expires_at=clock.epoch(now + model.EXPIRED_CAPTURE_LIFE),
    )
    return Put(row)
