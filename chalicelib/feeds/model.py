"""Which entries of a feed are new. No I/O: the same entries, memory and time always give the same verdict.

An entry published later than the last processed one is new. Real feeds break that rule, so fingerprints of the
entries seen are kept beside the time: an entry seen before is never new, whatever its date says now. Ids break, too:
an entry that only got another one is recognised by its page and its date.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from chalicelib.feeds.reading.model import Entry

# An entry dated a little before the last one may still be new: dates without a time, wrong time zones, a post that
# was drafted yesterday. Anything older is taken for an old entry that has reappeared.
NEAR = timedelta(days=2)
# Clocks differ; an entry dated further ahead than this waits for its time.
AHEAD = timedelta(minutes=10)
# How many fingerprints of entries that are no longer in the feed are kept: two of each entry that has a date.
VANISHED = 200
VANISHED_UNDATED = 1000
# A feed of at least so many entries, all of them unknown, was rewritten.
REWRITTEN = 10


class Memory(Struct, frozen=True):
    """`fingerprints`: those of the latest document and its traces, then those that have vanished since, most recently
    seen first."""

    watermark: datetime
    fingerprints: tuple[bytes, ...] = ()


class Verdict(Struct, frozen=True):
    """`new` is the latest first; `waiting_until` is when the next future-dated entry is due."""

    new: tuple[Entry, ...]
    memory: Memory
    waiting_until: datetime | None
    first: bool = False
    flood: bool = False


def judge(entries: Iterable[Entry], memory: Memory | None, now: datetime, flood: int) -> Verdict:
    """Without a memory this is the first check: everything is recorded and nothing is new."""
    listed = unique(entries)
    waiting = [entry.dated for entry in listed if entry.dated and is_ahead(entry, now)]
    present = [entry for entry in listed if not is_ahead(entry, now)]
    unknown = _unknown(present, memory) if memory else []
    new = [entry for entry in unknown if memory and _is_recent(entry, memory)]
    rewritten = len(unknown) == len(present) >= REWRITTEN
    return Verdict(
        new=tuple(sorted(new, key=latest_first)),
        memory=_remember(present, memory, now),
        waiting_until=min(waiting, default=None),
        first=memory is None,
        flood=len(new) > flood or (rewritten and bool(new)),
    )


def unique(entries: Iterable[Entry]) -> list[Entry]:
    """One entry for each fingerprint: the earliest, since a later one with the same id is an update of it. The order
    of the feed decides nothing."""
    chosen: dict[bytes, Entry] = {}
    for entry in entries:
        twin = chosen.get(entry.fingerprint)
        if not twin or _earliest_first(entry) < _earliest_first(twin):
            chosen[entry.fingerprint] = entry
    return list(chosen.values())


def is_ahead(entry: Entry, now: datetime) -> bool:
    return entry.dated is not None and entry.dated > now + AHEAD


def latest_first(entry: Entry) -> tuple[float, str]:
    return -entry.dated.timestamp() if entry.dated else 0.0, entry.id


def _unknown(present: Sequence[Entry], memory: Memory) -> list[Entry]:
    """Two entries with the same trace in one document are two entries, whatever it says."""
    seen, traces = set(memory.fingerprints), Counter(entry.trace for entry in present)
    return [
        entry
        for entry in present
        if entry.fingerprint not in seen and not (entry.trace in seen and traces[entry.trace] == 1)
    ]


def _is_recent(entry: Entry, memory: Memory) -> bool:
    return not entry.dated or entry.dated > memory.watermark - NEAR


def _remember(present: Sequence[Entry], memory: Memory | None, now: datetime) -> Memory:
    dates = [entry.dated for entry in present if entry.dated]
    if memory:
        dates.append(memory.watermark)
    names = [name for entry in present for name in (entry.fingerprint, entry.trace) if name]
    current = dict.fromkeys(sorted(names))
    before = memory.fingerprints if memory else ()
    vanished = [fingerprint for fingerprint in before if fingerprint not in current]
    # An old entry that returns is recognised by its publication date; without a date, only by its fingerprint.
    # An empty document, as of a site being rebuilt, does not tell whether the feed has dates.
    dated = present and all(entry.published for entry in present)
    kept = VANISHED if dated else VANISHED_UNDATED
    return Memory(max(dates, default=now), (*current, *vanished[:kept]))


def _earliest_first(entry: Entry) -> tuple[bool, float, bool, str]:
    """At the same time, published goes before updated; `repr` only makes the order complete."""
    dated = entry.dated
    return dated is None, dated.timestamp() if dated else 0.0, not entry.published, repr(entry)
