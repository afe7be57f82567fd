"""The beginning and the end of a poll: one worker at a time may poll a creator, and writes down what it found.

What was seen is in a row of its own beside the creator's, because only a poll with news writes it.
"""

from contextlib import suppress
from datetime import datetime, timedelta

from pynamodb.attributes import BinaryAttribute, JSONAttribute, UnicodeAttribute
from pynamodb.expressions.update import Action

from chalicelib.following.model import Creator, Lease
from chalicelib.following.news import FINGERPRINT_BYTES, Arrival, Memory
from chalicelib.following.stores.creator_row import (
    CREATOR,
    UNFOLLOWED,
    CreatorRow,
    set_or_remove,
    to_creator,
    values_of,
)
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Delete, Put, Update, Write

# Longer than a poll can take: the function is ended before that.
LEASE = timedelta(minutes=4)
# What a provider told about a creator that nobody follows any more is deleted after this.
KEPT_UNFOLLOWED = timedelta(days=27)

_SEEN = "seen"


class SeenRow(tables.Row):
    class Meta:
        table_name = tables.name("creators")

    id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True, default=_SEEN)
    packed = BinaryAttribute(legacy_encoding=False)
    arrivals = JSONAttribute(null=True)


def claim(id: str, now: datetime, due_at: str | None = None) -> Lease | None:
    """The right to poll it. None if somebody else has it, or if it was polled since it was due at `due_at`. Whoever
    dies with it is followed by the next sweep: it is due again when the lease ends."""
    holder, until = ids.new(), now + LEASE
    free = CreatorRow.leased_until.does_not_exist() | (CreatorRow.leased_until < clock.text(now))
    condition = CreatorRow.id.exists() & (free | (CreatorRow.leased_by == holder))
    if due_at:
        condition &= (CreatorRow.next_poll_at == due_at) | (CreatorRow.leased_by == holder)
    row = CreatorRow(id, CREATOR)
    actions = [
        CreatorRow.leased_by.set(holder),
        CreatorRow.leased_until.set(clock.text(until)),
        CreatorRow.attempted_at.set(clock.text(now)),
        CreatorRow.next_poll_at.set(clock.text(until)),
    ]
    try:
        tables.update(row, actions, condition)
    except Stale:
        return None
    return Lease(to_creator(row), holder, until)


def settle(lease: Lease, after: Creator, memory: Memory | None = None, *, is_followed: bool = True) -> None:
    """The end of a poll: what is known now, and when the next one is due. Whoever has begun to follow meanwhile has
    made it due at once, and that stays. Nothing happens if the lease has ended and somebody else polls."""
    writes: list[Write] = [] if memory is None else [_seen_write(after.id, memory)]
    try:
        _settle(lease, [*_poll_actions(after), *_due_actions(after, is_followed)], writes, unmoved=True)
    except Stale:
        with suppress(Stale):
            _settle(lease, _poll_actions(after), writes, unmoved=False)


def release(lease: Lease, next_poll_at: datetime) -> None:
    """Nothing was asked: due again at that time."""
    try:
        _settle(lease, [CreatorRow.next_poll_at.set(clock.text(next_poll_at))], [], unmoved=True)
    except Stale:
        with suppress(Stale):
            _settle(lease, [], [], unmoved=False)


def load_memory(id: str) -> Memory | None:
    """None if the creator was never polled."""
    row = tables.get(SeenRow, id, _SEEN)
    if not row:
        return None
    packed = bytes(row.packed)
    starts = range(0, len(packed), FINGERPRINT_BYTES)
    arrivals = tuple(Arrival(id, clock.parse(at)) for id, at in row.arrivals or ())
    return Memory(tuple(packed[start : start + FINGERPRINT_BYTES] for start in starts), arrivals)


def forget_write(id: str) -> Write:
    """What was seen of it."""
    return Delete(SeenRow(id, _SEEN))


def _settle(lease: Lease, actions: list[Action], also: list[Write], unmoved: bool) -> None:
    free = [CreatorRow.leased_by.remove(), CreatorRow.leased_until.remove()]
    condition = CreatorRow.leased_by == lease.holder
    if unmoved:
        condition &= CreatorRow.next_poll_at == clock.text(lease.until)
    row = CreatorRow(lease.creator.id, CREATOR)
    if also:
        tables.transact(Update(row, [*free, *actions], condition), *also)
    else:
        tables.update(row, [*free, *actions], condition)


def _seen_write(id: str, memory: Memory) -> Write:
    arrivals = [[arrival.item_id, clock.text(arrival.at)] for arrival in memory.arrivals]
    return Put(SeenRow(id, _SEEN, packed=b"".join(memory.fingerprints), arrivals=arrivals or None))


def _due_actions(after: Creator, is_followed: bool) -> list[Action]:
    if is_followed:
        return [CreatorRow.next_poll_at.set(clock.text(after.next_poll_at or clock.now()))]
    end = clock.now() + KEPT_UNFOLLOWED
    return [CreatorRow.due.set(UNFOLLOWED), CreatorRow.next_poll_at.set(clock.text(end))]


def _poll_actions(after: Creator) -> list[Action]:
    values = values_of(after)
    polled = (
        *("last_published_at", "last_polled_at", "not_before", "floor", "push_until", "interval_seconds", "failures"),
        *("found_by_push", "found_by_poll", "total_items", "problem", "latest_item", "url", "hub", "topic"),
        *("hub_since", "etag", "last_modified", "body_hash"),
    )
    return [*(set_or_remove(name, values[name]) for name in polled), *_describe_actions(after)]


def _describe_actions(after: Creator) -> list[Action]:
    values = values_of(after)
    told = ("name", "description", "image_url", "external_url", "handle", "refreshed_at", "updated_at")
    return [set_or_remove(name, values[name]) for name in told]
