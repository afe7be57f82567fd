"""Searching everybody: all shards of the index at the same time, as far as there is time, and on from there."""

import base64
import struct
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from functools import partial
from heapq import merge

from msgspec import Struct

from chalicelib.audience import folding
from chalicelib.audience.stores import search as store
from chalicelib.audience.stores.search import Hits, Position, Terms
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid

AT_ONCE = len(folding.SHARDS)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HEAD = struct.Struct(">II")
_ROW = struct.Struct(">q16s")
_BEGIN, _AFTER, _END = b"b", b"a", b"e"


class Place(Struct, frozen=True):
    """How far a search has come: the position in every shard that has more, and what was found and read until then.
    Shards at their end are left out."""

    shards: Mapping[str, Position | None]
    found: int = 0
    looked_at: int = 0


class Found(Struct, frozen=True):
    """Ids, newest first, of those to show, and where to go on (None if everybody has been looked at). `count` and
    `looked_at` are for the whole search up to here."""

    ids: list[str]
    count: int
    looked_at: int
    rest: Place | None


BEGINNING = Place(dict.fromkeys(folding.SHARDS))


def search(terms: Terms, start: int, count: int, seconds: float) -> Found:
    """Everybody who matches, counted, and those from position `start` on. If that takes longer, the first of what
    was found so far."""
    ends = time.monotonic() + seconds
    hits = _search_shards(terms, BEGINNING, start + count, lambda _: time.monotonic() < ends)
    if any(each.rest for each in hits.values()):
        return _piece(BEGINNING, hits, count)
    newest = _newest_first(hits)[start : start + count]
    return Found([id for _, id in newest], _sum(hits, "count"), _sum(hits, "looked_at"), None)


def go_on(terms: Terms, place: Place, count: int, seconds: float) -> Found:
    """The next so many, as far as there is time: perhaps none, and yet more to look at."""
    ends = time.monotonic() + seconds
    enough = lambda hits: len(hits.matches) < count and time.monotonic() < ends  # noqa: E731
    return _piece(place, _search_shards(terms, place, count, enough), count)


def encode(place: Place) -> str:
    """Short enough for a URL."""
    parts = [_HEAD.pack(min(place.found, 2**32 - 1), min(place.looked_at, 2**32 - 1))]
    for shard in folding.SHARDS:
        position = place.shards.get(shard)
        if position:
            parts.append(_AFTER + _ROW.pack(_milliseconds(position.created_at), uuid.UUID(position.id).bytes))
        else:
            parts.append(_BEGIN if shard in place.shards else _END)
    return base64.urlsafe_b64encode(b"".join(parts)).decode()


def decode(text: str) -> Place:
    """From a text that `encode` made; it is signed where it is shown."""
    try:
        data = base64.urlsafe_b64decode(text.encode())
        found, looked_at = _HEAD.unpack_from(data)
        shards: dict[str, Position | None] = {}
        at = _HEAD.size
        for shard in folding.SHARDS:
            kind, at = data[at : at + 1], at + 1
            if kind == _AFTER:
                moment, id = _ROW.unpack_from(data, at)
                at += _ROW.size
                created_at = clock.text(_EPOCH + timedelta(milliseconds=moment))
                shards[shard] = Position(created_at, str(uuid.UUID(bytes=id)))
            elif kind == _BEGIN:
                shards[shard] = None
        return Place(shards, found, looked_at)
    except (ValueError, struct.error, OverflowError):
        raise Invalid("cursor is not valid") from None


def _search_shards(terms: Terms, place: Place, keep: int, may_go_on: Callable[[Hits], bool]) -> dict[str, Hits]:
    """Each in a thread, with the patience of this request."""
    with ThreadPoolExecutor(max_workers=AT_ONCE) as threads:
        running = {
            shard: threads.submit(
                copy_context().run, partial(store.search_shard, shard, terms, after, keep, may_go_on)
            )
            for shard, after in place.shards.items()
        }
        return {shard: future.result() for shard, future in running.items()}


def _piece(place: Place, hits: Mapping[str, Hits], count: int) -> Found:
    """What is found and not shown is left for later: its shard goes on after the last one that is shown."""
    newest = _newest_first(hits)[:count]
    shown: dict[str, list[Position]] = {}
    for position in newest:
        shown.setdefault(folding.shard_of(position.id), []).append(position)
    rest: dict[str, Position | None] = {}
    for shard, each in hits.items():
        mine = shown.get(shard, [])
        if each.count > len(mine):
            rest[shard] = mine[-1] if mine else place.shards[shard]
        elif each.rest:
            rest[shard] = each.rest
    found, looked_at = place.found + len(newest), place.looked_at + _sum(hits, "looked_at")
    return Found([id for _, id in newest], found, looked_at, Place(rest, found, looked_at) if rest else None)


def _newest_first(hits: Mapping[str, Hits]) -> list[Position]:
    return list(merge(*(each.matches for each in hits.values()), key=lambda found: found.created_at, reverse=True))


def _sum(hits: Mapping[str, Hits], name: str) -> int:
    return sum(getattr(each, name) for each in hits.values())


def _milliseconds(text: str) -> int:
    return clock.milliseconds(clock.parse(text))
