"""How a campaign is changed: read, judged, written in one transaction conditioned on the version that was read.

When somebody else was faster it is read again and judged again, so of two people pressing *send* one starts the
delivery and the other is told no. What happened is told by events of the same transaction.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from chalicelib.campaigns import delivery_store, model, store
from chalicelib.campaigns.model import Campaign, Deed, Delivery, DeliveryState, State, Whole
from chalicelib.events import outbox
from chalicelib.events.model import EventType, Payload
from chalicelib.kernel import clock, ids, tables
from chalicelib.kernel.errors import NotFound, Unavailable

_ATTEMPTS = 4

Changed = tuple[Whole, list[tables.Write]]
Change = Callable[[Whole], Changed]
Move = Callable[[Delivery, datetime], Delivery]


def known(campaign_id: str) -> Whole:
    whole = store.whole(campaign_id) if ids.is_id(campaign_id) else None
    if not whole:
        raise NotFound("Campaign not found")
    return whole


def apply(campaign_id: str, deed: Deed | None, change: Change) -> Whole:
    for _ in range(_ATTEMPTS):
        before = known(campaign_id)
        if deed:
            model.permit(deed, before.campaign.state)
        after, writes = change(before)
        try:
            if writes:
                tables.transact(*writes)
                outbox.hurry(campaign_id)
            return after
        except tables.Stale:
            continue
    raise Unavailable("The campaign is being changed by someone else")


def edited(whole: Whole, changes: dict[str, Any], content: dict[str, Any]) -> Changed:
    """`changes` are fields of the campaign, `content` fields of its content."""
    written = replace(whole.content, **content) if content else None
    campaign = model.following(replace(whole.campaign, **changes), whole.deliveries, clock.now())
    after = replace(whole, campaign=campaign, content=written or whole.content)
    return after, [*store.changing(whole.campaign, campaign, written), *_told_schedule(whole.campaign, campaign)]


def begun(whole: Whole) -> Changed:
    after = sending(whole, clock.now())
    steps = [delivery_store.stepping(old, new) for old, new in zip(whole.deliveries, after.deliveries, strict=True)]
    return after, [*store.changing(whole.campaign, after.campaign), *steps]


def sending(whole: Whole, now: datetime) -> Whole:
    """All deliveries on their way."""
    deliveries = tuple(model.step(one, DeliveryState.SENDING, now) for one in whole.deliveries)
    campaign = model.following(replace(whole.campaign, notice=None), deliveries, now)
    return replace(whole, campaign=campaign, deliveries=deliveries)


def moved(whole: Whole, delivery_id: str, move: Move) -> Changed:
    """One delivery a step on, and the campaign following it."""
    before = whole.delivery(delivery_id)
    if not before:
        raise NotFound("Delivery not found")
    now = clock.now()
    delivery = move(before, now)
    deliveries = tuple(delivery if one.id == delivery_id else one for one in whole.deliveries)
    campaign = model.following(whole.campaign, deliveries, now)
    writes = [*store.changing(whole.campaign, campaign), delivery_store.stepping(before, delivery)]
    return replace(whole, campaign=campaign, deliveries=deliveries), writes + _told_end(campaign, delivery)


def _told_schedule(before: Campaign, after: Campaign) -> list[tables.Write]:
    if not after.scheduled_at or after.scheduled_at == before.scheduled_at:
        return []
    payload = {"campaign_id": after.id, "scheduled_at": clock.text(after.scheduled_at)}
    return [outbox.record(EventType.CAMPAIGN_SCHEDULED, after.id, payload)]


def _told_end(campaign: Campaign, delivery: Delivery) -> list[tables.Write]:
    if delivery.state not in (DeliveryState.SENT, DeliveryState.FAILED):
        return []
    both = {"campaign_id": campaign.id, "delivery_id": delivery.id}
    counts = delivery.counts
    finished: Payload = {
        **both,
        "state": delivery.state.value,
        "recipients": counts.recipients,
        "sent": counts.sent,
        "failed": counts.failed,
        "unknown": counts.unknown,
    }
    told: list[tables.Write] = [outbox.record(EventType.DELIVERY_FINISHED, campaign.id, finished)]
    if campaign.state is State.PUBLISHED:
        told.append(outbox.record(EventType.CAMPAIGN_PUBLISHED, campaign.id, both))
    return told
