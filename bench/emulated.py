"""Counting on the embedded AWS: each benchmark has a process and an emulator of its own, and a meter on its calls."""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent.parent
PREFIX = "gna-bench"
_READ = ("Item", "Items", "Responses")
_SETTINGS = {
    "GNA_PREFIX": PREFIX,
    "GNA_LOCAL": "true",
    "SITE_URL": "https://news.example.org",
    "FROM_EMAIL": "news@example.org",
    "SECRET_KEY": "a secret of thirty-two characters",
    "MEDIA_BUCKET": f"{PREFIX}-media-000000000000",
}


def run(module: str, **settings: str) -> Any:
    """What `python -m module` prints as JSON in its last line. A process of its own, because table names and clients
    are fixed once they are made."""
    from local.emulator import Emulator

    emulator = Emulator(Path(tempfile.mkdtemp()), keep=False)
    emulator.start()
    try:
        emulator.deploy(PREFIX)
        done = subprocess.run(
            [sys.executable, "-m", module],
            cwd=_ROOT,
            env={**os.environ, **emulator.environment, **_SETTINGS, **settings},
            stdout=subprocess.PIPE,
            text=True,
            timeout=600,
            check=True,
        )
    finally:
        emulator.stop()
    return json.loads(done.stdout.splitlines()[-1])


class Meter:
    """Counts every call of the app's clients and asks DynamoDB what it consumed."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def __enter__(self) -> "Meter":
        clients, bare = self._hooks()
        for client in clients:
            client.register("before-parameter-build.dynamodb", self._ask)
            client.register("after-call", self._add)
        bare.register("before-send", self._sent)
        return self

    def __exit__(self, *failure: object) -> None:
        clients, bare = self._hooks()
        for client in clients:
            client.unregister("before-parameter-build.dynamodb", self._ask)
            client.unregister("after-call", self._add)
        bare.unregister("before-send", self._sent)

    @staticmethod
    def _hooks() -> tuple[list[Any], Any]:
        """Calls of the clients for tables (a request has its own), and raw calls, which search and send messages."""
        from chalicelib.kernel.aws import connection, session

        connections = (connection.patient(), connection.hurried())
        return [one.client.meta.events for one in connections], session.session().events

    def _sent(self, **other: Any) -> None:
        self.counts["requests"] += 1

    def _ask(self, params: dict[str, Any], **other: Any) -> None:
        params["ReturnConsumedCapacity"] = "INDEXES"

    def _add(self, parsed: dict[str, Any], model: Any, **other: Any) -> None:
        self.counts["requests"] += 1
        self.counts[model.name] += 1
        if model.name in ("Query", "Scan"):
            self.counts["rows read"] += parsed.get("ScannedCount", 0)
        self.counts["bytes read"] += len(json.dumps([parsed.get(part) for part in _READ], default=str))
        consumed = parsed.get("ConsumedCapacity") or []
        reads = model.name.startswith(("Get", "BatchGet", "TransactGet", "Query", "Scan"))
        kind, own = ("read units", "ReadCapacityUnits") if reads else ("write units", "WriteCapacityUnits")
        for units in consumed if isinstance(consumed, list) else [consumed]:
            self.counts[kind] += units.get(own, units.get("CapacityUnits", 0))


def fill(table: str, items: Iterable[dict[str, Any]]) -> None:
    """Write many items fast; values are strings or sets of strings."""
    from chalicelib.kernel.aws import session
    from chalicelib.kernel.aws.items import typed

    client = session.client("dynamodb")
    name = f"{PREFIX}-{table}"

    def write(batch: list[dict[str, Any]]) -> None:
        puts = [{"PutRequest": {"Item": {k: typed(v) for k, v in item.items()}}} for item in batch]
        client.batch_write_item(RequestItems={name: puts})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, _batches(items)))


def _batches(items: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    iterator = iter(items)
    while batch := list(islice(iterator, 25)):
        yield batch


def main(measure: Callable[[], Any]) -> None:
    result = measure()
    sys.stdout.write("\n" + json.dumps(result) + "\n")
