"""Polling one creator: ask the provider, find what is new, hand it to those who follow, and note when to come back.

The order makes every step repeatable: what was found is delivered before it is remembered, and a poll that dies is
followed by another when its lease ends. Nothing is delivered twice, because the inbox takes an item once.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct, field

from chalicelib.feeds import websub
from chalicelib.following import access, asking, fan_out, health, notifications, setbacks, settling
from chalicelib.following.access import NoAccess
from chalicelib.following.asking import Answer
from chalicelib.following.fan_out import Delivered
from chalicelib.following.model import Cause, Creator, Follower, Lease
from chalicelib.following.news import Memory
from chalicelib.following.providers.contract import ProviderFailed
from chalicelib.following.stores import followers, polls
from chalicelib.inbox import service as inbox
from chalicelib.inbox.model import DESK, Item
from chalicelib.kernel import clock, log

_WAIT_FOR_ACCESS = timedelta(hours=1)


class Result(StrEnum):
    """`SKIPPED`: somebody else polls it or has polled it. `WAITING`: nobody's connection can be used."""

    POLLED = "polled"
    SKIPPED = "skipped"
    UNFOLLOWED = "unfollowed"
    WAITING = "waiting"
    FAILED = "failed"


class Outcome(Struct, frozen=True):
    """`delivered` counts new entries by owner."""

    result: Result
    delivered: Delivered = field(default_factory=Counter)
    failure: ProviderFailed | None = None


def poll(creator_id: str, cause: Cause, due_at: str | None = None, *, asked_by: str | None = None) -> Outcome:
    """`due_at` is when it was due, as the sweep has seen it: if it was polled since, nothing happens. `asked_by` is
    the owner who waits for it, if somebody does."""
    lease = polls.claim(creator_id, clock.now(), due_at)
    if not lease:
        return Outcome(Result.SKIPPED)
    following = sorted(followers.list_active(creator_id), key=lambda follower: follower.owner != DESK)
    if not following:
        polls.settle(lease, lease.creator, is_followed=False)
        websub.leave(creator_id)
        return Outcome(Result.UNFOLLOWED)
    if too_early := setbacks.put_off(lease):
        return Outcome(Result.FAILED, failure=too_early)
    return _poll(lease, following, cause, asked_by)


def _poll(lease: Lease, following: Sequence[Follower], cause: Cause, asked_by: str | None) -> Outcome:
    creator, started = lease.creator, clock.now()
    memory = polls.load_memory(creator.id)
    owners = [follower.owner for follower in following]
    try:
        answer = access.call(
            creator.provider,
            owners,
            lambda access: asking.ask(creator, memory, following, access),
            asked_by=asked_by,
        )
    except NoAccess:
        polls.release(lease, clock.now() + _WAIT_FOR_ACCESS)
        return Outcome(Result.WAITING)
    except ProviderFailed as failure:
        setbacks.note(lease, owners, failure)
        return Outcome(Result.FAILED, failure=failure)
    answer = asking.without_short_links(creator, answer)
    delivered = _deliver(creator, memory, answer, following)
    _finish(lease, memory, answer, following, cause, started)
    return Outcome(Result.POLLED, delivered)


def _finish(
    lease: Lease,
    memory: Memory | None,
    answer: Answer,
    following: Sequence[Follower],
    cause: Cause,
    started: datetime,
) -> None:
    creator = lease.creator
    if creator.is_failing:
        notifications.resolve_failing([follower.owner for follower in following], creator)
    # Before it is remembered what was found: who is new gets the latest only, and would miss what comes after it.
    followers.mark_served(creator.id, [one for one in following if one.is_new or one.since])
    settling.settle(lease, memory, answer, cause, started)
    health.record(creator.provider, True, started)
    log.info("creator.polled", creator_id=creator.id, cause=cause.value, new=len(answer.new))


def _deliver(creator: Creator, memory: Memory | None, answer: Answer, following: Sequence[Follower]) -> Delivered:
    """New items to those who follow; the latest one to those who have just begun, and to all if nothing is remembered
    of the creator; what was missed to those who come back from a pause."""
    now = clock.now()
    delivered = fan_out.deliver(creator, answer.new, [one for one in following if not one.is_new], now, answer.rest)
    if answer.latest:
        beginning = [one for one in following if one.is_new or memory is None]
        delivered += fan_out.deliver(creator, [answer.latest], beginning, now)
    shorts = {fan_out.to_item(creator, one, now).id for one in answer.shorts}
    for follower in following:
        if follower.since and memory and not follower.is_new:
            hidden = shorts if follower.options.hide_shorts else set()
            missed = [item for item in _missed(memory, follower.since) if item.id not in hidden]
            told = fan_out.in_own_words(creator, missed, answer.page.items, now)
            delivered += fan_out.deliver_items(creator, told, follower, now)
    return delivered


def _missed(memory: Memory, since: datetime) -> list[Item]:
    """Oldest first."""
    ids = [arrival.item_id for arrival in reversed(memory.arrivals) if arrival.at >= since]
    found = inbox.find_items(ids)
    return [found[id] for id in ids if id in found and found[id].available]
