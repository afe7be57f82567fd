"""Events on a real database and a real queue: crashes, concurrent runs, and more events than fit in memory."""

import json
import os
import subprocess
import sys
import threading
from collections import Counter, deque
from pathlib import Path
from typing import Any

import pytest

from chalicelib.events import outbox, relay, store
from chalicelib.events.model import EventType
from chalicelib.events.webhooks import dispatch, service
from chalicelib.events.webhooks import store as webhook_store
from chalicelib.events.webhooks.model import NewWebhook
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import queues, tables
from tests.fixtures.receiver import Receiver
from tests.rooms.events.conftest import happen, hook, nobody

# Ten thousand on request: each costs the embedded AWS and the receiver some milliseconds.
MANY = 10_000 if os.environ.get("GNA_WHOLE_DRAIN") else 1_000


@pytest.fixture
def local(emulator: Any, configure: Any) -> None:
    configure(GNA_LOCAL="true")
    outbox._webhooks_exist.cache_clear()


def in_order(there: Receiver) -> bool:
    """First arrivals of one aggregate come in the order the events happened."""
    seen: dict[str, list[str]] = {}
    for call in there.calls:
        seen.setdefault(call.event["subject"], []).append(call.event["id"])
    return all(list(dict.fromkeys(arrived)) == sorted(set(arrived)) for arrived in seen.values())


def test_what_happens_reaches_a_receiver_through_the_queue(
    local: None, http: Any, work: Any, receiver: Any, ses: Any
) -> None:
    there = receiver()
    hook(there, include_address=True)
    assert http.post("/api/subscribe", json={"email": "ada@example.org"}).status == 201
    work("audience")
    work("events")
    (call,) = there.calls
    assert call.event["type"] == "SUBSCRIPTION_CREATED"
    assert call.event["data"]["email"] == "ada@example.org"


def lives(action: str, webhook_id: str) -> tuple[list[str], list[dict[str, Any]]]:
    """The aggregate of each life of a dying process (the last survives), and the messages they worked on."""
    script = Path(__file__).with_name("crashing.py")
    run = subprocess.run(
        [sys.executable, str(script), webhook_id, action],
        env={**os.environ, "GNA_LOCAL": "true", "PYTHONPATH": str(script.parent.parent.parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    about = [line.split()[0] for line in lines if line.endswith(("killed", "done"))]
    return about, [json.loads(line.removeprefix("message ")) for line in lines if line.startswith("message ")]


def test_a_process_killed_between_any_two_steps_loses_nothing(
    local: None, work: Any, tick: Any, receiver: Any
) -> None:
    there = receiver()
    webhook = hook(there)
    (killed_first, *about), _ = lives("send", webhook.id)
    assert len(about) > 10
    tick("sweep_events")
    # A busy machine may let a call fail; then it comes again after five seconds.
    work.until(lambda: {call.event["subject"] for call in there.calls} == set(about), timeout=60)
    work.until(lambda: len(set(there.ids)) == 2 * len(about), timeout=60)
    work("events")
    assert killed_first not in {call.event["subject"] for call in there.calls}, "it died before it committed"
    assert in_order(there)
    assert not list(store.list_pending_aggregates())
    assert not webhook_store.list_due(webhook.id, clock.now(), 1)


def test_a_replay_killed_between_any_two_steps_is_made_up_for(local: None, work: Any, receiver: Any) -> None:
    there = receiver()
    webhook = hook(there)
    about, messages = lives("replay_range", webhook.id)
    assert len(about) == len(messages) > 5
    for message in messages:  # as the queue does with what nobody has done
        queues.send("events", message)
    work.until(lambda: len(set(there.ids)) == 2 * len(about), timeout=60)
    work.until(lambda: not webhook_store.list_due(webhook.id, clock.now(), 1), timeout=60)
    assert {call.event["subject"] for call in there.calls} == set(about)
    assert in_order(there)


def test_a_rotation_killed_between_any_two_steps_leaves_the_old_secret_good(local: None, receiver: Any) -> None:
    there = receiver()
    first = service.add(NewWebhook(url=there.url))
    about, _ = lives("rotate", first.webhook.id)
    assert len(about) == 4, "before reading, before writing, before showing, and once not at all"
    assert len(service.get(first.webhook.id).previous) == 2
    assert service.test(first.webhook.id).result.ok
    assert there.calls[0].is_signed_with(first.secret)


def test_concurrent_relays_and_drains_send_once(local: None, together: Any, receiver: Any) -> None:
    there = receiver()
    webhook = hook(there)
    about = [happen(times=3) for _ in range(8)]
    results = together(*[lambda: relay.relay(about) for _ in range(4)])
    assert not any(isinstance(result, Exception) for result in results)
    results = together(*[lambda: dispatch.drain(webhook.id, nobody) for _ in range(4)])
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
        dispatch.drain(well_hook.id, nobody)
        reached.append(len(hanging.calls))
        released.set()

    together(lambda: dispatch.drain(slow_hook.id, nobody), drain_well)
    assert len(well.calls) == 20
    assert reached[0] <= dispatch._LANES_AT_ONCE, "the well one ended while the first calls to the other still hung"
    assert not webhook_store.list_due(well_hook.id, clock.now(), 1)


def test_many_events_reach_a_receiver_in_bounded_memory(
    local: None, work: Any, tick: Any, receiver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "_LANES_AT_ONCE", 2)  # the embedded AWS does one thing at a time
    arrived: Counter[str] = Counter()
    there = receiver(answer=lambda call: arrived.update([call.event["id"]]) or 204, calls=deque(maxlen=0))
    webhook = hook(there)

    def drain(events: int) -> None:
        wanted = len(arrived) + events
        for _ in range(events // 100):
            about = ids.new()
            tables.transact(*(outbox.event_write(EventType.EMAIL_CHANGED, about, {}) for _ in range(100)))
        tick("sweep_events")
        work.until(lambda: len(arrived) == wanted, timeout=0.1 * events)

    drain(100)  # connections and threads are made
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    drain(MANY)
    assert _peak() - before < 8_000, "in kB, however many they are"
    work.until(lambda: not webhook_store.list_due(webhook.id, clock.now(), 1), timeout=60)
    assert not list(store.list_pending_aggregates())
    # A call that a busy machine lets fail comes again, under its id; otherwise each comes once.
    assert arrived.total() < 1.05 * len(arrived)


def _peak() -> int:
    """The most memory this process has held, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
