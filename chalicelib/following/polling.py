"""Polling one creator: ask the provider, find what is new, hand it to those who follow, and note when to come back.

The order makes every step repeatable: what was found is delivered before it is remembered, and a poll that dies is
followed by another when its lease ends. Nothing is delivered twice, because the inbox takes an item once.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from chalicelib.feeds import websub
from chalicelib.feeds.reading.reader import Validators
from chalicelib.following import access, fan_out, health, model, news, notifications, setbacks, short_links
from chalicelib.following.access import NoAccess
from chalicelib.following.fan_out import Delivered
from chalicelib.following.model import Creator, Follower, Lease
from chalicelib.following.news import Memory
from chalicelib.following.providers.contract import (
    Access,
    Channel,
    Found,
    Known,
    ProviderFailed,
    Reference,
)
from chalicelib.following.providers.contract import Page as ProviderPage
from chalicelib.following.providers.registry import SOURCES
from chalicelib.following.stores import followers, polls
from chalicelib.inbox import service as inbox
from chalicelib.inbox.model import DESK, Item
from chalicelib.kernel import clock, log

# Providers want what they told us to be refreshed within 30 days.
REFRESH_AFTER = timedelta(days=25)
_WAIT_FOR_ACCESS = timedelta(hours=1)
_RENEW_PUSH_BEFORE = timedelta(days=2)


class Cause(StrEnum):
    SCHEDULE = "schedule"
    PUSH = "push"
    PERSON = "person"


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


class _Answer(Struct, frozen=True):
    """What the provider told: its page, and of that what is new, oldest first. `published` are the ids that count as
    seen from now on, and `shorts` what is not for everybody."""

    page: ProviderPage
    new: tuple[Found, ...] = ()
    latest: Found | None = None
    published: tuple[str, ...] = ()
    channel: Channel | None = None
    shorts: tuple[Found, ...] = ()


def poll(creator_id: str, cause: Cause, due_at: str | None = None) -> Outcome:
    """`due_at` is when it was due, as the sweep has seen it: if it was polled since, nothing happens."""
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
    return _poll(lease, following, cause)


def _poll(lease: Lease, following: Sequence[Follower], cause: Cause) -> Outcome:
    creator, started = lease.creator, clock.now()
    memory = polls.load_memory(creator.id)
    owners = [follower.owner for follower in following]
    try:
        answer = access.call(
            creator.provider,
            owners,
            lambda access: _ask(creator, memory, following, access),
            by_person=cause is Cause.PERSON,
        )
    except NoAccess:
        polls.release(lease, clock.now() + _WAIT_FOR_ACCESS)
        return Outcome(Result.WAITING)
    except ProviderFailed as failure:
        setbacks.note(lease, owners, failure)
        return Outcome(Result.FAILED, failure=failure)
    answer = _without_short_links(creator, answer)
    delivered = _deliver(creator, memory, answer, following)
    if creator.is_failing:
        notifications.resolve_failing(owners, creator)
    # Before it is remembered what was found: who is new gets the latest only, and would miss what comes after it.
    followers.mark_served(creator.id, [one for one in following if one.is_new or one.since])
    _settle(lease, memory, answer, cause, started)
    health.record(creator.provider, True, started)
    log.info("creator.polled", creator_id=creator.id, cause=cause.value, new=len(answer.new))
    return Outcome(Result.POLLED, delivered)


def _ask(creator: Creator, memory: Memory | None, following: Sequence[Follower], access: Access) -> _Answer:
    """Everything the provider is asked in one poll."""
    source = SOURCES[creator.provider]
    some_new = any(follower.is_new for follower in following)
    # Whoever begins or comes back gets items in the words of this source, also if it has nothing new to tell.
    is_anew = memory is None or some_new or any(follower.since for follower in following)
    known = Known(creator.channel_id, creator.url, Validators() if is_anew else creator.validators)
    page = source.latest(known, access)
    channel = page.channel
    if channel is None and creator.refreshed_at + REFRESH_AFTER < clock.now():
        channel = source.resolve(Reference(creator.provider, "id", creator.channel_id), access)
    if page.unchanged:
        return _Answer(page, channel=channel)
    tell_shorts = any(follower.options.hide_shorts for follower in following)
    candidates = news.find_new(page.items, memory, creator.floor) if memory else list(page.items)
    doubtful = [*candidates, *_find_doubtful(creator, memory, page, following)]
    completed = source.complete(known, doubtful, access, tell_shorts) if doubtful else ()
    unsettled = {one.id for one in candidates} - {one.id for one in completed}
    published = tuple(one.id for one in page.items if one.id not in unsettled)
    latest = news.find_latest([*completed, *(one for one in page.items if one.id in set(published))])
    if latest and some_new and latest.id not in {one.id for one in completed}:
        latest = next(iter(source.complete(known, [latest], access, tell_shorts)), latest)
    new_ids = {one.id for one in candidates} if memory else set()
    new = tuple(sorted((one for one in completed if one.id in new_ids), key=news.by_date))
    return _Answer(page, new, latest, published, channel, tuple(one for one in completed if one.is_short))


def _find_doubtful(
    creator: Creator, memory: Memory | None, page: ProviderPage, following: Sequence[Follower]
) -> list[Found]:
    """What somebody has missed who does not want shorts: whether it is one may never have been asked."""
    begun = [one.since for one in following if one.since and one.options.hide_shorts]
    if not begun or not memory:
        return []
    missed = {arrival.item_id for arrival in memory.arrivals if arrival.at >= min(begun)}
    return [one for one in page.items if fan_out.to_item(creator, one, clock.now()).id in missed]


def _without_short_links(creator: Creator, answer: _Answer) -> _Answer:
    told = (*answer.new, *filter(None, [answer.latest]))
    pages = short_links.resolve(creator, told, answer.page.items)

    def at_page(one: Found) -> Found:
        return replace(one, url=pages.get(one.id, one.url))

    latest = at_page(answer.latest) if answer.latest else None
    return replace(answer, new=tuple(map(at_page, answer.new)), latest=latest)


def _deliver(creator: Creator, memory: Memory | None, answer: _Answer, following: Sequence[Follower]) -> Delivered:
    """New items to those who follow; the latest one to those who have just begun, and to all if nothing is remembered
    of the creator; what was missed to those who come back from a pause."""
    now = clock.now()
    delivered = fan_out.deliver(creator, answer.new, [one for one in following if not one.is_new], now)
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


def _settle(lease: Lease, memory: Memory | None, answer: _Answer, cause: Cause, started: datetime) -> None:
    creator, page = _described(lease.creator, answer.channel, started), answer.page
    dates = [one.published_at for one in page.items if one.published_at]
    by_push = bool(answer.new) and cause is Cause.PUSH
    by_poll = bool(answer.new) and cause is Cause.SCHEDULE
    after = replace(
        creator,
        last_polled_at=started,
        last_published_at=max([*dates, *filter(None, [creator.last_published_at])], default=None),
        failures=0,
        problem="",
        not_before=None,
        interval_seconds=_interval(creator, page, dates, started),
        total_items=creator.total_items if page.total_items is None else page.total_items,
        url=page.url or creator.url,
        validators=page.validators,
        hub=page.hub or creator.hub,
        topic=page.topic or creator.topic,
        found_by_push=creator.found_by_push + by_push,
        found_by_poll=creator.found_by_poll + by_poll,
    )
    if answer.latest:
        after = replace(after, latest_item=fan_out.to_item(creator, answer.latest, started).id)
    if not page.unchanged:
        after = replace(after, floor=news.find_floor(page.items, page.has_older) or creator.floor)
    after = _renew_push(after, started)
    after = replace(after, next_poll_at=model.next_poll(after, started))
    polls.settle(lease, after, _remembered(creator, memory, answer, started))


def _remembered(creator: Creator, memory: Memory | None, answer: _Answer, now: datetime) -> Memory | None:
    """None if nothing has changed."""
    if answer.page.unchanged:
        return None
    after = news.remember(memory or Memory(), answer.published, fan_out.arrivals(creator, answer.new, now))
    return None if memory and set(after.fingerprints) == set(memory.fingerprints) else after


def _interval(creator: Creator, page: ProviderPage, dates: Sequence[datetime], now: datetime) -> int:
    if page.unchanged and model.is_recent(creator.last_published_at, now):
        return creator.interval_seconds
    return model.interval(dates, now)


def _described(creator: Creator, channel: Channel | None, now: datetime) -> Creator:
    if channel is None:
        return creator
    return replace(
        creator,
        name=channel.name or creator.name,
        description=channel.description,
        image_url=channel.image_url,
        external_url=channel.external_url or creator.external_url,
        handle=channel.handle,
        total_items=creator.total_items if channel.total_items is None else channel.total_items,
        refreshed_at=now,
        updated_at=now,
    )


def _renew_push(creator: Creator, now: datetime) -> Creator:
    """Push only hurries: whatever goes wrong with it, polling goes on."""
    if not (creator.hub and creator.topic):
        return creator
    if creator.push_until and creator.push_until - _RENEW_PUSH_BEFORE > now:
        return creator
    return replace(creator, push_until=websub.renew(creator.id, creator.hub, creator.topic))
