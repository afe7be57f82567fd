"""Going on with the next wave at an editor's request, or after the numbers of a wave have stopped a delivery."""

from chalicelib.campaigns import changes
from chalicelib.campaigns.model import NOT_ALLOWED, CampaignDetail, DeliveryState, WaveState
from chalicelib.campaigns.sending import deliveries, part_store, wave_steps
from chalicelib.kernel.errors import Conflict, Unavailable

SENDING = "This wave is still being sent"
_TRIES = 4


def go_on(campaign_id: str, delivery_id: str, seen: int | None = None) -> CampaignDetail:
    """`seen` is the wave whose numbers the editor knows: if the next one has begun since, that is what they want, and
    nothing happens. A wave that is being sent raises `Conflict`."""
    for _ in range(_TRIES):
        delivery, (plan, found) = deliveries.get(campaign_id, delivery_id), part_store.view(delivery_id)
        if delivery.state is not DeliveryState.SENDING or not plan or plan.stopped or not plan.waves:
            raise Conflict(NOT_ALLOWED)
        if seen and seen < plan.waves.number:
            break
        if plan.waves.state is WaveState.SENDING:
            raise Conflict(SENDING)
        seen = seen or plan.waves.number  # should somebody be faster, that is enough
        if wave_steps.go_on(delivery, plan, found):
            break
    else:
        raise Unavailable("The delivery is being changed by someone else")
    detail = changes.get_detail(campaign_id)
    deliveries.wake(detail)
    return detail
