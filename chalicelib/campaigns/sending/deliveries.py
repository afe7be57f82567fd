"""What can be done with a delivery: woken, annotated, finished, tried again. Sending itself is the engine's."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from msgspec.structs import replace

from chalicelib.campaigns import changes, delivery_store, model, store
from chalicelib.campaigns.model import CampaignDetail, Counts, Delivery, DeliveryState, State
from chalicelib.kernel import log
from chalicelib.kernel.aws import queues
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import NotFound, Unavailable


def get(campaign_id: str, delivery_id: str) -> Delivery:
    for delivery in delivery_store.list_deliveries(campaign_id):
        if delivery.id == delivery_id:
            return delivery
    raise NotFound("Delivery not found")


def list_sending() -> list[Delivery]:
    """Every delivery that is being sent, for the sweeper to look after."""
    return [
        delivery
        for campaign in store.list_in_state(State.PUBLISHING)
        for delivery in delivery_store.list_deliveries(campaign.id)
        if delivery.state is DeliveryState.SENDING
    ]


def wake(detail: CampaignDetail) -> None:
    """Tell the engine. If this is lost, the sweeper finds the delivery within five minutes."""
    for delivery in detail.deliveries:
        if delivery.state is DeliveryState.SENDING:
            _wake(delivery)


def annotate(delivery: Delivery, note: str | None) -> None:
    """Say something about a delivery under way ("continuing tomorrow: daily quota"); too late is no matter."""
    with _unless_over(delivery):
        delivery_store.annotate(delivery, note)


def expect(delivery: Delivery, recipients: int) -> None:
    """Write down how many it will be; counting takes its time, and what was annotated meanwhile stays."""
    with _unless_over(delivery):
        delivery_store.expect(delivery, recipients)


def finish(delivery: Delivery, counts: Counts, error_detail: str | None = None) -> CampaignDetail:
    """It is over, with these sums. Said twice, or about an attempt that a retry has overtaken, it changes nothing."""
    was_over = False

    def ended(current: Delivery, now: datetime) -> Delivery:
        after = model.step(current, model.final_state(counts, error_detail), now)
        return replace(after, counts=counts, error_detail=error_detail)

    def end(detail: CampaignDetail) -> changes.Changed:
        nonlocal was_over
        current = detail.delivery(delivery.id)
        running = (DeliveryState.SENDING, delivery.attempt)
        was_over = current is not None and (current.state, current.attempt) != running
        return (detail, []) if was_over else changes.move_writes(detail, delivery.id, ended)

    detail = changes.apply(delivery.campaign_id, None, end)
    if not was_over:  # two workers come here at the same moment
        log.info("delivery.finished", delivery_id=delivery.id, sent=counts.sent, unknown=counts.unknown)
    return detail


def retry(campaign_id: str, delivery_id: str) -> CampaignDetail:
    """Send again what a failed delivery still owes; nothing else of the campaign is touched."""

    def again(detail: CampaignDetail) -> changes.Changed:
        current = detail.delivery(delivery_id)
        if current:
            model.permit_retry(current)
        return changes.move_writes(detail, delivery_id, lambda one, now: model.step(one, DeliveryState.SENDING, now))

    detail = changes.apply(campaign_id, None, again)
    wake(detail)
    return detail


@contextmanager
def _unless_over(delivery: Delivery) -> Iterator[None]:
    try:
        yield
    except Stale:
        log.info("delivery.note_too_late", delivery_id=delivery.id)


def _wake(delivery: Delivery) -> None:
    try:
        queues.send("deliveries", {"campaign_id": delivery.campaign_id, "delivery_id": delivery.id})
    except Unavailable:
        log.warning("delivery.wake_lost", delivery_id=delivery.id)
