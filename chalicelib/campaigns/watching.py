"""How far a campaign is at this moment: while it is sent, the engine has its counts and its rows do not yet."""

from dataclasses import replace

from chalicelib.campaigns import delivery_store, sending, store
from chalicelib.campaigns.model import Counts, Delivery, DeliveryState, State, Whole
from chalicelib.census import service as census
from chalicelib.kernel import ids
from chalicelib.kernel.errors import NotFound
from chalicelib.kernel.value import value


def live(whole: Whole) -> Whole:
    """The same with the counts of this moment."""
    deliveries = tuple(_live(one) for one in whole.deliveries)
    counts = sum((one.counts for one in deliveries), Counts())
    return replace(whole, campaign=replace(whole.campaign, counts=counts), deliveries=deliveries)


@value
class Look:
    """`expected` is how many there will be in the end, about; None when it is over, or when nobody has counted."""

    state: State
    deliveries: list[Delivery]
    expected: int | None


def look(campaign_id: str) -> Look:
    """A few small requests and no content: this is asked every few seconds."""
    campaign = store.campaign(campaign_id) if ids.is_id(campaign_id) else None
    if not campaign:
        raise NotFound("Campaign not found")
    under_way = campaign.state is State.PUBLISHING and campaign.aim.everybody
    expected = census.total() if under_way else None
    return Look(campaign.state, [_live(one) for one in delivery_store.of(campaign_id)], expected)


def _live(delivery: Delivery) -> Delivery:
    if delivery.state is not DeliveryState.SENDING:
        return delivery
    return replace(delivery, counts=sending.progress(delivery.id))
