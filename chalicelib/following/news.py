"""Which items of a page are new. No input or output: the same page and memory always give the same answer.

Ids decide: an item is new if its id was never on a page before, wherever on the page it is now and whatever its date
says. Only one kind of unknown id is not new: when a recent item is deleted, an old one moves up into view. It is
older than everything that was in view before.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from chalicelib.following.providers.contract import Found

FINGERPRINT_BYTES = 8
_REMEMBERED = 2_000
_ARRIVALS = 50


class Arrival(Struct, frozen=True):
    """An item of the inbox, and when it was found."""

    item_id: str
    at: datetime


class Memory(Struct, frozen=True):
    """Fingerprints of the ids that were on pages, those of the last page first; and what was found last, for those
    who come back from a pause, newest first."""

    fingerprints: tuple[bytes, ...] = ()
    arrivals: tuple[Arrival, ...] = ()


def fingerprint(item_id: str) -> bytes:
    return hashlib.blake2b(item_id.encode("utf-8", "replace"), digest_size=FINGERPRINT_BYTES).digest()


def find_new(items: Iterable[Found], memory: Memory, floor: datetime | None) -> list[Found]:
    """Oldest first, and of the same date the first as the provider lists them last. Items without a date come first:
    their order is unknown, and the newest should arrive last."""
    seen = set(memory.fingerprints)
    new = [item for item in items if fingerprint(item.id) not in seen and not _is_old(item, floor)]
    new.reverse()
    return sorted(new, key=by_date)


def find_latest(items: Sequence[Found]) -> Found | None:
    """The one with the greatest date; without dates, the first as the provider lists them."""
    dated = [item for item in items if item.published_at]
    return max(dated, key=by_date) if dated else (items[0] if items else None)


def remember(memory: Memory, item_ids: Iterable[str], arrivals: Sequence[Arrival] = ()) -> Memory:
    """With these ids too. Those that were on a page longest ago are forgotten first."""
    now = [fingerprint(id) for id in item_ids]
    fingerprints = tuple(dict.fromkeys((*now, *memory.fingerprints)))[: max(_REMEMBERED, len(now))]
    return Memory(fingerprints, (*reversed(arrivals), *memory.arrivals)[:_ARRIVALS])


def find_floor(items: Iterable[Found], has_older: bool) -> datetime | None:
    """The oldest date in view. None if all there is is in view: then nothing old can move up into it."""
    dates = [item.published_at for item in items if item.published_at]
    return min(dates) if dates and has_older else None


def _is_old(item: Found, floor: datetime | None) -> bool:
    return floor is not None and item.published_at is not None and item.published_at < floor


def by_date(item: Found) -> tuple[bool, float]:
    return item.published_at is not None, item.published_at.timestamp() if item.published_at else 0.0
