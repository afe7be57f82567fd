"""What owners do with follows: begin, list, change, pause, resume, poll at once, end.

Ownership is part of every key: somebody else's follow is not found.
"""

from collections.abc import Callable
from datetime import timedelta

from msgspec.structs import replace

from chalicelib.following import access, changes, fan_out, messages, model, notifications, polling, resolving
from chalicelib.following.changes import LISTED
from chalicelib.following.model import Cause, Creator, Follow, Followed, FollowStatus, Options, Page
from chalicelib.following.polling import Result
from chalicelib.following.providers.contract import Channel
from chalicelib.following.stores import creators, followers, follows
from chalicelib.inbox import service as inbox
from chalicelib.inbox.model import Provider, Trust
from chalicelib.kernel import clock, deadlines, limits
from chalicelib.kernel.errors import Conflict, TooMany, Unavailable

_HOUR = 3600
_NEW_PER_HOUR = 100
_POLLS_PER_HOUR = 60  # that a member asks for
_SYNC_PAUSE = timedelta(minutes=5)
_SECONDS_IN_REQUEST = 5.0
_MOMENT = timedelta(milliseconds=1)


def follow(owner: str, provider: Provider, channel_id: str) -> tuple[Followed, bool]:
    """Begin to follow a channel; also says whether it was not followed before. `NotFound` if there is no such
    channel, `Conflict` if a connection is needed first."""
    checked = resolving.check_id(provider, channel_id)
    limits.spend("follow", owner, _NEW_PER_HOUR, _HOUR)
    if provider is Provider.RSS:
        return _follow_channel(owner, *resolving.resolve_url(owner, checked))
    creator = creators.find(model.creator_id(provider, checked))
    if creator is None:
        return _follow_channel(owner, provider, resolving.resolve_channel(owner, provider, checked))
    access.require(owner, provider)
    return _follow(owner, creator)


def follow_url(owner: str, url: str) -> tuple[Followed, bool]:
    """A channel, a handle, a show, a feed, or a page that names its feed."""
    limits.spend("follow", owner, _NEW_PER_HOUR, _HOUR)
    return _follow_channel(owner, *resolving.resolve_url(owner, url))


def find(owner: str, id: str) -> Followed:
    return _with_creator(changes.require(owner, id))


def list_page(
    owner: str,
    provider: Provider | None = None,
    status: FollowStatus | None = None,
    limit: int = 50,
    place: str | None = None,
) -> Page:
    """Newest first; without a status, all that have not ended."""
    found, next_place = follows.list_page(owner, provider, (status,) if status else LISTED, limit, place)
    known = creators.find_many({one.creator_id for one in found})
    return Page(tuple(Followed(one, known.get(one.creator_id)) for one in found), next_place)


def list_channel_ids(owner: str, provider: Provider) -> set[str]:
    """What the owner follows there now."""
    found = (one for one in follows.list_all(owner) if one.provider is provider and one.status in LISTED)
    return {one.channel_id for one in found}


def change_options(owner: str, id: str, options: Options) -> Followed:
    return _with_creator(changes.change(owner, id, lambda before: replace(before, options=options)))


def pause(owner: str, id: str) -> None:
    """Nothing is received until it is resumed."""

    def paused(before: Follow) -> Follow:
        if before.status is FollowStatus.DISCONNECTED:
            raise Conflict("This follow is disconnected")
        return replace(before, status=FollowStatus.PAUSED)

    resolve_failing(changes.change(owner, id, paused))


def resume(owner: str, id: str) -> None:
    """Due at once, and what was published meanwhile is received. Also one that was disconnected, if it can be polled
    again."""
    before = changes.require(owner, id)
    if before.status is not FollowStatus.ACTIVE:
        access.require(owner, before.provider)
        _count_poll(owner)
        revive(before)


def sync(owner: str, id: str) -> int:
    """Poll now, once in five minutes; how many items are new. An attempt that fails does not count."""
    found, now = changes.require(owner, id), clock.now()
    if found.status is not FollowStatus.ACTIVE:
        raise Conflict("Resume this follow first")
    creator = creators.find(found.creator_id)
    # A poll would refuse it, too, but after taking the lease, and then make it due without the spread it has. And
    # whoever has synced it just now is told how long to wait, not five minutes.
    if creator and creator.not_before and creator.not_before > now:
        seconds = int((creator.not_before - now).total_seconds()) + 1
        raise TooMany(f"{model.LABELS[found.provider]} asked us to wait", seconds)
    if not follows.begin_sync(found, now, _SYNC_PAUSE):
        raise TooMany("This was synced less than five minutes ago", int(_SYNC_PAUSE.total_seconds()))
    try:
        _count_poll(owner)
        return _poll_for(found)
    except Exception:
        follows.forget_sync(found, now)
        raise


def unfollow(owner: str, id: str) -> None:
    """What it brought leaves the inbox, and what was kept stays. The follow's row is kept, to be revived."""

    def ended(before: Follow) -> Follow:
        return replace(before, status=FollowStatus.UNSUBSCRIBED, disconnected_at=None, disconnected_reason=None)

    changes.require(owner, id)
    messages.forget_later(owner, id)  # before it ends: afterwards nobody would find it again
    resolve_failing(changes.change(owner, id, ended))
    inbox.forget_follow(owner, id, deadlines.seconds_left(_SECONDS_IN_REQUEST))


def forget_ended(owner: str, id: str, time_left: Callable[[], bool]) -> bool:
    """What came by a follow that has ended leaves the inbox. Says whether nothing is left to do."""
    found = follows.find(owner, id)
    if found and found.status is not FollowStatus.UNSUBSCRIBED:
        return True  # followed again
    return inbox.forget_follow(owner, id, time_left)


def resolve_failing(left: Follow) -> None:
    """Whoever waits for it no longer need not know that it cannot be polled."""
    creator = creators.find(left.creator_id)
    if creator and creator.is_failing:
        notifications.resolve_failing([left.owner], creator)


def revive(before: Follow) -> None:
    """Active again, and due. A creator that was forgotten meanwhile is looked up again."""
    creator = creators.find(before.creator_id)
    if creator is None:
        channel = resolving.resolve_channel(before.owner, before.provider, before.channel_id)
        creator = resolving.new_creator(before.provider, channel)
    changes.activate(before, creator)
    messages.poll_soon(before.creator_id)


def _follow_channel(owner: str, provider: Provider, channel: Channel) -> tuple[Followed, bool]:
    known = creators.find(model.creator_id(provider, channel.channel_id))
    return _follow(owner, known or resolving.new_creator(provider, channel))


def _follow(owner: str, creator: Creator) -> tuple[Followed, bool]:
    active, is_news = changes.begin(owner, creator)
    if is_news and not _serve_stored(active, creator):
        try:
            polling.poll(creator.id, Cause.PERSON, asked_by=owner)
        except Unavailable:
            messages.poll_soon(creator.id)
    return _with_creator(active), is_news


def _serve_stored(active: Follow, creator: Creator) -> bool:
    """The latest item, if a poll for others has brought it just now; then the provider need not be asked. What a poll
    that is under way finds, and which did not know of this follower, is left for the next one to bring."""
    now = clock.now()
    polled = creator.last_polled_at
    if polled is None or polled + timedelta(seconds=creator.interval_seconds) <= now:
        return False
    item = inbox.find_item(creator.latest_item) if creator.latest_item else None
    follower = followers.find(creator.id, active.owner)
    if not item or not item.available or not follower or not follower.is_new or active.options.hide_shorts:
        return False
    if item.creator_id != creator.id and item.trust < Trust.READ:  # in the words of somebody else's feed
        return False
    fan_out.deliver_items(creator, [item], follower, now)
    followers.mark_served(creator.id, [follower], since=polled + _MOMENT)
    return True


def _count_poll(owner: str) -> None:
    """Each may cost some of a quota that is everybody's; the desk decides for itself."""
    if not model.is_desk(owner):
        limits.spend("sync", owner, _POLLS_PER_HOUR, _HOUR)


def _poll_for(found: Follow) -> int:
    outcome = polling.poll(found.creator_id, Cause.PERSON, asked_by=found.owner)
    if outcome.result is Result.POLLED:
        return outcome.delivered[found.owner]
    if outcome.result is Result.WAITING:
        raise access.not_connected(found.provider)
    if outcome.failure:
        raise access.as_error(outcome.failure)
    raise Unavailable("It is being polled at this moment")


def _with_creator(found: Follow) -> Followed:
    return Followed(found, creators.find(found.creator_id))
