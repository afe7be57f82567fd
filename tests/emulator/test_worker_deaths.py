"""Workers that are killed, on real tables and queues with a real SES endpoint: nobody gets a mail twice outside a
reported unknown batch, nobody is missed, and the sums are right."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from chalicelib.campaigns.model import Counts, Delivery, DeliveryState
from chalicelib.campaigns.sending import deliveries, part_store
from tests.emulator import sending_worker
from tests.emulator.sending import FAST, addresses, ended, mails, sent
from tests.rooms.campaigns.crowd import gather

ROOT = Path(__file__).parent.parent.parent
PEOPLE = 2_000

WAITED_OUT = "after a claim"  # where the leases are really waited for

# One death for every kind of step; the whole matrix on request.
DEATHS = [
    ("after the plan", 1),
    ("between two orders", 2),
    ("after taking a part", 2),
    ("after a claim", 5),
    ("after sending", 9),
    ("before a claim", 20),
    ("before the end", 1),
    ("after the end", 1),
    ("in the sweep", 1),
]
if os.environ.get("GNA_WHOLE_MATRIX"):
    DEATHS = [(step, nth) for step in sending_worker.STEPS for nth in (1, 2, 3, 7, 20)]


@pytest.fixture
def workers(short_leases: None) -> Iterator[Callable[[str, int], str]]:
    """Call it with a step and its occurrence: a worker process works until it dies there, or has nothing to do."""
    command = [sys.executable, "-m", "tests.emulator.sending_worker"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout

        def run(step: str = "", occurrence: int = 0) -> str:
            process.stdin.write(f"{step} {occurrence}\n")
            process.stdin.flush()
            return process.stdout.readline().strip()

        yield run
        process.stdin.close()


def lapse(delivery: Delivery) -> None:
    """As if the time had passed until which a dead worker's leases hold."""
    for part in part_store.list_parts(delivery.id):
        if part.until:
            part_store.save(replace(part, until=0))


def fresh(ses: Any) -> None:
    ses.reset()
    ses.tell(quota={"MaxSendRate": FAST})


def test_whichever_step_a_worker_dies_at_everybody_is_accounted_for(
    workers: Any, ses: Any, work: Any, tick: Any
) -> None:
    everybody = addresses(gather(PEOPLE))
    died = set()
    for step, occurrence in DEATHS:
        fresh(ses)
        delivery = sent()
        if workers(step, occurrence) == "SIGKILL":
            died.add(step)
        if step != WAITED_OUT:
            lapse(delivery)
        over = ended(delivery, work, tick)
        owed = _check(over, mails(ses), everybody, step)
        if over.state is DeliveryState.FAILED:
            deliveries.retry(delivery.campaign_id, delivery.id)
            over = ended(delivery, work, tick)
        assert (over.state, over.counts) == (DeliveryState.SENT, Counts(PEOPLE, PEOPLE, 0, 0)), step
        got = mails(ses)
        assert set(got) == set(everybody.values()), step
        assert {address for address, count in got.items() if count > 1} <= owed, step
    assert died == {step for step, _ in DEATHS}


def _check(over: Delivery, got: Counter[str], everybody: dict[str, str], step: str) -> set[str]:
    """Before any retry: nobody twice, and who is missing was reported as unknown. Returns who was."""
    owed = {everybody[person] for part in part_store.list_parts(over.id) for person in part.claim}
    assert over.counts.recipients == PEOPLE, step
    assert max(got.values()) == 1, step
    assert set(everybody.values()) - set(got) <= owed, step
    assert over.counts.unknown == len(owed) <= 3 * 50, step
    assert (over.state is DeliveryState.FAILED) == bool(owed), step
    return owed
