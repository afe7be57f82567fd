"""Background work: messages for deliveries and for their parts, and the sweep that catches what was lost."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from chalicelib.campaigns import service
from chalicelib.campaigns.sending import deliveries, supervisor
from chalicelib.campaigns.sending.supervisor import Order
from chalicelib.kernel import clock, log
from chalicelib.kernel.aws import queues
from chalicelib.kernel.errors import NotFound

# A batch that was claimed has to be settled, and SES may take twenty seconds to answer.
_MARGIN = 30.0


def wake(message: Mapping[str, Any]) -> None:
    """A delivery was started or is retried."""
    try:
        delivery = deliveries.get(message["campaign_id"], message["delivery_id"])
    except NotFound:
        return
    supervisor.tend(delivery)


def drive(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Several parts at once, in threads: a worker mostly waits for SES."""

    def time_left() -> float:
        return float(context.get_remaining_time_in_millis()) / 1000 - _MARGIN

    records: Sequence[Mapping[str, Any]] = event["Records"]
    supervisor.warm_up()
    with ThreadPoolExecutor(max_workers=max(1, len(records))) as threads:
        answers = threads.map(lambda record: _drive({"Records": [record]}, time_left), records)
    return {"batchItemFailures": [failure for answer in answers for failure in answer["batchItemFailures"]]}


def _drive(event: Mapping[str, Any], time_left: Callable[[], float]) -> dict[str, Any]:
    def handle(message: Mapping[str, Any]) -> None:
        order = Order(message["campaign_id"], message["delivery_id"], message["part"])
        supervisor.drive(order, time_left)

    return queues.consume(event, handle)


def sweep() -> None:
    """Every five minutes: start what is due, and tend every delivery that is being sent. Nothing depends on a message
    alone, because a message may be lost."""
    service.start_due(clock.now())
    for delivery in deliveries.list_sending():
        try:
            supervisor.tend(delivery)
        except Exception as failure:
            # A delivery that fails must not keep the sweep from the others.
            log.exception("sweep.failed", failure, delivery_id=delivery.id)
            log.metric("SweepFailed")
