"""Events on a real database and a real queue: crashes, twins, and more of them than fit in memory."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chalicelib.events import jobs, outbox, relay, store
from chalicelib.events.model import EventType
from chalicelib.events.webhooks import lanes
from chalicelib.events.webhooks import store as webhook_store
from chalicelib.kernel import clock, ids, tables
from tests.conftest import received
from tests.events.conftest import happen, hook, nobody
from tests.events.receiver import Receiver


@pytest.fixture
def receiver() -> Iterator[Callable[..., Receiver]]:
    made: list[Receiver] = []

    def make(**behaviour: Any) -> Receiver:
        made.append(Receiver(**behaviour))
        return made[-1]

    yield make
    for one in made:
        one.stop()


@pytest.fixture
def local(emulator: Any, configure: Any) -> None:
    configure(GNA_LOCAL="true")
    outbox._webhooks_exist.cache_clear()


def in_order(there: Receiver) -> bool:
    """First arrivals about one thing come in the order they happened."""
    seen: dict[str, list[str]] = {}
    for call in there.calls:
        seen.setdefault(call.event["subject"], []).append(call.event["id"])
    return all(list(dict.fromkeys(told)) == sorted(set(told)) for told in seen.values())


def test_what_happens_reaches_a_receiver_through_the_queue(
    local: None, http: Any, work: Any, receiver: Any, ses: Any
) -> None:
    there = receiver()
    hook(there, include_address=True)
    assert http.post("/api/subscribe", json={"email": "ada@example.org"}).status == 201
    work("mail")
    work("events")
    (call,) = there.calls
    assert call.event["type"] == "SUBSCRIPTION_CREATED"
    assert call.event["data"]["email"] == "ada@example.org"


def test_a_process_killed_between_any_two_steps_loses_nothing(
    local: None, emulator: Any, work: Any, tick: Any, receiver: Any
) -> None:
    there = receiver()
    webhook = hook(there)
    script = Path(__file__).with_name("crashing.py")
    run = subprocess.run(
        [sys.executable, str(script), webhook.id],
        env={**os.environ, "GNA_LOCAL": "true", "PYTHONPATH": str(script.parent.parent.parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    lives = [line.split() for line in run.stdout.splitlines() if line.endswith(("killed", "done"))]
    assert len(lives) > 10
    killed_first, *told = [about for about, _, _ in lives]
    tick("sweep_events")
    # A busy machine may let a call fail; then it comes again after five seconds.
    work.until(lambda: {call.event["subject"] for call in there.calls} == set(told), timeout=40)
    work.until(lambda: len(set(there.ids)) == 2 * len(told), timeout=40)
    work("events")
    assert killed_first not in {call.event["subject"] for call in there.calls}, "it died before it committed"
    assert in_order(there)
    assert not list(store.aggregates())
    assert not webhook_store.due(webhook.id, clock.now(), 1)


def test_twin_relays_and_twin_drains_tell_once(local: None, together: Any, receiver: Any) -> None:
    there = receiver()
    webhook = hook(there)
    about = [happen(times=3) for _ in range(8)]
    results = together(*[lambda: relay.relay(about) for _ in range(4)])
    assert not any(isinstance(result, Exception) for result in results)
    results = together(*[lambda: lanes.drain(webhook.id, nobody) for _ in range(4)])
    assert not any(isinstance(result, Exception) for result in results)
    assert len(there.ids) == len(set(there.ids)) == 24
    assert in_order(there)


def test_a_hanging_endpoint_delays_no_other(
    local: None, together: Any, receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chalicelib.events.webhooks import post
    from chalicelib.kernel import fetch

    monkeypatch.setattr(post, "_BOUNDS", fetch.Bounds(seconds=2, largest=1000, redirects=0))
    hanging, well = receiver(delay=4), receiver()
    slow_hook, well_hook = hook(hanging), hook(well)
    relay.relay([happen() for _ in range(20)])
    done: list[float] = []

    def drain_well() -> None:
        lanes.drain(well_hook.id, nobody)
        done.append(len(hanging.calls))

    together(lambda: lanes.drain(slow_hook.id, nobody), drain_well)
    assert len(well.calls) == 20
    assert done[0] <= lanes._LANES_AT_ONCE, "the well one ended while the first calls to the other still hung"
    assert not webhook_store.due(well_hook.id, clock.now(), 1)


def test_ten_thousand_events_drain_in_bounded_memory(local: None, receiver: Any) -> None:
    there = receiver()
    webhook = hook(there, types=["EMAIL_CHANGED"])
    for _ in range(100):
        about = ids.new()
        usual = [outbox.record(EventType.UNSUBSCRIBED, about, {}) for _ in range(95)]
        tables.transact(*usual, *(outbox.record(EventType.EMAIL_CHANGED, about, {}) for _ in range(5)))
    _forget_peak()
    before = _peak()
    jobs.sweep()
    while messages := received("events"):
        for message in messages:
            jobs.work(message, nobody)
    assert _peak() - before < 40_000
    assert not list(store.aggregates())
    assert len(set(there.ids)) == 500
    assert not webhook_store.due(webhook.id, clock.now(), 1)


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    """The most memory this process has held, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
