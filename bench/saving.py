"""What saving a draft costs, as its editor does by itself: requests and units of an exact DynamoDB, for texts that
compress like prose. The first save of a version also keeps what was there before; the following ones overwrite it.
Units follow the compressed size: a transaction writes two for each kilobyte of every row, and the index once more."""

import random
from typing import Any

from bench import emulated, exact
from bench.table import Row, at_most

_SIZES = (5_000, 50_000, 500_000)
_MOST_REQUESTS = 2
_WORDS = 8_000


def rows() -> list[Row]:
    with exact.running() as url:
        place = {"AWS_ENDPOINT_URL_DYNAMODB": url} if url else {}
        found = emulated.run("bench.saving", DISABLE_AUTH="true", **place)
    return [row for size in _SIZES for row in _rows(size, found[str(size)])]


def _rows(size: int, costs: dict[str, dict[str, float]]) -> list[Row]:
    name = f"autosave of {size // 1000} KB"
    return [
        at_most(f"{name}, {which}: requests", cost["requests"], _MOST_REQUESTS, detail=_units(cost))
        for which, cost in costs.items()
    ]


def _units(cost: dict[str, float]) -> str:
    kilobytes = cost["stored"] / 1000
    return (
        f"{cost['read units']:.0f} read and {cost['write units']:.0f} write units, "
        f"{kilobytes:.3g} KB compressed, {cost['messages']:.0f} messages"
    )


def _measure() -> dict[str, Any]:
    import app
    from local.gateway.gateway import Gateway
    from tests.fixtures.client import Client

    http = Client(Gateway(app.app))
    return {str(size): _costs(http, size) for size in _SIZES}


def _costs(http: Any, size: int) -> dict[str, dict[str, float]]:
    text = _prose(size)
    made = http.post("/admin/api/campaigns", json={"subject": "Hello", "body": text, "format": "markdown"}).json
    path, version = f"/admin/api/campaigns/{made['id']}", made["version"]
    costs = {}
    for at, which in enumerate(("first of a version", "following", "nothing new")):
        words = text if at == 0 else text[:-20]
        edits = {"body": f"{words[:-10]} the end", "version": version, "autosave": True}
        costs[which], version = _metered(http, path, edits)
    return costs


def _metered(http: Any, path: str, edits: dict[str, Any]) -> tuple[dict[str, float], int]:
    from chalicelib.campaigns import content_store
    from chalicelib.kernel.aws import tables

    http.get("/health")  # whatever is loaded once is loaded by now
    with emulated.Meter() as meter:
        answer = http.request("PATCH", path, json=edits, headers={})
    assert answer.status == 200, answer.text
    row = tables.get(content_store.ContentRow, path.rpartition("/")[2])
    assert row
    counted = {what: float(meter.counts[what]) for what in ("requests", "read units", "write units")}
    return {**counted, "stored": float(len(row.body)), "messages": _messages(meter)}, answer.json["version"]


def _messages(meter: emulated.Meter) -> float:
    """Raw calls are those to queues."""
    return float(
        meter.counts["requests"] - sum(meter.counts[name] for name in ("TransactGetItems", "TransactWriteItems"))
    )


def _prose(size: int) -> str:
    """Words as often as in a language: the more common, the more often."""
    noise = random.Random(17)
    known = ["".join(noise.choices("etaoinshrdlucmfwypvbgkjqxz", k=noise.randint(2, 9))) for _ in range(_WORDS)]
    weights = [1 / (at + 3) for at in range(_WORDS)]
    return " ".join(noise.choices(known, weights, k=size // 5))[:size]


if __name__ == "__main__":
    emulated.main(_measure)
