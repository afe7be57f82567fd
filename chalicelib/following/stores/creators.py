"""Creators in DynamoDB, one row each; followers and what was seen are beside it, in rows of their own.

The index `by_due` has those that are polled, by provider, and those that nobody follows under a word of their own.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Any

from msgspec import Struct

from chalicelib.following.model import Creator
from chalicelib.following.stores import polls
from chalicelib.following.stores.creator_row import CREATOR, UNFOLLOWED, CreatorRow, to_creator, to_row
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Delete, Put, Update, Write


class Due(Struct, frozen=True):
    """A creator whose time has come, and the time it was due at."""

    id: str
    at: str


def find(id: str) -> Creator | None:
    row = tables.get(CreatorRow, id, CREATOR)
    return to_creator(row) if row else None


def find_many(ids: Iterable[str]) -> dict[str, Creator]:
    """By id, a hundred a request; those that do not exist are left out."""
    rows = tables.get_many(CreatorRow, [(id, CREATOR) for id in ids])
    return {row.id: to_creator(row) for row in rows}


def list_due(provider: Provider, now: datetime, most: int) -> list[Due]:
    """Those that have waited longest first."""
    rows = islice(_query_due(provider.value, now, limit=most), most)
    return [Due(row.id, str(row.next_poll_at)) for row in rows]


def list_unfollowed(now: datetime) -> Iterator[str]:
    """Those that nobody has followed for long enough."""
    return (row.id for row in _query_due(UNFOLLOWED, now))


def list_all() -> Iterator[Creator]:
    """Every creator there is; for the weekly clean-up."""
    for row in tables.scan(CreatorRow, filter_condition=CreatorRow.part == CREATOR):
        yield to_creator(row)


def create_write(creator: Creator) -> Write:
    """A creator that nobody has followed yet, or not for long: due at once."""
    return Put(to_row(creator, due=creator.provider.value), CreatorRow.id.does_not_exist())


def wake_write(creator: Creator, now: datetime) -> Write:
    """Due at once, but not before the provider wants us back."""
    next_poll_at = max(now, creator.not_before or now)
    actions = [
        CreatorRow.due.set(creator.provider.value),
        CreatorRow.next_poll_at.set(clock.text(next_poll_at)),
    ]
    return Update(CreatorRow(creator.id, CREATOR), actions, CreatorRow.id.exists())


def wake(creator: Creator, now: datetime) -> None:
    """Due at once. Nothing happens to one that was removed meanwhile."""
    with suppress(Stale):
        tables.transact(wake_write(creator, now))


def make_due(creator: Creator, moment: datetime) -> None:
    """At that time at the latest; also if it is being polled now, because that poll may end without what is new. One
    that nobody follows stays as it is."""
    is_later = (CreatorRow.next_poll_at > clock.text(moment)) | CreatorRow.leased_by.exists()
    is_polled = CreatorRow.due == creator.provider.value
    with suppress(Stale):
        actions = [CreatorRow.next_poll_at.set(clock.text(moment))]
        tables.update(CreatorRow(creator.id, CREATOR), actions, is_polled & is_later)


def strip(creator: Creator) -> None:
    """Forget what the provider told about it, but its name and link."""
    told = (CreatorRow.description, CreatorRow.image_url, CreatorRow.handle, CreatorRow.total_items)
    with suppress(Stale):
        tables.update(CreatorRow(creator.id, CREATOR), [one.remove() for one in told], CreatorRow.id.exists())


def remove(id: str) -> bool:
    """Delete what is known of a creator nobody follows; False if somebody has begun to."""
    try:
        tables.transact(Delete(CreatorRow(id, CREATOR), CreatorRow.due == UNFOLLOWED), polls.forget_write(id))
    except Stale:
        return False
    return True


def _query_due(due: str, now: datetime, **options: Any) -> Iterator[CreatorRow]:
    over = CreatorRow.next_poll_at <= clock.text(now)
    return tables.query(CreatorRow, due, index_name="by_due", range_key_condition=over, **options)
