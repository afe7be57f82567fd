"""What one event costs from the outbox to a receiver, in requests, write units and rows read: the same whether the
table holds a thousand events, ten thousand or a hundred thousand. Counted on the embedded AWS, from its answers.
"""

from itertools import pairwise

from bench import emulated
from bench.table import Row, growth

_EVENTS = 20
_SIZES = (1_000, 10_000, 100_000)
_AGGREGATES = 5_000


def rows() -> list[Row]:
    found = dict(zip(_SIZES, emulated.run("bench.events"), strict=True))
    return [
        growth(f"events: {what} per event", {size: found[size][what] for size in _SIZES})
        for what in ("requests", "write units", "rows read")
    ]


def _measure() -> list[dict[str, float]]:
    from chalicelib.events.webhooks import service
    from chalicelib.events.webhooks.model import NewWebhook
    from tests.fixtures.receiver import Receiver

    receiver = Receiver()
    webhook = service.add(NewWebhook(url=receiver.url)).webhook
    found = []
    for present, wanted in pairwise((0, *_SIZES)):
        _fill(wanted - present)
        found.append(_send_events(webhook.id))
    receiver.stop()
    return found


def _send_events(webhook_id: str) -> dict[str, float]:
    from chalicelib.events import outbox, relay
    from chalicelib.events.model import EventType
    from chalicelib.events.webhooks import dispatch
    from chalicelib.kernel import ids
    from chalicelib.kernel.aws import tables

    about = [ids.new() for _ in range(_EVENTS)]
    with emulated.Meter() as meter:
        for id in about:
            tables.transact(outbox.event_write(EventType.SUBSCRIPTION_CREATED, id, {"subscriber_id": id}))
        relay.relay(about)
        dispatch.drain(webhook_id, lambda subscriber_id: None)
    return {what: count / _EVENTS for what, count in meter.counts.items()}


def _fill(count: int) -> None:
    """Events that were relayed long ago, about a few thousand people."""
    from chalicelib.kernel import clock, ids

    people = [ids.new() for _ in range(_AGGREGATES)]
    now = clock.text(clock.now())
    common = {"type": "UNSUBSCRIBED", "payload": "{}", "created_at": now, "processed_at": now}
    emulated.fill(
        "events",
        (
            {
                **common,
                "aggregate_id": people[number % _AGGREGATES],
                "id": ids.new(),
                "done": f"{now[:10]}.{number % 4}",
            }
            for number in range(count)
        ),
    )


if __name__ == "__main__":
    emulated.main(_measure)
