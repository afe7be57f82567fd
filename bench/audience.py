"""What one call of a reader costs in requests and write units, with a thousand, ten thousand and a hundred thousand
subscribers."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from bench import emulated
from bench.table import Row, at_most, growth

_SIZES = (1_000, 10_000, 100_000)
_ROUNDS = 10
_LIMITS = {
    ("subscribe, new address", "requests"): 3,
    ("subscribe, new address", "write units"): 12,
    ("confirm", "requests"): 2,
    ("unsubscribe", "requests"): 3,  # one asks which campaigns of the last week it counts for
}


def rows() -> list[Row]:
    found = dict(zip(_SIZES, emulated.run("bench.audience"), strict=True))
    many = found[_SIZES[-1]]
    made = [
        at_most(f"{call}: {what}", many[call][what], limit, detail=f"with {_SIZES[-1]:,} subscribers")
        for (call, what), limit in _LIMITS.items()
    ]
    for call in many:
        for what in ("requests", "write units"):
            made.append(growth(f"{call}: {what}", {size: found[size][call][what] for size in _SIZES}))
    return made


def _measure() -> list[dict[str, dict[str, float]]]:
    import app
    from local.gateway.gateway import Gateway
    from tests.fixtures.client import Client

    http = Client(Gateway(app.app))
    found = []
    for present, wanted in pairwise((0, *_SIZES)):
        emulated.fill("subscribers", _subscribers(present, wanted))
        emulated.fill("emails", _emails(present, wanted))
        _flow(http, f"warm{wanted}", {})
        counts: dict[str, dict[str, float]] = {}
        for number in range(_ROUNDS):
            _flow(http, f"r{wanted}-{number}", counts)
        found.append({call: {k: v / _ROUNDS for k, v in sums.items()} for call, sums in counts.items()})
    return found


def _flow(http: Any, name: str, counts: dict[str, dict[str, float]]) -> None:
    """One reader's whole way, each call metered; the links between are issued directly."""
    from chalicelib.audience.model import CONFIRMATION_LIFE
    from chalicelib.audience.stores import captures, emails, subscribers
    from chalicelib.audience.stores import tokens as token_store
    from chalicelib.kernel import addresses, clock, tokens
    from chalicelib.kernel.aws import tables

    email = f"{name}@example.net"
    ip = f"10.0.{abs(hash(name)) % 250}.{abs(hash(name[::-1])) % 250}"
    body = {"email": email, "nickname": "Somebody"}
    _metered(counts, "subscribe, new address", lambda: http.post("/api/subscribe", json=body, source_ip=ip), 201)
    _metered(counts, "processing a sign-up (worker)", lambda: _process_sign_up(email))
    id = emails.find_owner(addresses.key(email), clock.now()) or ""
    plain = {"email": email}
    _metered(counts, "subscribe, pending address", lambda: http.post("/api/subscribe", json=plain, source_ip=ip), 201)
    token, until = tokens.issue(id), clock.now() + CONFIRMATION_LIFE
    pending = subscribers.find(id)
    assert pending
    (request,) = captures.list_requests(id, clock.now())
    tables.transact(token_store.issue_confirmation_write(pending, request, token, until))
    _metered(counts, "confirm", lambda: http.get(f"/confirm?token={token}"), 303)
    _metered(counts, "subscribe, active address", lambda: http.post("/api/subscribe", json=plain, source_ip=ip), 201)
    _metered(counts, "request link", lambda: http.post("/api/profile/request-link", json=plain, source_ip=ip), 200)
    person = subscribers.find(id)
    assert person
    _metered(counts, "unsubscribe", lambda: http.get(f"/api/unsubscribe?token={person.unsubscribe_token}"), 200)


def _process_sign_up(email: str) -> None:
    from chalicelib.audience import model, sign_ups
    from chalicelib.audience.stores import sign_ups as sign_up_store
    from chalicelib.kernel import addresses

    pseudonym = model.address_pseudonym(addresses.key(email))
    assert sign_ups.process(pseudonym)
    sign_up_store.forget(pseudonym)


def _metered(counts: dict[str, dict[str, float]], call: str, ask: Any, status: int = 0) -> None:
    with emulated.Meter() as meter:
        answer = ask()
    assert not status or answer.status == status, (call, answer.status, answer.text)
    sums = counts.setdefault(call, {"requests": 0.0, "write units": 0.0})
    for what in sums:
        sums[what] += meter.counts[what]


def _subscribers(start: int, end: int) -> Iterator[dict[str, Any]]:
    from chalicelib.audience import folding

    for number in range(start, end):
        moment = _moment(number)
        email, nickname = f"reader{number}@example.com", f"Reader {number}"
        yield {
            "id": _id(number),
            "shard": folding.shard_of(_id(number)),
            "folded": folding.fold_person(email, nickname),
            "email": email,
            "nickname": nickname,
            "status": "activated",
            "unsubscribe_secret": f"{number:032}",
            "created_at": moment,
            "activated_at": moment,
            "sources": {"blog"},
        }


def _moment(number: int) -> str:
    return f"2026-{1 + number % 9:02}-{1 + number % 27:02}T{number % 24:02}:{number % 59:02}:{number % 53:02}.000Z"


def _emails(start: int, end: int) -> Iterator[dict[str, Any]]:
    for number in range(start, end):
        yield {"address": f"reader{number}@example.com", "subscriber_id": _id(number)}


def _id(number: int) -> str:
    return f"01930000-{number % 65536:04x}-7000-8000-{number:012x}"


if __name__ == "__main__":
    emulated.main(_measure)
