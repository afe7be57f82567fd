"""How far a campaign has come: while it is being sent, the counts are in its parts and not yet in its delivery."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.audience import recipients
from chalicelib.campaigns import delivery_store, store
from chalicelib.campaigns.model import Campaign, CampaignDetail, Counts, Delivery, DeliveryState, State, is_stopped
from chalicelib.campaigns.sending import deliveries, part_store, parts, supervisor
from chalicelib.kernel import ids, locks
from chalicelib.kernel.errors import NotFound
from chalicelib.site import service as site

_COUNTING_SECONDS = 60


def with_live_counts(detail: CampaignDetail) -> CampaignDetail:
    """The same with the current counts."""
    found = tuple(_with_live_counts(delivery) for delivery in detail.deliveries)
    counts = sum((delivery.counts for delivery in found), Counts())
    return replace(detail, campaign=replace(detail.campaign, counts=counts), deliveries=found)


def count_deferred(delivery: Delivery) -> int | None:
    """How many of those who failed SES may accept later: a retry sends to them, unlike to those it refused. None if
    that is no longer known."""
    if not delivery.counts.failed or delivery.state is DeliveryState.SENT:
        return 0
    return supervisor.count_deferred(delivery.id)


def count_not_sent(campaign: Campaign, delivery: Delivery) -> int | None:
    """About how many a stopped delivery did not come to; None if that is not known without reading everybody."""
    if not is_stopped(delivery) or not campaign.targeting.everybody:
        return None
    return max(0, recipients.count_everybody() - delivery.counts.recipients)


class Progress(Struct, frozen=True):
    """`expected` is an estimate of how many recipients there will be; None when it is over, or being counted."""

    state: State
    deliveries: list[Delivery]
    expected: int | None


def read_progress(campaign_id: str) -> Progress:
    """A few small requests and no content, because pages ask for this every few seconds."""
    campaign = store.find_campaign(campaign_id) if ids.is_id(campaign_id) else None
    if not campaign:
        raise NotFound("Campaign not found")
    found = delivery_store.list_deliveries(campaign_id)
    return Progress(
        campaign.state, [_with_live_counts(delivery) for delivery in found], expected_recipients(campaign, found)
    )


def reads_audience(delivery: Delivery) -> bool:
    """Whether it has yet to find out who some of its recipients are. Waves are lists of people already."""
    if delivery.state is not DeliveryState.SENDING:
        return False
    found = part_store.list_parts(delivery.id)
    segments = [part for part in found if part.kind is parts.Kind.SEGMENT]
    return not found or any(part.progress is not parts.Progress.DONE for part in segments)


def expected_recipients(campaign: Campaign, found: Sequence[Delivery]) -> int | None:
    """`Progress.expected`, from deliveries as they are stored. A retried delivery has its count, unless it ended
    early; the total is kept as a count. To count only some, everybody has to be read: the first who asks does that,
    and it is stored."""
    if campaign.state is not State.PUBLISHING:
        return None
    if known := sum(delivery.counts.recipients for delivery in found):
        return known
    if campaign.targeting.everybody:
        return recipients.count_everybody()
    with locks.held(f"count {campaign.id}", _COUNTING_SECONDS) as ours:
        return sum(_count_recipients(campaign, delivery) for delivery in found) if ours else None


def _count_recipients(campaign: Campaign, delivery: Delivery) -> int:
    if delivery.state is not DeliveryState.SENDING or not delivery.started_at:
        return 0
    zone = site.as_of(delivery.started_at).time_zone
    people = recipients.count(campaign.targeting.resolve(zone), delivery.started_at)
    deliveries.expect(delivery, people)
    return people


def _with_live_counts(delivery: Delivery) -> Delivery:
    if delivery.state is not DeliveryState.SENDING:
        return delivery
    counts, wave = supervisor.view_parts(delivery)
    return replace(delivery, counts=counts, wave=wave)
