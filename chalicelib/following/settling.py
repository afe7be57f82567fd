"""The end of a poll that worked: what is known of the creator now, and when to come back."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from chalicelib.feeds import websub
from chalicelib.following import fan_out, model, news
from chalicelib.following.asking import Answer
from chalicelib.following.model import Cause, Creator, Lease
from chalicelib.following.news import Memory
from chalicelib.following.providers.contract import Channel, Page
from chalicelib.following.stores import polls

_RENEW_PUSH_BEFORE = timedelta(days=2)
# Each change is a request to a host that the feed names, and one to the host it named before.
_HUB_KEPT = timedelta(days=1)
# Until what was left of a page is fetched.
_SOON = timedelta(minutes=15)


def settle(lease: Lease, memory: Memory | None, answer: Answer, cause: Cause, started: datetime) -> None:
    creator = _described(lease.creator, answer.channel, started)
    after = _updated(creator, answer, started)
    if answer.new:
        after = _count_find(after, cause)
    after = _renew_push(_choose_hub(after, answer.page, started), started)
    due_at = started + _SOON if answer.rest else model.next_poll(after, started)
    polls.settle(lease, replace(after, next_poll_at=due_at), _remembered(creator, memory, answer, started))


def choose_interval(creator: Creator, page: Page, dates: Sequence[datetime], now: datetime) -> int:
    if page.unchanged and model.is_recent(creator.last_published_at, now):
        return creator.interval_seconds
    return model.interval(dates, now)


def _updated(creator: Creator, answer: Answer, now: datetime) -> Creator:
    page = answer.page
    dates = [one.published_at for one in page.items if one.published_at]
    after = replace(
        creator,
        last_polled_at=now,
        last_published_at=max([*dates, *filter(None, [creator.last_published_at])], default=None),
        failures=0,
        problem="",
        not_before=None,
        interval_seconds=choose_interval(creator, page, dates, now),
        total_items=creator.total_items if page.total_items is None else page.total_items,
        url=page.url or creator.url,
        validators=page.validators,
    )
    if answer.latest or answer.rest:
        latest = fan_out.to_item(creator, answer.latest, now).id if answer.latest else ""
        after = replace(after, latest_item=latest)
    if page.unchanged:
        return after
    return replace(after, floor=news.find_floor(page.items, page.has_older) or creator.floor)


def _count_find(creator: Creator, cause: Cause) -> Creator:
    return replace(
        creator,
        found_by_push=creator.found_by_push + (cause is Cause.PUSH),
        found_by_poll=creator.found_by_poll + (cause is Cause.SCHEDULE),
    )


def _remembered(creator: Creator, memory: Memory | None, answer: Answer, now: datetime) -> Memory | None:
    """None if nothing has changed."""
    if answer.page.unchanged:
        return None
    after = news.remember(memory or Memory(), answer.published, fan_out.arrivals(creator, answer.new, now))
    return None if memory and set(after.fingerprints) == set(memory.fingerprints) else after


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


def _choose_hub(creator: Creator, page: Page, now: datetime) -> Creator:
    """The one it names, unless it has named another of late."""
    hub, topic = page.hub or creator.hub, page.topic or creator.topic
    if (hub, topic) == (creator.hub, creator.topic):
        return creator
    if creator.hub_since and now - creator.hub_since < _HUB_KEPT:
        return creator
    return replace(creator, hub=hub, topic=topic, hub_since=now)


def _renew_push(creator: Creator, now: datetime) -> Creator:
    """Push only hurries: whatever goes wrong with it, polling goes on."""
    if not (creator.hub and creator.topic):
        return creator
    if creator.push_until and creator.push_until - _RENEW_PUSH_BEFORE > now:
        return creator
    return replace(creator, push_until=websub.renew(creator.id, creator.hub, creator.topic))
