"""What members' calls cost. Requests and units are those of an exact DynamoDB, for somebody with ten and with ten
thousand sightings, all with photos. Signing in is compared with the one bcrypt hash it has to compute, in processor
time, in the same process."""

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench import emulated, exact
from bench.table import Row, at_most, growth

_SIZES = (10, 10_000)
# An address may try ten times an hour, and the tenth is metered.
_ROUNDS = 9
_PASSWORD = "Analytical-1"
_ME, _LIST, _TEN = "/api/auth/me", "/api/sightings?limit=20", "/api/sightings?limit=10"
_SEARCH = "/api/sightings?limit=20&q=fox"


def rows() -> list[Row]:
    with exact.running() as url:
        place = {"AWS_ENDPOINT_URL_DYNAMODB": url} if url else {}
        found = emulated.run("bench.members", MEMBERS="open", **place)
    lists = {size: found[str(size)] for size in _SIZES}
    many = lists[_SIZES[-1]]
    return [
        at_most("session check (GET /api/auth/me): requests", many[_ME]["requests"], 1),
        at_most("list of 20 sightings: requests, session included", many[_LIST]["requests"], 3),
        # Whoever has ten sightings fills a page of ten, so that is where units can be compared.
        growth("list of 20 sightings: requests", {size: cost[_LIST]["requests"] for size, cost in lists.items()}),
        growth("list of 10 sightings: read units", {size: cost[_TEN]["read units"] for size, cost in lists.items()}),
        growth("list of 10 sightings: requests", {size: cost[_TEN]["requests"] for size, cost in lists.items()}),
        Row("search among 10,000 sightings, one page", "", _shown(many[_SEARCH])),
        Row("post a sighting", "", _shown(found["create"])),
        at_most(
            "sign-in: CPU ÷ one bcrypt hash",
            found["sign-in"]["ratio"],
            1.05,
            detail=f"{found['sign-in']['ms']:.0f} ms, {found['sign-in']['requests']:.0f} requests",
        ),
    ]


def _shown(cost: dict[str, float]) -> str:
    units = ", ".join(f"{cost[what]:.0f} {what}" for what in ("read units", "write units") if cost[what])
    return f"{cost['requests']:.0f} requests, {units}"


def _measure() -> dict[str, Any]:
    import app
    from chalicelib.members import service
    from local.gateway.gateway import Gateway
    from tests.fixtures.client import Client

    http = Client(Gateway(app.app))
    found: dict[str, Any] = {}
    for number, size in enumerate(_SIZES):
        email = f"member{size}@example.net"
        member, value = service.sign_up(email, _PASSWORD, _PASSWORD, None, f"192.0.2.{number}")
        emulated.fill("sightings", _sightings(member.id, size))
        emulated.fill("media", _pictures(member.id, size))
        cookie = {"Cookie": f"__Host-session={value}"}
        found[str(size)] = {path: cost(http, "GET", path, cookie) for path in (_ME, _LIST, _TEN, _SEARCH)}
    body = {"animal_name": "Red fox", "location": "Hampstead Heath"}
    found["create"] = cost(http, "POST", "/api/sightings", cookie, body)
    found["sign-in"] = _sign_in(email)
    return found


def cost(http: Any, method: str, path: str, headers: dict[str, str], body: Any = None) -> dict[str, float]:
    http.get("/health")  # whatever is loaded once is loaded by now
    with emulated.Meter() as meter:
        answer = http.request(method, path, json=body, headers=headers)
    assert answer.status in (200, 201), answer.text
    return {what: meter.counts[what] for what in ("requests", "read units", "write units")}


def _sign_in(email: str) -> dict[str, float]:
    """Each in turns, so that a busy machine is unfair to both alike."""
    import bcrypt

    from chalicelib.members import service

    stored = bcrypt.hashpw(_PASSWORD.encode(), bcrypt.gensalt(12))
    ours, alone = [], []
    for number in range(_ROUNDS):
        client = f"198.51.100.{number}"
        ours.append(_cpu(lambda client=client: service.sign_in(email, _PASSWORD, client)))
        alone.append(_cpu(lambda: bcrypt.checkpw(_PASSWORD.encode(), stored)))
    with emulated.Meter() as meter:
        service.sign_in(email, _PASSWORD, "203.0.113.1")
    middle = statistics.median(ours)
    return {
        "ratio": middle / statistics.median(alone),
        "ms": middle * 1000,
        "requests": meter.counts["requests"],
    }


def _cpu(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _sightings(owner: str, count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        name, place = ("Red fox", "Kingfisher")[number % 2], f"Hampstead Heath, path {number:05}"
        moment = "2026-11-01T08:00:00.000Z"
        yield {
            "owner": owner,
            "id": _id(number),
            "animal_name": name,
            "location": place,
            "folded": f"{name}\n{place}".casefold(),
            "sighted_at": moment,
            "created_at": moment,
            "updated_at": 1_793_520_000,
            "picture_id": _id(number),
        }


def _pictures(owner: str, count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        moment = "2026-11-01T08:00:00.000Z"
        yield {
            "id": _id(number),
            "owner": owner,
            "state": "ready",
            "created_at": moment,
            "until": moment,
            "attached_at": moment,
            "uploaded_at": moment,
            "format": "image/jpeg",
            "size": 400_000,
            "width": 2048,
            "height": 1536,
        }


def _id(number: int) -> str:
    return f"01930000-{number % 65536:04x}-7000-8000-{number:012x}"


if __name__ == "__main__":
    emulated.main(_measure)
