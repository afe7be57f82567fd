"""How a campaign is changed: read it, decide, and write in one transaction conditional on the version that was read.

When somebody else was faster, it is read and decided again: of two people who press *Send*, one starts the delivery
and the other gets a conflict. The events that announce a change are written in the same transaction.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from chalicelib.audience.tags import service as tags
from chalicelib.bounces import sent
from chalicelib.campaigns import delivery_store, model, pictures, snapshots, store, uses
from chalicelib.campaigns.history import NOBODY, Saver
from chalicelib.campaigns.model import (
    Action,
    Campaign,
    CampaignDetail,
    Delivery,
    DeliveryState,
    Resolved,
    State,
    Targeting,
)
from chalicelib.events import outbox
from chalicelib.events.model import EventType, Payload
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.errors import Invalid, NotFound

Changed = tuple[CampaignDetail, list[tables.Write]]
Change = Callable[[CampaignDetail], Changed]
Move = Callable[[Delivery, datetime], Delivery]


def get_detail(campaign_id: str) -> CampaignDetail:
    detail = store.find_detail(campaign_id) if ids.is_id(campaign_id) else None
    if not detail:
        raise NotFound("Campaign not found")
    return detail


def get_written(campaign_id: str) -> CampaignDetail:
    """The campaign and its content, without the deliveries."""
    found = store.find_written(campaign_id) if ids.is_id(campaign_id) else None
    if not found:
        raise NotFound("Campaign not found")
    return found


def apply(
    campaign_id: str, action: Action | None, change: Change, find: Callable[[str], CampaignDetail] = get_detail
) -> CampaignDetail:
    """`find` may be `get_written` for an action on campaigns that are not sent: all their deliveries are pending."""

    def decide() -> CampaignDetail:
        before = find(campaign_id)
        if action:
            model.permit(action, before.campaign.state)
        after, writes = change(before)
        if writes:
            commit(writes)
            outbox.relay_written(writes)
        return after

    return retry_stale(decide, busy="The campaign is being changed by someone else")


def commit(writes: list[tables.Write]) -> None:
    """Says so if it failed because of an item that was withdrawn: deciding again would not help."""
    try:
        tables.transact(*writes)
    except Stale as stale:
        uses.check_withdrawn(stale.found)
        raise


def use_writes(before: CampaignDetail | None, after: CampaignDetail | None) -> list[tables.Write]:
    """What others have to know about the content of a campaign that is created (nothing before), edited, or deleted
    (nothing after): the entries of the inbox and the pictures it uses."""
    campaign = after or before
    if not campaign:
        return []
    content = (before.content if before else None, after.content if after else None)
    of_pictures = pictures.use_writes(*content, campaign.campaign.id)
    writes = [*uses.change_writes(before, after), *of_pictures]
    if after and writes:
        # As many as a duplicate of it can begin to use at once.
        most = pictures.MOST_EXCHANGED - 2 * len(uses.entries(after))
        if len(after.content.pictures) > most:
            raise Invalid(f"At most {most} different pictures can be in this campaign")
    if len(writes) > pictures.MOST_EXCHANGED + 1:
        raise Invalid("So many items and pictures cannot be exchanged at once: save it in two steps")
    return writes


def edit_writes(
    detail: CampaignDetail,
    changes: dict[str, Any],
    content: dict[str, Any],
    needed: frozenset[str] = frozenset(),
    saver: Saver = NOBODY,
) -> Changed:
    """`changes` are fields of the campaign, `content` fields of its content, `needed` names of pictures in it. What
    the author composed is kept as an older version."""
    edited = edit(detail, changes, content, needed)
    after, kept = snapshots.keep_writes(detail, edited, saver)
    return after, [*save_writes(detail, after), *kept]


def edit(
    detail: CampaignDetail, changes: dict[str, Any], content: dict[str, Any], needed: frozenset[str] = frozenset()
) -> CampaignDetail:
    written = replace(detail.content, **content)
    if content:
        written = pictures.recognize(written, detail.content, needed)
    campaign = model.with_deliveries(replace(detail.campaign, **changes), detail.deliveries, clock.now())
    return replace(detail, campaign=campaign, content=written)


def save_writes(before: CampaignDetail, after: CampaignDetail) -> list[tables.Write]:
    return [
        *store.save_writes(before, after),
        *_schedule_event_writes(before.campaign, after.campaign),
        *use_writes(before, after),
    ]


def is_same(before: CampaignDetail, after: CampaignDetail) -> bool:
    """Whether nothing has changed, apart from the version that every change makes."""
    campaign = replace(after.campaign, version=before.campaign.version, updated_at=before.campaign.updated_at)
    return (campaign, after.content) == (before.campaign, before.content)


def choose_waves(before: CampaignDetail, waves: bool, changed: Changed) -> Changed:
    """The same, and whether its deliveries have waves."""
    detail, writes = changed
    chosen = tuple(replace(delivery, waves=waves) for delivery in before.deliveries)
    moved = [pair for pair in zip(before.deliveries, chosen, strict=True) if pair[0] != pair[1]]
    steps = [delivery_store.step_write(old, new) for old, new in moved]
    return replace(detail, deliveries=chosen), [*writes, *steps]


def begin_writes(detail: CampaignDetail, waves: bool | None = None) -> Changed:
    """Also for pictures that did not exist when it was saved, and do now: from here on they stay."""
    recognized = pictures.recognize(detail.content, detail.content)
    shown = pictures.use_writes(detail.content, recognized, detail.campaign.id)
    after = start_deliveries(detail, clock.now())
    if waves is not None:
        chosen = tuple(replace(delivery, waves=waves) for delivery in after.deliveries)
        after = replace(after, deliveries=chosen)
    steps = [
        delivery_store.step_write(old, new) for old, new in zip(detail.deliveries, after.deliveries, strict=True)
    ]
    return after, [
        *store.change_writes(detail.campaign, after.campaign),
        *steps,
        *note_sent_writes(after),
        *uses.send_writes(detail),
        *shown,
        *tag_writes(detail.campaign),
    ]


def tag_writes(campaign: Campaign) -> list[tables.Write]:
    """Before it is read who has the tags it is for: that nobody is changing them now."""
    return tags.idle_writes(set(campaign.targeting.tags.words))


def start_deliveries(detail: CampaignDetail, now: datetime) -> CampaignDetail:
    """Every delivery is being sent from now on; `note_sent_writes` belongs into the same transaction."""
    deliveries = tuple(model.step(delivery, DeliveryState.SENDING, now) for delivery in detail.deliveries)
    begun = replace(detail.campaign, notice=None, delivery_ids=tuple(delivery.id for delivery in deliveries))
    return replace(detail, campaign=model.with_deliveries(begun, deliveries, now), deliveries=deliveries)


def note_sent_writes(detail: CampaignDetail) -> list[tables.Write]:
    """That its deliveries have begun, for whoever counts what becomes of them."""
    begun = [(delivery.id, at) for delivery in detail.deliveries if (at := delivery.started_at)]
    return [sent.begin_write(id, _resolved(detail.campaign.targeting, at), at) for id, at in begun]


def move_writes(detail: CampaignDetail, delivery_id: str, move: Move) -> Changed:
    """One delivery moves to another state, and the campaign follows."""
    before = detail.delivery(delivery_id)
    if not before:
        raise NotFound("Delivery not found")
    now = clock.now()
    delivery = move(before, now)
    deliveries = tuple(delivery if each.id == delivery_id else each for each in detail.deliveries)
    campaign = model.with_deliveries(detail.campaign, deliveries, now)
    writes = [*store.change_writes(detail.campaign, campaign), delivery_store.step_write(before, delivery)]
    return replace(detail, campaign=campaign, deliveries=deliveries), writes + _end_event_writes(campaign, delivery)


def _resolved(targeting: Targeting, at: datetime) -> Resolved:
    """As the emails' recipients are chosen; the time zone matters, and is read, only where there are days."""
    if not targeting.joined_after and not targeting.joined_before:
        return targeting.resolve("UTC")
    from chalicelib.site import service as site

    return targeting.resolve(site.as_of(at).time_zone)


def _schedule_event_writes(before: Campaign, after: Campaign) -> list[tables.Write]:
    if not after.scheduled_at or after.scheduled_at == before.scheduled_at:
        return []
    payload = {"campaign_id": after.id, "scheduled_at": clock.text(after.scheduled_at)}
    return [outbox.event_write(EventType.CAMPAIGN_SCHEDULED, after.id, payload)]


def _end_event_writes(campaign: Campaign, delivery: Delivery) -> list[tables.Write]:
    if delivery.state not in (DeliveryState.SENT, DeliveryState.FAILED):
        return []
    ids_of_both = {"campaign_id": campaign.id, "delivery_id": delivery.id}
    counts = delivery.counts
    finished: Payload = {
        **ids_of_both,
        "state": delivery.state.value,
        "recipients": counts.recipients,
        "sent": counts.sent,
        "failed": counts.failed,
        "unknown": counts.unknown,
    }
    writes: list[tables.Write] = [outbox.event_write(EventType.DELIVERY_FINISHED, campaign.id, finished)]
    if campaign.state is State.PUBLISHED:
        writes.append(outbox.event_write(EventType.CAMPAIGN_PUBLISHED, campaign.id, ids_of_both))
    return writes
