"""Campaigns sent to many on the emulator: started, brought to their end, and who got what."""

import time
from collections import Counter
from typing import Any

from chalicelib.audience import recipients
from chalicelib.campaigns import service
from chalicelib.campaigns.model import Delivery, DeliveryState
from chalicelib.campaigns.sending import deliveries, supervisor
from chalicelib.campaigns.service import Draft

LEASE_MS = 1_200
FAST = 1_000_000.0  # mails a second: these tests wait for nobody's quota


def created() -> str:
    return service.create(Draft("Hello", "<p>Hi {{nickname|friend}}</p>")).campaign.id


def sent() -> Delivery:
    return service.send_now(created()).deliveries[0]


def now(delivery: Delivery) -> Delivery:
    return deliveries.get(delivery.campaign_id, delivery.id)


def ended(delivery: Delivery, work: Any, tick: Any, timeout: float = 30) -> Delivery:
    """Let workers and sweeper do what they do until it is over."""
    ends = time.monotonic() + timeout
    while (current := now(delivery)).state is DeliveryState.SENDING:
        assert time.monotonic() < ends, supervisor.view_parts(delivery)[0]
        tick("sweep_deliveries")
        if not work("sending") + work("deliveries"):
            time.sleep(0.1)
    assert current.counts.sent + current.counts.failed + current.counts.unknown == current.counts.recipients
    return current


def mails(ses: Any) -> Counter[str]:
    return Counter(ses.stats()["addresses"])


def addresses(people: list[str]) -> dict[str, str]:
    return {person.id: person.email for person in recipients.reload(people)}
