"""Once a day: what providers told us long ago is refreshed or deleted, tokens are sealed with the newest key, people
are told of connections that end soon, and what nobody follows any more is forgotten.

Each step is complete in itself and may be repeated; one that fails does not keep the others from being done.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from math import ceil

from msgspec.structs import replace

from chalicelib.feeds import websub
from chalicelib.following import access, asking, fan_out, notifications, tokens
from chalicelib.following.access import NoAccess
from chalicelib.following.model import ConnectionStatus, Creator
from chalicelib.following.providers.contract import Found, ProviderFailed
from chalicelib.following.providers.registry import SOURCES
from chalicelib.following.stores import connections, counters, creators, followers
from chalicelib.following.stores.connections import Connection
from chalicelib.inbox import service as inbox
from chalicelib.inbox.model import DESK, Item, Provider, Trust
from chalicelib.kernel import ciphers, clock, log, sweeping
from chalicelib.kernel.aws.failures import Stale

# What YouTube is asked about at once.
_TOGETHER = 50
_SUNDAY = 6
_WARNED_BEFORE = (14, 3)


def run(time_left: Callable[[], bool]) -> None:
    now, sweep = clock.now(), sweeping.Sweep("following.not_maintained", time_left)
    done = {
        "sealed": sweep.each(connections.list_all(), _tend),
        "refreshed": sweep.each(_stale_batches(now), _refresh),
        "removed": sweep.each(creators.list_unfollowed(now), _remove),
        "inboxes": sweep.each([now], lambda now: inbox.expire(now, time_left)),
        "repaired": sweep.each(creators.list_all(), _repair) if now.weekday() == _SUNDAY else 0,
        "expired": counters.delete_expired(now) + connections.delete_ended_states(now),
    }
    notifications.resolve_ended(DESK)
    log.info("following.maintained", **done)
    sweep.finish()


def _tend(connection: Connection) -> bool:
    """One connection: purged a week after it was refused, sealed anew when there is a newer key, and its owner told
    when it ends soon. Says whether anything was done."""
    now = clock.now()
    if connection.refused_at and connection.refused_at + tokens.KEPT_REFUSED <= now:
        return _purge(connection)
    _warn(connection, now)
    try:
        return tokens.seal_again(connection)
    except ciphers.CipherFailed as failure:  # the next poll decides what to do about it
        log.warning("token.not_sealed_again", connection_id=connection.id, kind=type(failure).__name__)
        return False


def _purge(connection: Connection) -> bool:
    """Its tokens are of no more use to anybody; that there was a connection stays, for its owner to see."""
    if not (connection.access_token or connection.refresh_token):
        return False
    purged = replace(
        connection,
        status=ConnectionStatus.REVOKED,
        access_token="",
        refresh_token="",
        version=connection.version + 1,
    )
    try:
        connections.save(purged, connection)
    except Stale:
        return False  # connected again
    if connection.status is ConnectionStatus.EXPIRED:
        notifications.tell_revoked(connection.owner, connection.provider)
    return True


def _warn(connection: Connection, now: datetime) -> None:
    if not connection.consent_ends_at or connection.status is not ConnectionStatus.ACTIVE:
        return
    left = (connection.consent_ends_at - now) / timedelta(days=1)
    due = [days for days in _WARNED_BEFORE if left <= days]
    if not due or (connection.warned and connection.warned <= min(due)):
        return
    notifications.resolve_ending(connection.owner, connection.provider)
    notifications.tell_ending(connection.owner, connection.provider, max(0, ceil(left)))
    try:  # after it was told: if this is interrupted in between, it is told again
        connections.save(replace(connection, warned=min(due), version=connection.version + 1), connection)
    except Stale:  # connected again, it may be; the next run sees what is true then
        notifications.resolve_ending(connection.owner, connection.provider)


def _stale_batches(now: datetime) -> Iterator[list[Item]]:
    """What a provider told so long ago that it wants it refreshed or deleted, fifty at a time."""
    before, done = now - asking.REFRESH_AFTER, set[str]()
    while batch := [item for item in inbox.list_stale(Provider.YOUTUBE, before, _TOGETHER) if item.id not in done]:
        done |= {item.id for item in batch}
        yield batch


def _refresh(batch: list[Item]) -> bool:
    held = [item for item in batch if not inbox.forget_item_if_unheld(item.id)]
    if not held:
        return True
    ids = [item.provider_item_id for item in held]
    source = SOURCES[Provider.YOUTUBE]
    try:
        told = access.call(Provider.YOUTUBE, _owners(held), lambda access: source.refresh(ids, access), asked_by=None)
    except (ProviderFailed, NoAccess):
        _strip_overdue(held)
        return False
    for item in held:
        _update(item, told.get(item.provider_item_id))
    return True


def _update(item: Item, found: Found | None) -> None:
    if found is None:
        inbox.mark_unavailable(item.id)
        inbox.strip_item(item.id)
        return
    creator = creators.find(item.creator_id)
    if creator:
        inbox.refresh_item(fan_out.to_item(creator, found, clock.now()))
    else:
        inbox.refresh_item(
            replace(
                item,
                title=found.title or item.title,
                excerpt=found.excerpt,
                image=found.image,
                duration_seconds=found.duration_seconds,
                refreshed_at=clock.now(),
                available=True,
                trust=Trust.PROVIDER,
            )
        )


def _strip_overdue(held: list[Item]) -> None:
    """What could not be refreshed in time is deleted, but for title and link of what somebody keeps."""
    last = clock.now() - timedelta(days=29)
    for item in held:
        if item.refreshed_at <= last:
            inbox.strip_item(item.id)


def _owners(held: list[Item]) -> list[str]:
    """Whoever follows the creators of these, for their connection: the desk first."""
    found = {follower.owner for id in {item.creator_id for item in held} for follower in followers.list_active(id)}
    return sorted(found | {DESK}, key=lambda owner: owner != DESK)


def _remove(creator_id: str) -> bool:
    removed = creators.remove(creator_id)
    if removed:
        websub.leave(creator_id)
    return removed


def _repair(creator: Creator) -> bool:
    """Followed, and yet not among those that are polled: a write of ours was lost, or a table was restored."""
    if creator.is_polled or not followers.has_active(creator.id):
        return False
    creators.wake(creator, clock.now())
    return True
