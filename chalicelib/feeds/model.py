"""The words of feeds and the rule of what is new. No I/O: given the same entries, memory and time, the same verdict.

What was published later than the last processed entry is new. Real feeds break that rule, so marks of the entries
seen are kept beside the time: an entry seen before is never new, whatever its date says now.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

# An entry dated a little before the last one may still be new: dates without a time, wrong time zones, a post that
# was drafted yesterday. Further back only what its author says today counts as published then.
NEAR = timedelta(days=2)
# Clocks differ; what is dated later than this is meant to wait.
AHEAD = timedelta(minutes=10)
MARK_BYTES = 6
VANISHED = 100
VANISHED_UNDATED = 1000
FLOODABLE = 10


class Entry(Struct, frozen=True):
    """One entry. Title, link and image are plain text and http(s) URLs or empty; `html` is as the feed has it.

    `updated` stands in for `published` where the feed gives only that."""

    id: str
    title: str = ""
    link: str = ""
    published: datetime | None = None
    updated: datetime | None = None
    html: str = ""
    base: str = ""
    image: str = ""

    @property
    def dated(self) -> datetime | None:
        return self.published or self.updated

    @property
    def mark(self) -> bytes:
        """A site that moves to https keeps its entries."""
        name = "https://" + self.id[7:] if self.id.startswith("http://") else self.id
        return hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=MARK_BYTES).digest()


class Memory(Struct, frozen=True):
    """`marks`: those of the latest document first, then those that have vanished since, most recently seen first."""

    watermark: datetime
    marks: tuple[bytes, ...] = ()


class Verdict(Struct, frozen=True):
    """`new` is the latest first; `waiting_until` is when the next future-dated entry is due."""

    new: tuple[Entry, ...]
    memory: Memory
    waiting_until: datetime | None
    first: bool = False
    flood: bool = False


def identity(guid: str, link: str, title: str, content: str) -> str:
    """What makes two entries the same: guid, then link, then what they say."""
    if guid or link:
        return guid or link
    return "sha256:" + hashlib.sha256(f"{title}\n{content}".encode("utf-8", "replace")).hexdigest()


def judge(entries: Iterable[Entry], memory: Memory | None, now: datetime, flood: int) -> Verdict:
    """Without a memory this is the first check: everything is recorded and nothing is new."""
    unique = _unique(entries)
    waiting = [entry.dated for entry in unique if entry.dated and entry.dated > now + AHEAD]
    present = [entry for entry in unique if not (entry.dated and entry.dated > now + AHEAD)]
    unknown = _unknown(present, memory) if memory else []
    new = [entry for entry in unknown if memory and _is_recent(entry, memory)]
    rewritten = len(unknown) == len(present) >= FLOODABLE
    return Verdict(
        new=tuple(sorted(new, key=_latest_first)),
        memory=_remember(present, memory, now),
        waiting_until=min(waiting, default=None),
        first=memory is None,
        flood=len(new) > flood or (rewritten and bool(new)),
    )


def _unknown(present: Sequence[Entry], memory: Memory) -> list[Entry]:
    seen = set(memory.marks)
    return [entry for entry in present if entry.mark not in seen]


def _is_recent(entry: Entry, memory: Memory) -> bool:
    return not entry.dated or entry.dated > memory.watermark - NEAR


def _remember(present: Sequence[Entry], memory: Memory | None, now: datetime) -> Memory:
    dates = [entry.dated for entry in present if entry.dated]
    if memory:
        dates.append(memory.watermark)
    marks = dict.fromkeys(sorted(entry.mark for entry in present))
    vanished = [mark for mark in (memory.marks if memory else ()) if mark not in marks]
    # A publication date keeps an old entry old when it returns; where there is none, only its mark does.
    # An empty document, as of a site being rebuilt, says nothing about it.
    dated = present and all(entry.published for entry in present)
    kept = VANISHED if dated else VANISHED_UNDATED
    return Memory(max(dates, default=now), (*marks, *vanished[:kept]))


def _unique(entries: Iterable[Entry]) -> list[Entry]:
    """One entry for each mark: the earliest, for a later twin is an update. The order of the feed decides nothing."""
    chosen: dict[bytes, Entry] = {}
    for entry in entries:
        twin = chosen.get(entry.mark)
        if not twin or _age(entry) < _age(twin):
            chosen[entry.mark] = entry
    return list(chosen.values())


def _age(entry: Entry) -> tuple[bool, float, bool, str]:
    """Of two of one time, the one published then goes before one updated then; the rest just never changes."""
    dated = entry.dated
    return dated is None, dated.timestamp() if dated else 0.0, not entry.published, repr(entry)


def _latest_first(entry: Entry) -> tuple[float, str]:
    return -entry.dated.timestamp() if entry.dated else 0.0, entry.id
