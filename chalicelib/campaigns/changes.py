"""How a campaign is changed: read, judged, written in one transaction conditioned on the version that was read.

When somebody else was faster it is read again and judged again, so of two people pressing *send* one starts the
delivery and the other is told no. What happened is told by events of the same transaction.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from chalicelib.campaigns import delivery_store, model, store
from chalicelib.campaigns.model import Action, Campaign, CampaignDetail, Delivery, DeliveryState, State
from chalicelib.events import outbox
from chalicelib.events.model import EventType, Payload
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.errors import NotFound

Changed = tuple[CampaignDetail, list[tables.Write]]
Change = Callable[[CampaignDetail], Changed]
Move = Callable[[Delivery, datetime], Delivery]


def get_detail(campaign_id: str) -> CampaignDetail:
    detail = store.find_detail(campaign_id) if ids.is_id(campaign_id) else None
    if not detail:
        raise NotFound("Campaign not found")
    return detail


def apply(campaign_id: str, action: Action | None, change: Change) -> CampaignDetail:
    def decide() -> CampaignDetail:
        before = get_detail(campaign_id)
        if action:
            model.permit(action, before.campaign.state)
        after, writes = change(before)
        if writes:
            tables.transact(*writes)
            outbox.relay_soon(campaign_id)
        return after

    return retry_stale(decide, busy="The campaign is being changed by someone else")


def edit_writes(detail: CampaignDetail, changes: dict[str, Any], content: dict[str, Any]) -> Changed:
    """`changes` are fields of the campaign, `content` fields of its content."""
    written = replace(detail.content, **content) if content else None
    campaign = model.with_deliveries(replace(detail.campaign, **changes), detail.deliveries, clock.now())
    after = replace(detail, campaign=campaign, content=written or detail.content)
    return after, [
        *store.change_writes(detail.campaign, campaign, written),
        *_told_schedule(detail.campaign, campaign),
    ]


def begin_writes(detail: CampaignDetail) -> Changed:
    after = start_deliveries(detail, clock.now())
    steps = [
        delivery_store.step_write(old, new) for old, new in zip(detail.deliveries, after.deliveries, strict=True)
    ]
    return after, [*store.change_writes(detail.campaign, after.campaign), *steps]


def start_deliveries(detail: CampaignDetail, now: datetime) -> CampaignDetail:
    """All deliveries on their way."""
    deliveries = tuple(model.step(one, DeliveryState.SENDING, now) for one in detail.deliveries)
    campaign = model.with_deliveries(replace(detail.campaign, notice=None), deliveries, now)
    return replace(detail, campaign=campaign, deliveries=deliveries)


def move_writes(detail: CampaignDetail, delivery_id: str, move: Move) -> Changed:
    """One delivery a step on, and the campaign following it."""
    before = detail.delivery(delivery_id)
    if not before:
        raise NotFound("Delivery not found")
    now = clock.now()
    delivery = move(before, now)
    deliveries = tuple(delivery if one.id == delivery_id else one for one in detail.deliveries)
    campaign = model.with_deliveries(detail.campaign, deliveries, now)
    writes = [*store.change_writes(detail.campaign, campaign), delivery_store.step_write(before, delivery)]
    return replace(detail, campaign=campaign, deliveries=deliveries), writes + _told_end(campaign, delivery)


def _told_schedule(before: Campaign, after: Campaign) -> list[tables.Write]:
    if not after.scheduled_at or after.scheduled_at == before.scheduled_at:
        return []
    payload = {"campaign_id": after.id, "scheduled_at": clock.text(after.scheduled_at)}
    return [outbox.event_write(EventType.CAMPAIGN_SCHEDULED, after.id, payload)]


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
    told: list[tables.Write] = [outbox.event_write(EventType.DELIVERY_FINISHED, campaign.id, finished)]
    if campaign.state is State.PUBLISHED:
        told.append(outbox.event_write(EventType.CAMPAIGN_PUBLISHED, campaign.id, both))
    return told
