"""Stopping a delivery that is being sent, at an editor's request. `deliveries.retry` continues it."""

from chalicelib.campaigns import changes, model
from chalicelib.campaigns.model import CampaignDetail, Delivery, DeliveryState
from chalicelib.campaigns.sending import deliveries, supervisor
from chalicelib.kernel.errors import Conflict, NotFound

STOPPING = "Stopping: the batches that are already on their way are being finished"


def stop(campaign_id: str, delivery_id: str) -> CampaignDetail:
    """Nothing more is sent but the batches at hand. Once these are settled the delivery is `failed`; until then it is
    `sending`, with a note. A delivery that was complete before the stop took effect raises `Conflict`."""
    before = _find(changes.get_detail(campaign_id), delivery_id)
    model.permit_stop(before)
    if before.state is DeliveryState.SENDING:
        supervisor.stop(before, model.STOPPED)
        deliveries.annotate(before, STOPPING)
    detail = changes.get_detail(campaign_id)
    if _find(detail, delivery_id).state is DeliveryState.SENT:
        raise Conflict(model.NOT_ALLOWED)
    return detail


def is_stopping(delivery: Delivery) -> bool:
    """Whether an editor has stopped it, and the last batches are still being settled."""
    return delivery.state is DeliveryState.SENDING and delivery.note == STOPPING


def _find(detail: CampaignDetail, delivery_id: str) -> Delivery:
    found = detail.delivery(delivery_id)
    if not found:
        raise NotFound("Delivery not found")
    return found
