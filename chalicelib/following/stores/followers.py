"""Who follows a creator, beside the creator's own row: what a poll needs to know of each follow. A row stays when its
follow ends, so that following again finds the same follow."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute

from chalicelib.following.model import Action, Follower, FollowStatus, Options
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Delete, Put, Write

_PART = "follower "


class FollowerRow(tables.Row):
    class Meta:
        table_name = tables.name("creators")

    id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    follow_id = UnicodeAttribute()
    status = UnicodeAttribute()
    action = UnicodeAttribute()
    newest_only = BooleanAttribute()
    hide_shorts = BooleanAttribute()
    is_new = BooleanAttribute()
    since = UnicodeAttribute(null=True)


def find(creator_id: str, owner: str) -> Follower | None:
    row = tables.get(FollowerRow, creator_id, _PART + owner)
    return _follower(row) if row else None


def list_active(creator_id: str) -> list[Follower]:
    """As of now: nobody who has begun to follow is missed."""
    active = FollowerRow.status == FollowStatus.ACTIVE.value
    return [_follower(row) for row in _query(creator_id, filter_condition=active)]


def has_active(creator_id: str) -> bool:
    active = FollowerRow.status == FollowStatus.ACTIVE.value
    return next(_query(creator_id, filter_condition=active), None) is not None


def put_write(creator_id: str, follower: Follower, before: Follower | None) -> Write:
    """Holds only if it is still as it was in `before`: there, or not there."""
    row = FollowerRow(
        creator_id,
        _PART + follower.owner,
        follow_id=follower.follow_id,
        status=follower.status.value,
        action=follower.options.action.value,
        newest_only=follower.options.newest_only,
        hide_shorts=follower.options.hide_shorts,
        is_new=follower.is_new,
        since=clock.text(follower.since) if follower.since else None,
    )
    if before is None:
        return Put(row, FollowerRow.id.does_not_exist())
    since = FollowerRow.since == clock.text(before.since) if before.since else FollowerRow.since.does_not_exist()
    same = (FollowerRow.status == before.status.value) & (FollowerRow.is_new == before.is_new) & since
    return Put(row, same)


def delete_write(creator_id: str, owner: str) -> Write:
    return Delete(FollowerRow(creator_id, _PART + owner))


def mark_served(creator_id: str, followers: Sequence[Follower], since: datetime | None = None) -> None:
    """They have had their first items, or what they missed; but for what was found since then, if that is given."""
    missing = FollowerRow.since.set(clock.text(since)) if since else FollowerRow.since.remove()
    for follower in followers:
        row = FollowerRow(creator_id, _PART + follower.owner)
        same = (FollowerRow.follow_id == follower.follow_id) & (
            FollowerRow.since == clock.text(follower.since) if follower.since else FollowerRow.since.does_not_exist()
        )
        try:
            tables.update(row, [FollowerRow.is_new.set(False), missing], same)
        except Stale:
            continue  # paused and resumed meanwhile: what they missed is looked up again


def _query(creator_id: str, **options: Any) -> Iterator[FollowerRow]:
    followers = FollowerRow.part.startswith(_PART)
    return tables.query(FollowerRow, creator_id, range_key_condition=followers, consistent_read=True, **options)


def _follower(row: FollowerRow) -> Follower:
    return Follower(
        owner=row.part.removeprefix(_PART),
        follow_id=row.follow_id,
        status=FollowStatus(row.status),
        options=Options(Action(row.action), row.newest_only, row.hide_shorts),
        is_new=row.is_new,
        since=_moment(row.since),
    )


def _moment(stored: str | None) -> datetime | None:
    return clock.parse(stored) if stored else None
