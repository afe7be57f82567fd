"""From what a poll has found to the inboxes of those who follow. Everything here may be repeated: nobody gets an item
twice."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from chalicelib.following.model import Action, Creator, Follower
from chalicelib.following.news import Arrival
from chalicelib.following.providers.contract import Found
from chalicelib.inbox import links
from chalicelib.inbox import model as inbox_model
from chalicelib.inbox import service as inbox
from chalicelib.inbox.model import Item, Provider, Recipient, Trust

Delivered = Counter[str]
_MOMENT = timedelta(milliseconds=1)


def to_item(creator: Creator, found: Found, now: datetime) -> Item:
    """What has a page of its own is known by its link, so that the same page from two sources is one item. Without,
    it is known by the provider's id, which in a feed is unique only there: `1` is a usual one."""
    identity = links.identify(found.url) if found.has_own_page else None
    return Item(
        id=links.item_id(identity) if identity else inbox_model.item_id(creator.provider, f"{creator.id} {found.id}"),
        provider=creator.provider,
        provider_item_id=found.id,
        content_type=found.content_type,
        title=found.title or "Untitled",
        canonical_url=links.without_tracking(found.url),
        refreshed_at=now,
        creator=creator.name[: inbox_model.LONGEST_CREATOR],
        creator_id=creator.id,
        image=found.image,
        excerpt=found.excerpt,
        duration_seconds=found.duration_seconds,
        published_at=found.published_at,
        trust=_trust(creator, found, identity),
    )


def _trust(creator: Creator, found: Found, identity: str | None) -> Trust:
    """A feed may say anything of any page; it is believed of its own site, and of what has no other page."""
    if creator.provider is not Provider.RSS:
        return Trust.PROVIDER
    is_own = identity is None or links.identify_site(found.told_at) == links.identify_site(found.url)
    return Trust.READ if is_own else Trust.CLAIMED


def deliver(
    creator: Creator,
    found: Sequence[Found],
    followers: Sequence[Follower],
    now: datetime,
    newer: Sequence[Found] = (),
) -> Delivered:
    """`found` is oldest first, and the newest arrives last, on top. `newer` are those that the next poll brings."""
    delivered: Delivered = Counter()
    for place, one in enumerate(found):
        after = (*found[place + 1 :], *newer)
        wanting = [follower for follower in followers if _wants(follower, one, after)]
        delivered += _hand_over(to_item(creator, one, now), wanting, now + place * _MOMENT)
    return delivered


def deliver_items(creator: Creator, items: Sequence[Item], follower: Follower, now: datetime) -> Delivered:
    """Items that are known already, oldest first: the latest for somebody new, or what somebody has missed. Whoever
    follows this creator has not asked for the words of others."""
    if follower.options.action is Action.IGNORE:
        return Counter()
    wanted = items[-1:] if follower.options.newest_only else items
    delivered: Delivered = Counter()
    for place, item in enumerate(wanted):
        delivered += _hand_over(item, [follower], now + place * _MOMENT, is_told=item.creator_id == creator.id)
    return delivered


def in_own_words(creator: Creator, items: Sequence[Item], in_feed: Iterable[Found], now: datetime) -> list[Item]:
    """Where others have told about it first, as the creator tells it, if that is there to read."""
    if all(item.creator_id == creator.id for item in items):
        return list(items)
    told = {item.id: item for item in (to_item(creator, one, now) for one in in_feed)}
    return [item if item.creator_id == creator.id else told.get(item.id, item) for item in items]


def arrivals(creator: Creator, found: Iterable[Found], now: datetime) -> list[Arrival]:
    return [Arrival(to_item(creator, one, now).id, now) for one in found]


def _wants(follower: Follower, one: Found, newer: Sequence[Found]) -> bool:
    options = follower.options
    if options.action is Action.IGNORE or (one.is_short and options.hide_shorts):
        return False
    shown = [other for other in newer if not (other.is_short and options.hide_shorts)]
    return not (options.newest_only and shown)


def _hand_over(item: Item, followers: Sequence[Follower], received_at: datetime, is_told: bool = True) -> Delivered:
    recipients = [Recipient(follower.owner, follower.follow_id, follower.options.state) for follower in followers]
    got = inbox.deliver(item, recipients, received_at, is_told)
    for follower in followers:
        if follower.options.newest_only:  # also if they had it already: whoever brought it may have died here
            inbox.keep_newest(follower.owner, follower.follow_id, item.id)
    return Counter(got)
