"""Following everything that a file names, and naming everything that is followed.

Feeds are looked at side by side, as long as a request may take; the rest is followed by the worker. Nothing is polled
here: whatever is followed anew is due at once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from urllib.parse import urlsplit

from msgspec import Struct

from chalicelib.following import changes, departures, messages, model, opml, resolving
from chalicelib.following.changes import LISTED, Room
from chalicelib.following.model import Creator, Follow, Followed
from chalicelib.following.opml import Outline
from chalicelib.following.providers.contract import Channel, Reference
from chalicelib.following.providers.registry import recognise
from chalicelib.following.stores import creators, follows
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import clock, deadlines, limits, log, publication
from chalicelib.kernel.errors import GnaError, TooMany, Unavailable
from chalicelib.members import service as members

_HOUR = 3600
_IMPORTS_PER_HOUR = 5
_TOGETHER = 10
# Looked at in the request; what one server answers to many at once is often that there are too many.
_AT_ONE_HOST = 20
_LONGEST_DELAY = 900
_NOT_QUEUED = "Service unavailable"
# For looking at feeds, and for all that may begin before the rest is handed over; a request ends after 29 seconds.
_SECONDS_TO_LOOK, _SECONDS_TO_FOLLOW = 10.0, 14.0
_MOST_TRIES = 4
_FEED_OF_CHANNEL = "https://www.youtube.com/feeds/videos.xml?channel_id="
_CHANNEL = "https://www.youtube.com/channel/"

Resolved = tuple[Provider, Channel]


class Imported(Struct, frozen=True):
    """What became of one feed: the follow, why there is none, or that the worker follows it."""

    url: str
    follow_id: str = ""
    error: str = ""
    is_queued: bool = False


def export_file(owner: str) -> Iterator[str]:
    """Every feed that is followed and has not ended, by name, and every channel as its feed. Shows have none."""
    listed = [one for one in follows.list_all(owner) if one.status in LISTED]
    known = creators.find_many({one.creator_id for one in listed})
    outlines = [outline for one in listed if (outline := _outline(one, known.get(one.creator_id)))]
    outlines.sort(key=lambda outline: (outline.title.casefold(), outline.url))
    return opml.write(publication.current().name, outlines, clock.now())


def import_file(owner: str, document: bytes) -> list[Imported]:
    urls = opml.parse(document, model.MOST_FOLLOWS[model.is_desk(owner)])
    limits.spend("opml", owner, _IMPORTS_PER_HOUR, _HOUR)
    time_left = deadlines.seconds_left(_SECONDS_TO_FOLLOW)
    references = {url: _recognise(url) for url in urls}
    known = list(follows.list_all(owner))
    done = _find_done(known, references)
    feeds = {url for url in urls if url not in done and _is_feed(references[url])}
    places = _place_at_host(url for url in urls if url in feeds)
    found = _look_at(owner, [url for url, place in places.items() if place < _AT_ONE_HOST])
    room = changes.count_room(owner, known)
    waiting: list[str] = []
    for url in urls:
        if url in done:
            continue
        if (url in feeds and url not in found) or not time_left():
            waiting.append(url)
        else:
            done[url], room = _take(owner, url, found.get(url), room)
    done |= _queue(owner, waiting)
    return [done[url] for url in urls]


def follow_queued(owner: str, url: str, tries: int) -> None:
    """For the worker. What cannot be followed is given up; what does not answer is tried a few times."""
    if not _is_there(owner):
        return
    try:
        _begin(owner, *resolving.resolve_url(owner, url))
    except (TooMany, Unavailable) as failure:
        if tries + 1 < _MOST_TRIES:
            messages.follow_again_later(owner, url, tries + 1)
        else:
            log.warning("following.not_imported", kind=type(failure).__name__)
    except GnaError as failure:
        log.info("following.not_imported", kind=type(failure).__name__)
    else:
        # A member who left at this moment may have missed this one.
        if not _is_there(owner):
            departures.forget(owner, lambda: True)


def _recognise(url: str) -> Reference | GnaError:
    try:
        return recognise(url)
    except GnaError as failure:
        return failure


def _find_done(known: Sequence[Follow], references: Mapping[str, Reference | GnaError]) -> dict[str, Imported]:
    """What is followed already, and what is no address."""
    followed = {(one.provider, one.channel_id): one.id for one in known if one.status in LISTED}
    done: dict[str, Imported] = {}
    for url, reference in references.items():
        if isinstance(reference, GnaError):
            done[url] = Imported(url, error=reference.reason)
        elif id := followed.get((reference.provider, reference.value)):
            done[url] = Imported(url, id)
    return done


def _is_feed(reference: Reference | GnaError) -> bool:
    return isinstance(reference, Reference) and reference.provider is Provider.RSS


def _place_at_host(urls: Iterable[str]) -> dict[str, int]:
    """How many others of the same host come before each."""
    counted: Counter[str] = Counter()
    places: dict[str, int] = {}
    for url in urls:
        host = _host_of(_recognise(url))
        places[url] = counted[host]
        counted[host] += 1
    return places


def _host_of(reference: Reference | GnaError) -> str:
    """Those of a provider count as one, too."""
    if isinstance(reference, GnaError) or not _is_feed(reference):
        return ""
    return (urlsplit(reference.value).hostname or "").lower()


def _look_at(owner: str, urls: Sequence[str]) -> dict[str, Resolved | GnaError]:
    """Those that answer in time. Feeds need nobody's connection, so nothing of ours is read meanwhile."""
    pool = ThreadPoolExecutor(_TOGETHER, thread_name_prefix="feeds")
    begun = {pool.submit(_resolve, owner, url): url for url in urls}
    done, _ = wait(begun, timeout=_SECONDS_TO_LOOK)
    pool.shutdown(wait=False, cancel_futures=True)
    return {begun[one]: one.result() for one in done}


def _resolve(owner: str, url: str) -> Resolved | GnaError:
    try:
        return resolving.resolve_url(owner, url)
    except GnaError as failure:
        return failure


def _take(owner: str, url: str, found: Resolved | GnaError | None, room: Room) -> tuple[Imported, Room]:
    """Also says how much room is left."""
    resolved = found or _resolve(owner, url)
    if isinstance(resolved, GnaError):
        return Imported(url, error=resolved.reason), room
    try:
        follow, is_news = _begin(owner, *resolved, room)
    except GnaError as failure:
        return Imported(url, error=failure.reason), room
    return Imported(url, follow.id), room.less_one() if is_news else room


def _begin(owner: str, provider: Provider, channel: Channel, room: Room | None = None) -> tuple[Follow, bool]:
    known = creators.find(model.creator_id(provider, channel.channel_id))
    creator = known or resolving.new_creator(provider, channel)
    follow, is_news = changes.begin(owner, creator, room)
    if is_news:
        messages.poll_soon(creator.id)
    return follow, is_news


def _queue(owner: str, urls: Sequence[str]) -> dict[str, Imported]:
    """Those of one host a second apart."""
    delays = {url: min(place, _LONGEST_DELAY) for url, place in _place_at_host(urls).items()}
    taken = messages.follow_later(owner, delays)
    return {url: Imported(url, is_queued=True) if url in taken else Imported(url, error=_NOT_QUEUED) for url in urls}


def _is_there(owner: str) -> bool:
    return owner == DESK or members.find(owner) is not None


def _outline(follow: Follow, creator: Creator | None) -> Outline | None:
    if follow.provider is Provider.SPOTIFY:
        return None
    name = Followed(follow, creator).name
    page = creator.external_url if creator else ""
    if follow.provider is Provider.YOUTUBE:
        return Outline(name, _FEED_OF_CHANNEL + follow.channel_id, page or _CHANNEL + follow.channel_id)
    return Outline(name, (creator and creator.url) or follow.channel_id, page)
