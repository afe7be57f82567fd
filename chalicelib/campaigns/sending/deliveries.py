"""What can be done with a delivery: wake, annotate, finish, retry. Stopping one is in `stopping`, sending itself in
`supervisor` and `worker`."""

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
    """Every delivery that is being sent, for the sweep to look after."""
    return [
        delivery
        for campaign in store.list_in_state(State.PUBLISHING)
        for delivery in delivery_store.list_deliveries(campaign.id)
        if delivery.state is DeliveryState.SENDING
    ]


def wake(detail: CampaignDetail) -> None:
    """Put a message for the supervisor on the queue. If it is lost, the sweep finds the delivery in five minutes."""
    for delivery in detail.deliveries:
        if delivery.state is DeliveryState.SENDING:
            _wake(delivery)


def annotate(delivery: Delivery, note: str | None) -> None:
    """Note something about a delivery that is being sent ("continuing tomorrow: daily quota"); ignored afterwards."""
    with _ignore_if_over(delivery):
        delivery_store.annotate(delivery, note)


def expect(delivery: Delivery, recipients: int) -> None:
    """Store how many recipients there will be. Counting takes time; a note written meanwhile is kept."""
    with _ignore_if_over(delivery):
        delivery_store.expect(delivery, recipients)


def finish(delivery: Delivery, counts: Counts, error_detail: str | None = None) -> CampaignDetail:
    """End it with these counts. Changes nothing the second time, or for an attempt that a retry has replaced."""
    was_over = False

    def to_final_state(current: Delivery, now: datetime) -> Delivery:
        after = model.step(current, model.final_state(counts, error_detail), now)
        return replace(after, counts=counts, error_detail=error_detail)

    def end(detail: CampaignDetail) -> changes.Changed:
        nonlocal was_over
        current = detail.delivery(delivery.id)
        running = (DeliveryState.SENDING, delivery.attempt)
        was_over = current is not None and (current.state, current.attempt) != running
        return (detail, []) if was_over else changes.move_writes(detail, delivery.id, to_final_state)

    detail = changes.apply(delivery.campaign_id, None, end)
    if not was_over:  # two workers may come here at the same moment
        log.info("delivery.finished", delivery_id=delivery.id, sent=counts.sent, unknown=counts.unknown)
    return detail


def retry(campaign_id: str, delivery_id: str) -> CampaignDetail:
    """Send what a failed delivery still owes; nothing else of the campaign is touched."""

    def start_again(detail: CampaignDetail) -> changes.Changed:
        current = detail.delivery(delivery_id)
        if current:
            model.permit_retry(current)
        after, writes = changes.move_writes(
            detail, delivery_id, lambda delivery, now: model.step(delivery, DeliveryState.SENDING, now)
        )
        return after, [*writes, *changes.tag_writes(detail.campaign)]

    detail = changes.apply(campaign_id, None, start_again)
    wake(detail)
    return detail


@contextmanager
def _ignore_if_over(delivery: Delivery) -> Iterator[None]:
    try:
        yield
    except Stale:
        log.info("delivery.note_too_late", delivery_id=delivery.id)


def _wake(delivery: Delivery) -> None:
    try:
        queues.send("deliveries", {"campaign_id": delivery.campaign_id, "delivery_id": delivery.id})
    except Unavailable:
        log.warning("delivery.wake_lost", delivery_id=delivery.id)
