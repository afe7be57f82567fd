"""Waves of imported people on real tables and queues: two editors and the sweep at once, and a stop in between."""

from collections import Counter
from typing import Any

from chalicelib.campaigns import service
from chalicelib.campaigns.model import Delivery, DeliveryState, Wave, WaveState
from chalicelib.campaigns.sending import continuing, deliveries, progress, stopping
from chalicelib.kernel.errors import Conflict
from tests.emulator.sending import addresses, mails, now, sent
from tests.rooms.campaigns.crowd import gather, gather_imported, marked


def _settle(work: Any, tick: Any) -> None:
    """Until nothing is left to do now."""
    while True:
        tick("sweep_deliveries")
        if not work("sending") + work("deliveries"):
            return


def _wave(delivery: Delivery) -> Wave:
    found = progress.with_live_counts(service.view(delivery.campaign_id)).deliveries[0].wave
    assert found
    return found


def _continue(delivery: Delivery) -> str:
    try:
        continuing.go_on(delivery.campaign_id, delivery.id, 1)
    except Conflict:
        return "refused"
    return "going on"


def test_editors_and_the_sweep_at_once_start_one_wave_and_everybody_is_written_to_once(
    short_leases: None, ses: Any, work: Any, tick: Any, together: Any
) -> None:
    everybody = addresses(gather(120) + gather_imported(700))
    delivery = sent()
    _settle(work, tick)
    assert (_wave(delivery).number, _wave(delivery).state, mails(ses).total()) == (1, WaveState.WAITING, 170)
    answers = together(*[lambda: _continue(delivery)] * 4, lambda: tick("sweep_deliveries"))
    assert answers[:4] == ["going on"] * 4
    _settle(work, tick)
    assert (_wave(delivery).number, mails(ses).total()) == (2, 370)
    continuing.go_on(delivery.campaign_id, delivery.id)
    _settle(work, tick)
    assert (now(delivery).state, now(delivery).counts.sent) == (DeliveryState.SENT, 820)
    assert mails(ses) == Counter(everybody.values())
    assert marked() == set()


def test_a_stop_and_the_next_wave_at_once_and_a_retry_reach_everybody_once(
    short_leases: None, ses: Any, work: Any, tick: Any, together: Any
) -> None:
    everybody = addresses(gather_imported(300))
    delivery = sent()
    _settle(work, tick)
    together(
        lambda: stopping.stop(delivery.campaign_id, delivery.id),
        lambda: _continue(delivery),
        lambda: work("sending"),
        lambda: tick("sweep_deliveries"),
    )
    _settle(work, tick)
    stopped = now(delivery)
    assert stopped.state is DeliveryState.FAILED
    assert stopped.counts.sent == mails(ses).total()
    deliveries.retry(delivery.campaign_id, delivery.id)
    for _ in range(3):
        _settle(work, tick)
        if now(delivery).state is DeliveryState.SENDING:
            continuing.go_on(delivery.campaign_id, delivery.id)
    _settle(work, tick)
    assert (now(delivery).state, now(delivery).counts.sent) == (DeliveryState.SENT, 300)
    assert mails(ses) == Counter(everybody.values())
