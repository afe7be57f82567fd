"""What counting segments costs: ten in one reading of everybody, beside one and beside a filtered count of each.
Requests are those of an exact DynamoDB, whose pages end after a megabyte; the times are of this machine, where it
answers from memory."""

import time
from typing import Any

from bench import emulated, exact
from bench.table import Row, at_most

_PEOPLE, _SEGMENTS = 20_000, 10
_WORDS = ("blog", "shop", "fair", "talk", "friend", "tea", "coffee")


def rows() -> list[Row]:
    with exact.running() as url:
        found = emulated.run("bench.segments", **({"AWS_ENDPOINT_URL_DYNAMODB": url} if url else {}))
    one, ten, each = found["one"], found["ten"], found["each"]
    people = f"{_PEOPLE:,} people"
    return [
        at_most(
            f"{_SEGMENTS} segments counted, {people}: requests ÷ those of one segment",
            ten["requests"] / one["requests"],
            1,
            detail=f"{ten['requests']:.0f} requests; one count each takes {each['requests']:.0f}",
        ),
        at_most(
            f"{_SEGMENTS} segments counted, {people}: time ÷ that of one segment",
            ten["seconds"] / one["seconds"],
            2,
            detail=f"{ten['seconds'] * 1000:.0f} ms",
        ),
    ]


def _measure() -> dict[str, dict[str, float]]:
    from chalicelib.audience import recipients
    from chalicelib.campaigns import segments
    from chalicelib.campaigns.model import Targeting, Terms
    from chalicelib.kernel import clock

    emulated.fill("subscribers", (_person(number) for number in range(_PEOPLE)))
    aims = [Targeting(tags=Terms(any=(_WORDS[number % 7],), none=("x",))) for number in range(_SEGMENTS)]
    made = [segments.create(f"Segment {number}", aim) for number, aim in enumerate(aims)]
    resolved = [aim.resolve("UTC") for aim in aims]
    segments.count(made)  # whatever is loaded once is loaded by now
    found = {
        "one": _metered(lambda: segments.count(made[:1])),
        "ten": _metered(lambda: segments.count(made)),
        "each": _metered(lambda: [recipients.count(aim, clock.now()) for aim in resolved]),
    }
    assert segments.count(made) == [recipients.count(aim, clock.now()) for aim in resolved]
    return found


def _metered(look: Any) -> dict[str, float]:
    taken = []
    for _ in range(3):
        with emulated.Meter() as meter:
            began = time.perf_counter()
            look()
            taken.append(time.perf_counter() - began)
    return {"requests": float(meter.counts["requests"]), "seconds": sorted(taken)[1]}


def _person(number: int) -> dict[str, Any]:
    at = f"2025-{number % 12 + 1:02}-15T08:00:00.000Z"
    return {
        "id": f"01900000-0000-7000-8000-{number:012x}",
        "email": f"reader{number}@example.net",
        "status": "activated",
        "unsubscribe_secret": "s" * 32,
        "created_at": at,
        "activated_at": at,
        "sources": {_WORDS[number % 4]},
        "tags": {_WORDS[number % 7], _WORDS[number % 5]},
    }


if __name__ == "__main__":
    emulated.main(_measure)
