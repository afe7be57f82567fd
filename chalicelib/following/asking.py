"""What a provider is asked in one poll, and what of its answer is new."""

from collections.abc import Sequence
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.feeds.reading.reader import Validators
from chalicelib.following import fan_out, news, short_links
from chalicelib.following.model import Creator, Follower
from chalicelib.following.news import Memory
from chalicelib.following.providers.contract import Access, Channel, Found, Known, Page, Reference, Source
from chalicelib.following.providers.registry import SOURCES
from chalicelib.inbox.model import DESK
from chalicelib.kernel import clock

# Providers want what they told us to be refreshed within 30 days.
REFRESH_AFTER = timedelta(days=25)
# Of a feed that only members follow: each new item is a write for every follower, and a picture to copy.
MOST_NEW = 20


class Answer(Struct, frozen=True):
    """What the provider told: its page, and of that what is new, oldest first; `rest` is new too, and left for the
    next poll. `published` are the ids that count as seen from now on, and `shorts` what is not for everybody."""

    page: Page
    new: tuple[Found, ...] = ()
    latest: Found | None = None
    published: tuple[str, ...] = ()
    channel: Channel | None = None
    shorts: tuple[Found, ...] = ()
    rest: tuple[Found, ...] = ()


def ask(creator: Creator, memory: Memory | None, following: Sequence[Follower], access: Access) -> Answer:
    source = SOURCES[creator.provider]
    some_new = any(follower.is_new for follower in following)
    # Whoever begins or comes back gets items in the words of this source, also if it has nothing new to tell.
    is_anew = memory is None or some_new or any(follower.since for follower in following)
    known = Known(creator.channel_id, creator.url, Validators() if is_anew else creator.validators)
    page = source.latest(known, access)
    channel = page.channel or _describe(creator, source, access)
    if page.unchanged:
        return Answer(page, channel=channel)
    tell_shorts = any(follower.options.hide_shorts for follower in following)
    candidates, rest = _find_candidates(creator, memory, page, following)
    doubtful = [*candidates, *_find_doubtful(creator, memory, page, following)]
    completed = source.complete(known, doubtful, access, tell_shorts) if doubtful else ()
    unsettled = {one.id for one in (*candidates, *rest)} - {one.id for one in completed}
    published = tuple(one.id for one in page.items if one.id not in unsettled)
    latest = news.find_latest([*completed, *(one for one in page.items if one.id in set(published))])
    if latest and some_new and latest.id not in {one.id for one in completed}:
        latest = next(iter(source.complete(known, [latest], access, tell_shorts)), latest)
    new_ids = {one.id for one in candidates} if memory else set()
    new = tuple(sorted((one for one in completed if one.id in new_ids), key=news.by_date))
    shorts = tuple(one for one in completed if one.is_short)
    return _leave_rest(Answer(page, new, latest, published, channel, shorts, tuple(rest)))


def without_short_links(creator: Creator, answer: Answer) -> Answer:
    told = (*answer.new, *filter(None, [answer.latest]))
    pages = short_links.resolve(creator, told, answer.page.items)

    def at_page(one: Found) -> Found:
        return replace(one, url=pages.get(one.id, one.url))

    latest = at_page(answer.latest) if answer.latest else None
    return replace(answer, new=tuple(map(at_page, answer.new)), latest=latest)


def _describe(creator: Creator, source: Source, access: Access) -> Channel | None:
    """What was told of the channel itself, once it is old."""
    if creator.refreshed_at + REFRESH_AFTER >= clock.now():
        return None
    return source.resolve(Reference(creator.provider, "id", creator.channel_id), access)


def _find_candidates(
    creator: Creator, memory: Memory | None, page: Page, following: Sequence[Follower]
) -> tuple[list[Found], list[Found]]:
    """What may be new, and what is left for the next poll. Nothing is left of what the desk follows; nor while
    somebody has just begun to follow: they get the latest and nothing before it, and what is left now would reach
    them later."""
    if memory is None:
        return list(page.items), []
    new = news.find_new(page.items, memory, creator.floor)
    is_bounded = SOURCES[creator.provider].is_anybodys and not any(
        one.is_new or one.owner == DESK for one in following
    )
    most = MOST_NEW if is_bounded else len(new)
    return new[:most], new[most:]


def _leave_rest(answer: Answer) -> Answer:
    """The next poll has to be answered with it again, and until then nobody knows which is the latest for those who
    begin to follow."""
    if not answer.rest:
        return answer
    return replace(answer, page=replace(answer.page, validators=Validators()), latest=None)


def _find_doubtful(creator: Creator, memory: Memory | None, page: Page, following: Sequence[Follower]) -> list[Found]:
    """What somebody has missed who does not want shorts: whether it is one may never have been asked."""
    begun = [one.since for one in following if one.since and one.options.hide_shorts]
    if not begun or not memory:
        return []
    missed = {arrival.item_id for arrival in memory.arrivals if arrival.at >= min(begun)}
    return [one for one in page.items if fan_out.to_item(creator, one, clock.now()).id in missed]
