"""Deliveries in DynamoDB: one row each, under its campaign. How far a delivery has come is in `part_store`."""

from datetime import datetime
from typing import Any

from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.campaigns.model import Counts, Delivery, DeliveryState
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables


class DeliveryRow(tables.Row):
    class Meta:
        table_name = tables.name("deliveries")

    campaign_id = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)
    channel_type = UnicodeAttribute()
    content = UnicodeAttribute(null=True)
    state = UnicodeAttribute()
    recipients = NumberAttribute()
    sent_count = NumberAttribute()
    failure_count = NumberAttribute()
    unknown_count = NumberAttribute()
    error_detail = UnicodeAttribute(null=True)
    note = UnicodeAttribute(null=True)
    attempt = NumberAttribute()
    created_at = UnicodeAttribute()
    started_at = UnicodeAttribute(null=True)
    finished_at = UnicodeAttribute(null=True)
    at_once = BooleanAttribute(null=True)


def list_deliveries(campaign_id: str) -> tuple[Delivery, ...]:
    return tuple(_delivery(row) for row in tables.query(DeliveryRow, campaign_id, consistent_read=True))


def create_write(delivery: Delivery) -> tables.Write:
    return tables.Put(_row(delivery), DeliveryRow.id.does_not_exist())


def step_write(before: Delivery, after: Delivery) -> tables.Write:
    """Holds only if state and attempt of the delivery are still what was read."""
    same = (DeliveryRow.state == before.state.value) & (DeliveryRow.attempt == before.attempt)
    return tables.Put(_row(after), same)


def delete_write(delivery: Delivery) -> tables.Write:
    return tables.Delete(DeliveryRow(delivery.campaign_id, delivery.id))


def annotate(delivery: Delivery, note: str | None) -> None:
    """Raises `Stale` if the delivery is no longer being sent on this attempt."""
    _change(delivery, DeliveryRow.note.set(note) if note else DeliveryRow.note.remove())


def expect(delivery: Delivery, recipients: int) -> None:
    """Raises `Stale` like `annotate`."""
    _change(delivery, DeliveryRow.recipients.set(recipients))


def _change(delivery: Delivery, action: Any) -> None:
    same = (DeliveryRow.state == DeliveryState.SENDING.value) & (DeliveryRow.attempt == delivery.attempt)
    tables.update(DeliveryRow(delivery.campaign_id, delivery.id), [action], same)


def _row(delivery: Delivery) -> DeliveryRow:
    return DeliveryRow(
        delivery.campaign_id,
        delivery.id,
        channel_type=delivery.channel_type,
        content=delivery.content,
        state=delivery.state.value,
        error_detail=delivery.error_detail,
        note=delivery.note,
        attempt=delivery.attempt,
        created_at=clock.text(delivery.created_at),
        started_at=format_moment(delivery.started_at),
        finished_at=format_moment(delivery.finished_at),
        recipients=delivery.counts.recipients,
        sent_count=delivery.counts.sent,
        failure_count=delivery.counts.failed,
        unknown_count=delivery.counts.unknown,
        at_once=None if delivery.waves else True,
    )


def _delivery(row: DeliveryRow) -> Delivery:
    return Delivery(
        id=row.id,
        campaign_id=row.campaign_id,
        channel_type=row.channel_type,
        content=row.content,
        state=DeliveryState(row.state),
        counts=Counts(int(row.recipients), int(row.sent_count), int(row.failure_count), int(row.unknown_count)),
        error_detail=row.error_detail,
        note=row.note,
        attempt=int(row.attempt),
        created_at=clock.parse(row.created_at),
        started_at=parse_moment(row.started_at),
        finished_at=parse_moment(row.finished_at),
        waves=not row.at_once,
    )


def format_moment(moment: datetime | None) -> str | None:
    return clock.text(moment) if moment else None


def parse_moment(stored: str | None) -> datetime | None:
    return clock.parse(stored) if stored else None
