"""Who gets no campaigns for now: since when and why, on the subscriber's own row."""

from datetime import datetime
from typing import Any

from chalicelib.audience.model import Subscriber
from chalicelib.audience.stores.subscriber_row import SubscriberRow
from chalicelib.kernel import clock
from chalicelib.kernel.aws.tables import Update, Write


def pause_write(subscriber: Subscriber, because: str, now: datetime) -> Write:
    """Not if the address has changed meanwhile: what bounced was mail to the one that was read."""
    actions = [
        SubscriberRow.paused_at.set(clock.text(now)),
        SubscriberRow.paused_because.set(because),
        SubscriberRow.resumed_at.remove(),
    ]
    same = (SubscriberRow.status == subscriber.status) & (SubscriberRow.email == subscriber.email)
    return Update(SubscriberRow(subscriber.id), actions, same & SubscriberRow.paused_at.does_not_exist())


def resume_write(subscriber: Subscriber, now: datetime) -> Write:
    row = SubscriberRow(subscriber.id)
    return Update(row, resume_actions(subscriber, now), SubscriberRow.paused_at.exists())


def resume_actions(subscriber: Subscriber, now: datetime) -> list[Any]:
    """For a write of the same row that ends a pause by the way; none for somebody who is not paused."""
    if not subscriber.paused_at:
        return []
    return [
        SubscriberRow.paused_at.remove(),
        SubscriberRow.paused_because.remove(),
        SubscriberRow.resumed_at.set(clock.text(now)),
    ]
