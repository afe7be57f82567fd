"""What the lists of the dashboard cost with a thousand, ten thousand and a hundred thousand subscribers, and what
that means for a million. Requests, rows and units are those of an exact DynamoDB. The time is our own CPU time and
the time DynamoDB takes for a page, of a search those of the shard with the most pages, but not less than it takes to
read so many units from an index that is new; at a million all of it ten times over.
"""

import os
import resource
from bisect import bisect
from collections import Counter
from collections.abc import Callable
from typing import Any

from bench import emulated, exact
from bench.audience import _emails, _moment, _subscribers
from bench.table import Row, at_most, growth

_SIZES = (1_000, 10_000, 100_000)
_FEWER_SIZES = (300, 1_000, 10_000)  # for the embedded AWS, which sorts everybody for every page
_MILLION = 1_000_000
_CAMPAIGNS = 60
# About what DynamoDB takes for a page of a megabyte, read from the same region.
_PAGE_SECONDS = 0.030
# What an index on demand gives from the beginning, before it has been split any further.
_UNITS_A_SECOND = 12_000
_DEEP = "/admin/subscribers?page=500"
_LAST = "/admin/subscribers?page=5000"
_SEARCH = "/admin/subscribers?q=reader99"
_BROAD = "/admin/subscribers?q=@"
_EXACT = "/admin/subscribers?q=reader99@example.com"


def rows() -> list[Row]:
    with exact.running() as url:
        place = {"AWS_ENDPOINT_URL_DYNAMODB": url} if url else {}
        sizes = _SIZES if url else _FEWER_SIZES
        chosen = ",".join(map(str, sizes))
        found = emulated.run("bench.admin", DISABLE_AUTH="true", BENCH_SIZES=chosen, **place)
    return _table(found, sizes)


def _table(found: dict[str, Any], sizes: tuple[int, ...]) -> list[Row]:
    many, fewer = found[str(sizes[-1])], found[str(sizes[-2])]
    with_many = f"with {sizes[-1]:,} subscribers"
    scale = _MILLION / sizes[-1]
    first_page = {size: found[str(size)]["/admin/subscribers"]["requests"] for size in sizes}
    made = [
        # Pending, activated, how many, and who of them is paused.
        at_most("subscribers, first page: requests", many["/admin/subscribers"]["requests"], 4, detail=with_many),
        growth("subscribers, first page: requests", first_page),
        at_most("campaign list: requests", many["/admin/campaigns"]["requests"], 3, detail=f"{_CAMPAIGNS} campaigns"),
    ]
    for name, path in (("page 500", _DEEP), ("page 5,000", _LAST), ("a search", _SEARCH), ("a broad search", _BROAD)):
        made.append(Row(f"subscribers, {name}", "", f"{_cost_text(many[path])} {with_many}"))
    first = many["/admin/subscribers"]["requests"]
    for name, path in (("page 500", _DEEP), ("page 5,000", _LAST)):
        made.append(at_most(f"{name}: requests ÷ those of page 1", many[path]["requests"] / first, 2))
    exact_address = {size: found[str(size)][_EXACT]["requests"] for size in sizes}
    made.append(at_most("an exact address: requests, with the row itself", exact_address[sizes[-1]], 2))
    made.append(growth("an exact address: requests", exact_address))
    grown = (many[_SEARCH]["requests"] / fewer[_SEARCH]["requests"]) / (sizes[-1] / sizes[-2])
    made.append(at_most("a search: growth of requests by growth of data", grown, 1.0))
    made.append(at_most(f"a search of {sizes[-1]:,}", _seconds(many[_SEARCH]), 0.65, " s", _halves(many[_SEARCH])))
    million = f"a search of {_MILLION:,}, extrapolated"
    made.append(at_most(million, _seconds(many[_SEARCH], scale), 3, " s", _halves(many[_SEARCH], scale)))
    made.append(at_most(f"{million}: CPU time", scale * many[_SEARCH]["cpu"], 0.5, " s"))
    # Of each shard one page is decoded, here and with more people; the others are counted, as those of a search are.
    broad = {**many[_SEARCH], "cpu": many[_SEARCH]["cpu"] + (many[_BROAD]["cpu"] - many[_SEARCH]["cpu"]) / scale}
    million = f"a search for what everybody has, of {_MILLION:,}, extrapolated"
    made.append(at_most(million, _seconds(broad, scale), 3, " s", _halves(broad, scale)))
    once, thrice = many["export"]["once"], many["export"]["thrice"]
    detail = f"{once:.1f} and {thrice:.1f} MB, a file of {many['export']['file']:.1f} MB"
    made.append(at_most(f"export: memory for {3 * sizes[-1]:,} ÷ {sizes[-1]:,}", thrice / once, 1.2, detail=detail))
    largest = max(cost["bytes"] for cost in many.values() if "bytes" in cost) / 1024
    return [*made, at_most("largest HTML of a list, 100 people a page", largest, 60, " KB")]


def _cost_text(cost: dict[str, float]) -> str:
    return f"{cost['requests']:.0f} requests, {cost['rows']:,.0f} rows, {cost['units']:,.0f} read units"


def _seconds(cost: dict[str, float], scale: float = 1) -> float:
    """Pages of different shards are read at the same time; whatever else is asked comes before or after them."""
    alone = cost["requests"] - cost["shard requests"]
    shards = max(cost["rounds"] * _PAGE_SECONDS, cost["units"] / _UNITS_A_SECOND)
    return scale * (cost["cpu"] + shards) + alone * _PAGE_SECONDS


def _halves(cost: dict[str, float], scale: float = 1) -> str:
    return f"{scale * cost['cpu']:.2f} s of CPU time, {scale * cost['requests']:.0f} requests"


def _measure() -> dict[str, dict[str, dict[str, float]]]:
    import app
    from chalicelib.audience import listing, searching
    from chalicelib.campaigns import service
    from chalicelib.campaigns.service import Draft
    from chalicelib.kernel import patience
    from local.gateway.gateway import Gateway
    from tests.fixtures.client import Client

    ask = Client(Gateway(app.app)).get
    # The DynamoDB of this benchmark answers one after the other, in its own time; how long all take is modelled.
    searching.AT_ONCE, patience.READ_SECONDS, patience._BUDGET = 1, 60, 600
    listing._PATIENCE = 600
    for number in range(_CAMPAIGNS):
        service.create(Draft(f"Campaign {number}", "<p>Words</p>"))
    found, present = {}, 0
    sizes = [int(size) for size in os.environ["BENCH_SIZES"].split(",")]
    for wanted in sizes:
        emulated.fill("subscribers", _subscribers(present, wanted))
        emulated.fill("emails", _emails(99, 100))
        _count(wanted)
        present = wanted
        paths = ("/admin/subscribers", "/admin/subscribers?per_page=100", "/admin/campaigns", _SEARCH, _BROAD, _EXACT)
        deep = (_DEEP, _LAST) if wanted == sizes[-1] else ()
        found[str(wanted)] = {path: _cost(ask, path) for path in (*paths, *deep)}
    found[str(sizes[-1])]["export"] = _export()
    return found


def _cost(ask: Callable[[str], Any], path: str) -> dict[str, float]:
    ask("/admin/do-not-contact")  # whatever is loaded once is loaded by now
    with emulated.Meter() as meter, _RawMeter() as raw:
        begun = _cpu()
        answer = ask(path)
        cpu = _cpu() - begun
    assert answer.status == 200, answer.text
    counted = {"requests": meter.counts["requests"], "rows": raw.counts["rows"]}
    counted |= {"shard requests": sum(raw.shards.values()), "rounds": max(raw.shards.values(), default=0)}
    return {**counted, "units": raw.counts["units"], "cpu": cpu, "bytes": len(answer.body)}


class _RawMeter:
    """Rows and read units of calls that go over the bare wire; the meter has their number already."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.shards: Counter[str] = Counter()

    def __enter__(self) -> "_RawMeter":
        from chalicelib.kernel.aws import raw

        self._call = raw.dynamodb
        raw.dynamodb = self._counted  # type: ignore[assignment]
        return self

    def __exit__(self, *failure: object) -> None:
        from chalicelib.kernel.aws import raw

        raw.dynamodb = self._call  # type: ignore[assignment]

    def _counted(self, operation: str, parameters: dict[str, Any]) -> Any:
        answer = self._call(operation, {**parameters, "ReturnConsumedCapacity": "TOTAL"})
        if shard := parameters.get("ExpressionAttributeValues", {}).get(":shard"):
            self.shards[shard["S"]] += 1
        if operation == "GetItem":
            self.counts["units"] += answer["ConsumedCapacity"]["CapacityUnits"]
        elif operation == "BatchGetItem":
            self.counts["rows"] += sum(map(len, answer["Responses"].values()))
            self.counts["units"] += sum(table["CapacityUnits"] for table in answer["ConsumedCapacity"])
        else:
            self.counts["rows"] += answer["ScannedCount"]
            self.counts["units"] += answer["ConsumedCapacity"]["CapacityUnits"]
        return answer


def _export() -> dict[str, float]:
    """What an export holds in memory at most, of everybody, and of everybody three times over."""
    once, size = _peak(1)
    thrice, _ = _peak(3)
    return {"once": once, "thrice": thrice, "file": size}


def _peak(times: int) -> tuple[float, float]:
    import tracemalloc

    from chalicelib.audience import export
    from chalicelib.audience.listing import Filter
    from chalicelib.kernel.aws import files

    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    parts = (part.encode() for _ in range(times) for part in export.csv_parts(Filter()))
    size = sum(len(piece) for piece in files._pieces(parts))
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return peak / 1e6, size / 1e6


def _count(total: int) -> None:
    """Count them as subscribers, as if each had confirmed and the clean-up had merged who signed up when."""
    from chalicelib.audience.stores import filling, places
    from chalicelib.kernel.aws import tables

    for place in places.newest_first():
        tables.delete(places.PlaceRow("places", place.slot))
    counted = {"joined": total, "left": 0, "total": total}
    emulated.fill("census", [{"kind": "subscribers", "slot": "2026-10-01", **counted}])
    seconds = sorted(_moment(number)[:19] for number in range(total))
    anchors = sorted({*seconds[::1_000]})
    merged = Counter(anchors[bisect(anchors, at) - 1] for at in seconds)
    rows = ({"kind": "places", "slot": at, "people": people, "anchor": True} for at, people in merged.items())
    emulated.fill("census", rows)
    filling.finish()


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    emulated.main(_measure)
