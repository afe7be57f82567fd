"""What becomes of an owner's follows when their connection to a provider ends, and when there is one again."""

from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from chalicelib.following import changes, notifications, service
from chalicelib.following.model import Follow, FollowStatus
from chalicelib.following.stores import connections, creators, followers, follows
from chalicelib.inbox import service as inbox
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock, log
from chalicelib.kernel.errors import GnaError, NotFound

REASON = "The account was disconnected"


def disconnect(owner: str, provider: Provider, ended_at: datetime, time_left: Callable[[], bool]) -> bool:
    """Its follows wait for another connection, and what the provider told is deleted, but for titles and links of
    what was kept. Follows that were changed after `ended_at` are left alone. Says whether nothing is left to do."""
    if connections.find(owner, provider):
        return True  # connected again
    notifications.resolve_connection(owner, provider)
    for found in follows.list_all(owner):
        if found.provider is not provider or found.status is FollowStatus.UNSUBSCRIBED:
            continue
        if not time_left():
            return False
        if found.status is not FollowStatus.DISCONNECTED and found.updated_at <= ended_at:
            found = _disconnect(found, ended_at)
            service.resolve_failing(found)
        if found.status is FollowStatus.DISCONNECTED and not _strip(found, time_left):
            return False
    return True


def revive(owner: str, provider: Provider, time_left: Callable[[], bool]) -> bool:
    """What was disconnected is active and due. Says whether nothing is left to do."""
    if not connections.find(owner, provider):
        return True  # disconnected again, or never connected
    for found in follows.list_all(owner):
        if found.provider is provider and found.status is FollowStatus.DISCONNECTED:
            if not time_left():
                return False
            try:
                service.revive(found)
            except GnaError as failure:  # its channel is gone, say: the others are revived all the same
                log.warning("follow.not_revived", follow_id=found.id, kind=type(failure).__name__)
    return True


def wake_waiting(owner: str, provider: Provider, time_left: Callable[[], bool]) -> None:
    """Active follows that waited for a connection are polled at the next sweep, as far as there is time; the others
    are due within the hour."""
    now = clock.now()
    for found in follows.list_all(owner):
        if not time_left():
            return
        if found.provider is provider and found.status is FollowStatus.ACTIVE:
            creator = creators.find(found.creator_id)
            if creator:
                creators.wake(creator, now)


def _disconnect(found: Follow, ended_at: datetime) -> Follow:
    def disconnected(before: Follow) -> Follow:
        if before.status is FollowStatus.DISCONNECTED or before.updated_at > ended_at:
            return before
        return replace(
            before, status=FollowStatus.DISCONNECTED, disconnected_at=clock.now(), disconnected_reason=REASON
        )

    try:
        return changes.change(found.owner, found.id, disconnected)
    except NotFound:
        return found  # unfollowed at this moment


def _strip(found: Follow, time_left: Callable[[], bool]) -> bool:
    done = inbox.strip_follow(found.owner, found.id, time_left)
    creator = creators.find(found.creator_id)
    if creator and not followers.has_active(creator.id):
        creators.strip(creator)
    return done
