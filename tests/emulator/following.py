"""What must be true of follows, creators, entries and events whatever happened, read from the tables."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from chalicelib.events.store import EventRow
from chalicelib.following.news import FINGERPRINT_BYTES, fingerprint
from chalicelib.following.stores import creators, polls
from chalicelib.following.stores.creator_row import CREATOR, CreatorRow
from chalicelib.following.stores.followers import FollowerRow
from chalicelib.following.stores.follows import FollowRow
from chalicelib.inbox import links
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock

_SHARED = ("status", "action", "newest_only", "hide_shorts")


def assert_consistent() -> None:
    """A follow is in two rows that say the same, and every creator that somebody follows is polled."""
    mine = {
        (row.creator_id, row.owner): (row.part.removeprefix("follow "), *_values(row))
        for row in FollowRow.scan(FollowRow.part.startswith("follow "), consistent_read=True)
    }
    theirs = {
        (row.id, row.part.removeprefix("follower ")): (row.follow_id, *_values(row))
        for row in FollowerRow.scan(FollowerRow.part.startswith("follower "), consistent_read=True)
    }
    assert mine == theirs
    followed = {creator for (creator, _), values in theirs.items() if values[1] == "ACTIVE"}
    rows = {row.id: row for row in CreatorRow.scan(CreatorRow.part == CREATOR, consistent_read=True)}
    assert followed <= set(rows)
    for id in followed:
        assert rows[id].due == rows[id].provider
        assert rows[id].next_poll_at


def assert_settled(creator_id: str) -> None:
    """Polled, free for the next one, and due in the future."""
    row = CreatorRow.get(creator_id, CREATOR, consistent_read=True)
    assert (row.leased_by, row.leased_until) == (None, None)
    assert row.next_poll_at > clock.text(clock.now())
    assert not row.failures


def has_seen(creator_id: str, item_ids: Iterable[str]) -> bool:
    memory = polls.load_memory(creator_id)
    assert memory
    assert all(len(one) == FINGERPRINT_BYTES for one in memory.fingerprints)
    assert len(set(memory.fingerprints)) == len(memory.fingerprints)
    return set(map(fingerprint, item_ids)) <= set(memory.fingerprints)


def count_events() -> Counter[str]:
    """How often each item was told to have been received."""
    return Counter(row.aggregate_id for row in EventRow.scan(consistent_read=True) if row.type == "ITEM_RECEIVED")


def entries(owner: str) -> dict[str, str | None]:
    """State by item, of everything the owner ever received."""
    return {row.item_id: row.state for row in EntryRow.query(owner, consistent_read=True)}


def due(creator_id: str, provider: str = "YOUTUBE") -> dict[str, Any]:
    """The message a sweep sends."""
    found = {one.id: one.at for one in creators.list_due(Provider(provider), clock.now(), 100)}
    return {"kind": "poll", "creator": creator_id, "due": found[creator_id]}


def item_id(video: str) -> str:
    return links.item_id(links.identify(f"https://youtu.be/{video}") or "")


def _values(row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in _SHARED)
