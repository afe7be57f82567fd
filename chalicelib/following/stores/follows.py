"""Follows in DynamoDB, by owner, newest last. A follow that has ended keeps its row."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from msgspec.structs import replace
from pynamodb.attributes import BooleanAttribute, UnicodeAttribute

from chalicelib.following.model import Action, Follow, FollowStatus, Options
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Delete, Put, Write

_PART = "follow "
# A filtered page looks at so many rows with one request, and at so many requests' worth before it answers.
_LOOKED_AT, _REQUESTS = 250, 8


class FollowRow(tables.Row):
    class Meta:
        table_name = tables.name("follows")

    owner = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    creator_id = UnicodeAttribute()
    provider = UnicodeAttribute()
    channel_id = UnicodeAttribute()
    status = UnicodeAttribute()
    action = UnicodeAttribute()
    newest_only = BooleanAttribute()
    hide_shorts = BooleanAttribute()
    created_at = UnicodeAttribute()
    updated_at = UnicodeAttribute()
    disconnected_at = UnicodeAttribute(null=True)
    disconnected_reason = UnicodeAttribute(null=True)
    synced_at = UnicodeAttribute(null=True)


_NEWEST_FIRST: dict[str, Any] = {
    "range_key_condition": FollowRow.part.startswith(_PART),
    "scan_index_forward": False,
    "consistent_read": True,
    "page_size": _LOOKED_AT,
}


def find(owner: str, id: str) -> Follow | None:
    row = tables.get(FollowRow, owner, _PART + id)
    return _follow(row) if row else None


def list_page(
    owner: str, provider: Provider | None, statuses: Sequence[FollowStatus], limit: int, place: str | None
) -> tuple[list[Follow], str | None]:
    """Newest first, older than `place`, and the place where the next page begins. Only so many rows are looked at, so
    a page may be short and yet not be the last."""
    wanted = FollowRow.status.is_in(*(status.value for status in statuses))
    if provider:
        wanted &= FollowRow.provider == provider.value
    start = {"owner": {"S": owner}, "part": {"S": _PART + place}} if place else None
    found: list[FollowRow] = []
    next_place = None
    pages = tables.query_pages(FollowRow, owner, filter_condition=wanted, last_evaluated_key=start, **_NEWEST_FIRST)
    for rows, last in islice(pages, _REQUESTS):
        found += rows
        next_place = str(last["part"]["S"]).removeprefix(_PART) if last else None
        if len(found) > limit:
            next_place = found[limit - 1].part.removeprefix(_PART)
            break
    return [_follow(row) for row in found[:limit]], next_place


def list_all(owner: str) -> Iterator[Follow]:
    """Also those that have ended."""
    return map(_follow, tables.query(FollowRow, owner, **_NEWEST_FIRST))


def create_write(follow: Follow) -> Write:
    return Put(_row(follow), FollowRow.owner.does_not_exist())


def change_write(before: Follow, after: Follow) -> Write:
    """Holds only if it was not changed since `before` was read."""
    return Put(_row(after), FollowRow.updated_at == clock.text(before.updated_at))


def delete_write(follow: Follow) -> Write:
    return Delete(_row(follow))


def begin_sync(follow: Follow, now: datetime, pause: timedelta) -> bool:
    """Once in `pause`: False if the last one was begun less long ago."""
    rested = FollowRow.synced_at.does_not_exist() | (FollowRow.synced_at <= clock.text(now - pause))
    try:
        tables.update(_key(follow), [FollowRow.synced_at.set(clock.text(now))], FollowRow.owner.exists() & rested)
    except Stale:
        return False
    return True


def forget_sync(follow: Follow, begun_at: datetime) -> None:
    """It could not be done, so it does not count."""
    try:
        tables.update(_key(follow), [FollowRow.synced_at.remove()], FollowRow.synced_at == clock.text(begun_at))
    except Stale:
        return


def _key(follow: Follow) -> FollowRow:
    return FollowRow(follow.owner, _PART + follow.id)


def _row(follow: Follow) -> FollowRow:
    return FollowRow(
        follow.owner,
        _PART + follow.id,
        creator_id=follow.creator_id,
        provider=follow.provider.value,
        channel_id=follow.channel_id,
        status=follow.status.value,
        action=follow.options.action.value,
        newest_only=follow.options.newest_only,
        hide_shorts=follow.options.hide_shorts,
        created_at=clock.text(follow.created_at),
        updated_at=clock.text(follow.updated_at),
        disconnected_at=clock.text(follow.disconnected_at) if follow.disconnected_at else None,
        disconnected_reason=follow.disconnected_reason,
        synced_at=clock.text(follow.synced_at) if follow.synced_at else None,
    )


def _follow(row: FollowRow) -> Follow:
    follow = Follow(
        owner=row.owner,
        id=row.part.removeprefix(_PART),
        creator_id=row.creator_id,
        provider=Provider(row.provider),
        channel_id=row.channel_id,
        status=FollowStatus(row.status),
        options=Options(Action(row.action), row.newest_only, row.hide_shorts),
        created_at=clock.parse(row.created_at),
        updated_at=clock.parse(row.updated_at),
        disconnected_reason=row.disconnected_reason,
    )
    return replace(
        follow,
        disconnected_at=clock.parse(row.disconnected_at) if row.disconnected_at else None,
        synced_at=clock.parse(row.synced_at) if row.synced_at else None,
    )
