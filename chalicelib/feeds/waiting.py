"""Posts that are found and not mailed yet, and all that can become of them. No I/O.

A post waits from the check that finds it until one transaction takes it out: it is in a campaign then, cancelled, or
was taken down. It is never new again, because its fingerprint is remembered from the beginning. What is kept of it is
enough for a draft, and as the feed had it last; before anything is sent, the feed is read again.

    found ──▶ waiting ──(its time, or Send now)──▶ read again ──▶ sent, or a draft
                 │                                     ├──▶ taken down: not mailed
                 └──(Cancel)──▶ not mailed             └──▶ the feed cannot be read: still waiting
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.campaigns.model import is_overdue
from chalicelib.feeds import digest
from chalicelib.feeds.plan import Policy
from chalicelib.feeds.reading.model import Entry

# As many as a campaign shows; of what is older only the number is kept.
MOST = 50
# Of a post without a date, so many others are remembered that were in the feed before it.
_BESIDE = 20


class Kept(Struct, frozen=True):
    """One post. `name` stands for its fingerprint, and `batch` for the check that found it. `due_at` is when it
    leaves by itself, or when somebody wanted it sent; None: with the digest. `beside` are names of older posts.
    `missing`: it was not in the feed when that was last read, though older posts were."""

    name: str
    batch: str
    found_at: datetime
    due_at: datetime | None
    entry: Entry
    hurried: bool = False
    beside: tuple[str, ...] = ()
    missing: bool = False

    @property
    def title(self) -> str:
        return digest.preview(self.entry).title


class Waiting(Struct, frozen=True):
    """`policy` is what the moments were planned by, `url` the feed the posts are from, and `more` how many others
    have no copy here."""

    url: str = ""
    policy: Policy = Policy()
    digest_due: datetime | None = None
    entries: tuple[Kept, ...] = ()
    more: int = 0


class Taken(Struct, frozen=True):
    """What leaves now, `since` when it was due."""

    since: datetime
    entries: tuple[Kept, ...] = ()
    more: int = 0

    def is_late(self, now: datetime) -> bool:
        """So late that mailing it unasked would surprise, as with a campaign's schedule."""
        return is_overdue(self.since, now)


def name_of(entry: Entry) -> str:
    return entry.fingerprint.hex()


def under(waiting: Waiting, policy: Policy, now: datetime, since: datetime | None = None) -> Waiting:
    """As it is planned now. Another policy, which holds `since` then, plans everything anew, except what somebody
    wanted sent. A digest that was missed with nothing to send is not made up for."""
    digest_due = waiting.digest_due
    if digest_due and not waiting.entries and is_overdue(digest_due, now):
        digest_due = policy.next_digest(now)
    if policy == waiting.policy:
        return replace(waiting, digest_due=digest_due)
    entries = tuple(kept if kept.hurried else _planned(kept, policy, now) for kept in waiting.entries)
    return replace(waiting, policy=policy, digest_due=policy.next_digest(since or now), entries=entries)


def add(
    waiting: Waiting, url: str, batch: str, found: Sequence[Entry], others: Iterable[Entry], now: datetime
) -> Waiting:
    """With the posts of one check, `found`, each reduced to what is kept; `others` were in the feed before them."""
    known = {kept.name for kept in waiting.entries}
    found = [entry for entry in found if name_of(entry) not in known]
    if not found:
        return waiting
    older = tuple(name_of(entry) for entry in others)[:_BESIDE]
    due_at = waiting.policy.due(now, now)
    new = [_keep(entry, batch, now, due_at, older) for entry in found]
    entries = sorted([*new, *waiting.entries], key=_latest_first)
    return replace(waiting, url=url, entries=tuple(entries[:MOST]), more=waiting.more + len(entries[MOST:]))


def refresh(waiting: Waiting, present: Collection[Entry]) -> Waiting:
    """With what a feed that was read whole says now: a post may leave it later, and is then mailed as it was last."""
    if not waiting.entries:
        return waiting
    known = by_name(present)
    entries = tuple(_refreshed(kept, find(kept, known), present) for kept in waiting.entries)
    return replace(waiting, entries=tuple(sorted(entries, key=_latest_first)))


def by_name(present: Iterable[Entry]) -> dict[bytes, Entry]:
    """Entries of a feed by their traces and, before those, by their fingerprints."""
    listed = list(present)
    return {entry.trace: entry for entry in listed if entry.trace} | {entry.fingerprint: entry for entry in listed}


def find(kept: Kept, known: Mapping[bytes, Entry]) -> Entry | None:
    """The post as a feed has it, also under another id."""
    return known.get(bytes.fromhex(kept.name)) or known.get(kept.entry.trace or b"")


def is_due(waiting: Waiting, now: datetime) -> bool:
    return _due_since(waiting, now) is not None


def take(waiting: Waiting, now: datetime) -> tuple[Taken | None, Waiting]:
    """What leaves now, and what goes on waiting. A digest takes everything."""
    since = _due_since(waiting, now)
    if since is None:
        return None, waiting
    taken = [kept for kept in waiting.entries if waiting.policy.collects or _is_due(kept, now)]
    rest = tuple(kept for kept in waiting.entries if kept not in taken)
    digest_due = waiting.digest_due
    if digest_due and digest_due <= now:
        digest_due = waiting.policy.next_digest(now)
    after = replace(waiting, digest_due=digest_due, entries=rest, more=0)
    return Taken(since, tuple(taken), waiting.more), after


def put_back(waiting: Waiting, postponed: Iterable[Kept]) -> Waiting:
    """Posts whose author has given them a later date meanwhile: they wait for it."""
    digest = waiting.policy.collects
    back = [replace(kept, hurried=False, due_at=None if digest else kept.entry.dated) for kept in postponed]
    return replace(waiting, entries=tuple(sorted([*waiting.entries, *back], key=_latest_first)))


def hurry(waiting: Waiting, names: Collection[str], now: datetime) -> Waiting:
    """Send these now; they are named by themselves or by their batch. Nothing changes for what is due anyway."""
    entries = tuple(
        replace(kept, hurried=True, due_at=now) if _is_named(kept, names) and not _is_due(kept, now) else kept
        for kept in waiting.entries
    )
    return replace(waiting, entries=entries)


def without(waiting: Waiting, names: Collection[str]) -> Waiting:
    """Those that have no copy go with the last that has one: nobody could name them."""
    entries = tuple(kept for kept in waiting.entries if not _is_named(kept, names))
    return replace(waiting, entries=entries, more=waiting.more if entries else 0)


def count_named(waiting: Waiting, names: Collection[str]) -> int:
    return sum(_is_named(kept, names) for kept in waiting.entries)


def tidy(waiting: Waiting) -> Waiting:
    """Where nothing waits, nothing is kept of the feed; so nothing is written while posts leave at once."""
    return waiting if waiting.entries else replace(waiting, url="")


def leaves_at(waiting: Waiting, kept: Kept) -> datetime | None:
    """When this post goes out, as far as is known."""
    return kept.due_at or waiting.digest_due


def _refreshed(kept: Kept, now: Entry | None, present: Collection[Entry]) -> Kept:
    if now:
        return replace(kept, entry=digest.keep(now), missing=False)
    return replace(kept, missing=kept.missing or _is_taken_down(kept, present))


def _is_taken_down(kept: Kept, present: Collection[Entry]) -> bool:
    """Of a post that is not in the feed: an older one still is, so it did not just leave at the end of the list."""
    dated = kept.entry.dated
    if dated:
        return any(entry.dated and entry.dated < dated for entry in present)
    return any(name_of(entry) in kept.beside for entry in present)


def _keep(entry: Entry, batch: str, now: datetime, due_at: datetime | None, older: tuple[str, ...]) -> Kept:
    return Kept(name_of(entry), batch, now, due_at, digest.keep(entry), beside=() if entry.dated else older)


def _due_since(waiting: Waiting, now: datetime) -> datetime | None:
    moments = [kept.due_at for kept in waiting.entries if kept.due_at and kept.due_at <= now]
    if waiting.digest_due and waiting.digest_due <= now:
        moments.append(waiting.digest_due)
    return min(moments, default=None)


def _is_due(kept: Kept, now: datetime) -> bool:
    return kept.due_at is not None and kept.due_at <= now


def _planned(kept: Kept, policy: Policy, now: datetime) -> Kept:
    return replace(kept, due_at=policy.due(kept.found_at, now))


def _is_named(kept: Kept, names: Collection[str]) -> bool:
    return kept.name in names or kept.batch in names


def _latest_first(kept: Kept) -> float:
    """Those without a date stay in the order they have, at the end."""
    return -kept.entry.dated.timestamp() if kept.entry.dated else 0.0
