"""The states of a follow, and the transactions that move it between them. A follow is in two rows: the owner's, and
the one beside the creator that polls read; they change together.

    (none) ──begin──▶ ACTIVE ◀──activate── PAUSED, DISCONNECTED, UNSUBSCRIBED
                        │  └──change──▶ PAUSED, DISCONNECTED, UNSUBSCRIBED
"""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.following import model
from chalicelib.following.model import NOT_FOUND, Creator, Follow, Follower, FollowStatus, Options
from chalicelib.following.stores import creators, followers, follows
from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.errors import Conflict, NotFound

# Of an owner, for every follow that is possible at a time.
_ROWS_OF_EACH = 4
# Those that have not ended.
LISTED = (FollowStatus.ACTIVE, FollowStatus.PAUSED, FollowStatus.DISCONNECTED)


class Room(Struct, frozen=True):
    """How many follows an owner may still have, and how many rows: those that have ended keep theirs, to be revived
    with their id, and must not become more and more."""

    most: int
    follows: int
    rows: int

    def check(self) -> None:
        if self.follows <= 0:
            raise Conflict(f"At most {self.most} follows are possible")

    def check_new(self) -> None:
        self.check()
        if self.rows <= 0:
            raise Conflict("Too many follows have ended. Follow one of those again, or nothing new")

    def less_one(self) -> "Room":
        return Room(self.most, self.follows - 1, self.rows - 1)


def require(owner: str, id: str) -> Follow:
    """`NotFound` also for one that has ended."""
    found = follows.find(owner, id) if ids.is_id(id) else None
    if not found or found.status is FollowStatus.UNSUBSCRIBED:
        raise NotFound(NOT_FOUND)
    return found


def begin(owner: str, creator: Creator, room: Room | None = None) -> tuple[Follow, bool]:
    """Follow it; one that has ended is the same follow again. Also says whether it was not active before. `room` is
    for those who begin many: without it, all follows of the owner are counted. `Conflict` if there is none."""
    return retry_stale(lambda: _begin(owner, creator, room))


def activate(before: Follow, creator: Creator) -> Follow:
    """Due at once. What was missed since it was paused or disconnected is received; but whoever had ended it begins
    with the latest item, like somebody new."""
    return retry_stale(lambda: _activate(follows.find(before.owner, before.id) or before, creator))


def change(owner: str, id: str, decide: Callable[[Follow], Follow]) -> Follow:
    """`decide` is given the follow as it is, and says how it is from now on; not for making one active."""
    return retry_stale(lambda: _change(require(owner, id), decide))


def count_room(owner: str, rows: Iterable[Follow]) -> Room:
    """`rows` are all that the owner has, also those that have ended."""
    statuses = Counter(row.status in LISTED for row in rows)
    most = model.MOST_FOLLOWS[model.is_desk(owner)]
    return Room(most, most - statuses[True], most * _ROWS_OF_EACH - statuses.total())


def _begin(owner: str, creator: Creator, room: Room | None) -> tuple[Follow, bool]:
    known = followers.find(creator.id, owner)
    before = follows.find(owner, known.follow_id) if known else None
    if before is None:
        (room or count_room(owner, follows.list_all(owner))).check_new()
        return _create(owner, creator, known), True
    if before.status is FollowStatus.ACTIVE:
        return before, False
    if before.status is FollowStatus.UNSUBSCRIBED:
        (room or count_room(owner, follows.list_all(owner))).check()
    return _activate(before, creator), True


def _create(owner: str, creator: Creator, leftover: Follower | None) -> Follow:
    now, status = clock.now(), FollowStatus.ACTIVE
    created = Follow(owner, ids.new(), creator.id, creator.provider, creator.channel_id, status, Options(), now, now)
    follower = Follower(owner, created.id, status, created.options, is_new=True)
    tables.transact(
        follows.create_write(created), followers.put_write(creator.id, follower, leftover), _due_write(creator)
    )
    return created


def _activate(before: Follow, creator: Creator) -> Follow:
    if before.status is FollowStatus.ACTIVE:
        return before
    known = followers.find(creator.id, before.owner)
    after = _touched(
        replace(before, status=FollowStatus.ACTIVE, disconnected_at=None, disconnected_reason=None), before
    )
    is_new = before.status is FollowStatus.UNSUBSCRIBED or known is None or known.is_new
    since = None if is_new or known is None else known.since
    follower = Follower(before.owner, before.id, after.status, after.options, is_new, since)
    tables.transact(
        follows.change_write(before, after), followers.put_write(creator.id, follower, known), _due_write(creator)
    )
    return after


def _change(before: Follow, decide: Callable[[Follow], Follow]) -> Follow:
    after = decide(before)
    if after == before:
        return before
    after = _touched(after, before)
    known = followers.find(before.creator_id, before.owner)
    leaves = before.status is FollowStatus.ACTIVE and after.status is not FollowStatus.ACTIVE
    since = clock.now() if leaves else known and known.since
    follower = Follower(
        before.owner, before.id, after.status, after.options, bool(known and known.is_new), since or None
    )
    tables.transact(follows.change_write(before, after), followers.put_write(before.creator_id, follower, known))
    return after


def _due_write(creator: Creator) -> tables.Write:
    stored = creators.find(creator.id)
    return creators.wake_write(stored, clock.now()) if stored else creators.create_write(creator)


def _touched(after: Follow, before: Follow) -> Follow:
    """`updated_at` is also the version: it always grows."""
    return replace(after, updated_at=max(clock.now(), before.updated_at + timedelta(milliseconds=1)))
