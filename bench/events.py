"""What one event costs from the outbox to a receiver, in requests, write units and rows read: the same whether the
table holds a thousand events or a hundred thousand. Counted on the embedded AWS, from what each answer says.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.table import Row, at_most

_ROOT = Path(__file__).parent.parent
_EVENTS = 20
_FEW, _MANY = 1_000, 100_000
_AGGREGATES = 5_000


def rows() -> list[Row]:
    few, many = _counted()
    return [
        at_most(
            f"events: {what} per event, {_MANY:,} ÷ {_FEW:,} in the table",
            many[what] / few[what],
            1.0,
            detail=f"{few[what]:.3g} and {many[what]:.3g}",
        )
        for what in ("requests", "write units", "rows read")
    ]


def _counted() -> list[dict[str, float]]:
    """In a process of its own: table names and clients are fixed once they are made."""
    from local.emulator import Emulator

    emulator = Emulator(Path(tempfile.mkdtemp()), keep=False)
    emulator.start()
    try:
        emulator.deploy("gna-bench")
        settings = {"GNA_PREFIX": "gna-bench", "GNA_LOCAL": "true", "SECRET_KEY": "a secret of thirty-two characters"}
        run = subprocess.run(
            [sys.executable, "-m", "bench.events"],
            cwd=_ROOT,
            env={**os.environ, **emulator.environment, **settings},
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
    finally:
        emulator.stop()
    return json.loads(run.stdout.splitlines()[-1])


def _measure() -> list[dict[str, float]]:
    from chalicelib.events.webhooks import service
    from tests.events.receiver import Receiver

    receiver = Receiver()
    webhook = service.add({"url": receiver.url}).webhook
    found = []
    for present, wanted in ((0, _FEW), (_FEW, _MANY)):
        _fill(wanted - present)
        found.append(_one_round(webhook.id))
    receiver.stop()
    return found


def _one_round(webhook_id: str) -> dict[str, float]:
    from chalicelib.events import outbox, relay
    from chalicelib.events.model import EventType
    from chalicelib.events.webhooks import lanes
    from chalicelib.kernel import ids, tables

    about = [ids.new() for _ in range(_EVENTS)]
    with _Meter() as meter:
        for one in about:
            tables.transact(outbox.record(EventType.SUBSCRIPTION_CREATED, one, {"subscriber_id": one}))
        relay.relay(about)
        lanes.drain(webhook_id, lambda subscriber_id: None)
    return {what: count / _EVENTS for what, count in meter.counts.items()}


class _Meter:
    """Asks every call what it consumed."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def __enter__(self) -> "_Meter":
        from chalicelib.kernel import tables

        self._hooks = tables._connection().client.meta.events
        self._hooks.register("before-parameter-build.dynamodb", self._ask)
        self._hooks.register("after-call.dynamodb", self._add)
        return self

    def __exit__(self, *failure: object) -> None:
        self._hooks.unregister("before-parameter-build.dynamodb", self._ask)
        self._hooks.unregister("after-call.dynamodb", self._add)

    def _ask(self, params: dict[str, Any], **other: Any) -> None:
        params["ReturnConsumedCapacity"] = "INDEXES"

    def _add(self, parsed: dict[str, Any], model: Any, **other: Any) -> None:
        self.counts["requests"] += 1
        if model.name in ("Query", "Scan"):
            self.counts["rows read"] += parsed.get("ScannedCount", 0)
            return
        consumed = parsed.get("ConsumedCapacity") or []
        for one in consumed if isinstance(consumed, list) else [consumed]:
            self.counts["write units"] += one.get("WriteCapacityUnits", one.get("CapacityUnits", 0))


def _fill(count: int) -> None:
    """Events that were relayed long ago, about a few thousand people."""
    from chalicelib.kernel import aws, clock, ids, queues

    people = [ids.new() for _ in range(_AGGREGATES)]
    client, table, now = aws.client("dynamodb"), queues.name("events"), clock.text(clock.now())

    def write(start: int) -> None:
        items = []
        for number in range(start, min(start + 25, count)):
            values = {"aggregate_id": people[number % _AGGREGATES], "id": ids.new(), "type": "UNSUBSCRIBED"}
            values |= {"payload": "{}", "created_at": now, "processed_at": now, "done": f"{now[:10]}.{number % 4}"}
            items.append({"PutRequest": {"Item": {name: {"S": value} for name, value in values.items()}}})
        client.batch_write_item(RequestItems={table: items})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(0, count, 25)))


if __name__ == "__main__":
    print(json.dumps(_measure()))
