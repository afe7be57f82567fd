"""Events on a real database and a real queue: crashes, twins, and more of them than fit in memory."""

import os
import subprocess
import sys
import threading
import time
from collections import Counter, deque
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

# Ten thousand on request: each costs the embedded AWS and the receiver some milliseconds.
MANY = 10_000 if os.environ.get("GNA_WHOLE_DRAIN") else 2_000


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


def test_a_hanging_endpoint_delays_no_other(local: None, together: Any, receiver: Any) -> None:
    released = threading.Event()
    hanging, well = receiver(answer=lambda call: released.wait(60) and 204), receiver()
    slow_hook, well_hook = hook(hanging), hook(well)
    relay.relay([happen() for _ in range(20)])
    reached: list[int] = []

    def drain_well() -> None:
        lanes.drain(well_hook.id, nobody)
        reached.append(len(hanging.calls))
        released.set()

    together(lambda: lanes.drain(slow_hook.id, nobody), drain_well)
    assert len(well.calls) == 20
    assert reached[0] <= lanes._LANES_AT_ONCE, "the well one ended while the first calls to the other still hung"
    assert not webhook_store.due(well_hook.id, clock.now(), 1)


def test_thousands_of_events_reach_a_receiver_once_each_in_bounded_memory(local: None, receiver: Any) -> None:
    told: Counter[str] = Counter()
    there = receiver(answer=lambda call: told.update([call.event["id"]]) or 204, calls=deque(maxlen=0))
    webhook = hook(there)
    _drain(100, told)  # connections and threads are made
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    _drain(MANY, told)
    assert _peak() - before < 8_000, "in kB, however many they are"
    assert set(told.values()) == {1}
    assert not list(store.aggregates())
    assert not webhook_store.due(webhook.id, clock.now(), 1)


def _drain(events: int, told: Counter[str]) -> None:
    """Let so many things happen, and work until each has been told."""
    wanted, ends = len(told) + events, time.monotonic() + 0.1 * events
    for _ in range(events // 100):
        about = ids.new()
        tables.transact(*(outbox.record(EventType.EMAIL_CHANGED, about, {}) for _ in range(100)))
    jobs.sweep()
    while len(told) < wanted:
        assert time.monotonic() < ends, f"{wanted - len(told)} were not told"
        for message in received("events"):
            jobs.work(message, nobody)


def _peak() -> int:
    """The most memory this process has held, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
