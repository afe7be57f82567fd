"""What became of campaigns after they were sent: bounces, complaints, and how many left. Counts only, which the
bounces room keeps by delivery."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.bounces import tallies
from chalicelib.bounces.model import Tally
from chalicelib.campaigns import store
from chalicelib.campaigns.model import Campaign, CampaignDetail, Delivery, DeliveryState
from chalicelib.kernel import clock

YEAR = timedelta(days=365)
LEFT_WITHIN = tallies.LEFT_WITHIN


class Result(Struct, frozen=True):
    """`tally` is None if the campaign was sent by a version that did not count what became of it."""

    campaign: Campaign
    tally: Tally | None


def with_tallies(detail: CampaignDetail) -> CampaignDetail:
    """The same with what became of its deliveries; one query, none for a draft."""
    return replace(detail, deliveries=tuple(tally_deliveries(detail.deliveries)))


def tally_deliveries(deliveries: Sequence[Delivery]) -> list[Delivery]:
    begun = [delivery.id for delivery in deliveries if delivery.state is not DeliveryState.PENDING]
    found = tallies.find(begun)
    return [replace(delivery, tally=found.get(delivery.id, Tally())) for delivery in deliveries]


def counts_until(delivery: Delivery) -> datetime | None:
    """Until when people who leave are counted for it; None once that is over."""
    until = delivery.started_at + LEFT_WITHIN if delivery.started_at else None
    return until if until and until > clock.now() else None


def list_year() -> list[Campaign]:
    """The campaigns whose sending ended in the last twelve months, newest first."""
    found = store.list_sent(clock.now() - YEAR)
    return sorted(
        found, key=lambda campaign: (campaign.published_at or campaign.created_at, campaign.id), reverse=True
    )


def look_up(campaigns: Iterable[Campaign]) -> list[Result]:
    """What became of each; one query for all."""
    wanted = list(campaigns)
    found = tallies.find([id for campaign in wanted for id in campaign.delivery_ids])
    return [Result(campaign, _total(campaign, found)) for campaign in wanted]


def _total(campaign: Campaign, found: dict[str, Tally]) -> Tally | None:
    if not campaign.delivery_ids:
        return None
    return sum((found.get(id, Tally()) for id in campaign.delivery_ids), Tally())
