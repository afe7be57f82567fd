"""Following everything that a file names, and naming everything that is followed.

Feeds are looked at side by side, as long as a request may take; the rest is followed by the worker. Nothing is polled
here: whatever is followed anew is due at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from msgspec import Struct

from chalicelib.following import changes, departures, messages, model, opml, resolving
from chalicelib.following.changes import LISTED
from chalicelib.following.model import Creator, Follow
from chalicelib.following.opml import Outline
from chalicelib.following.providers.contract import Channel, Reference
from chalicelib.following.providers.registry import recognise
from chalicelib.following.stores import creators, follows
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import clock, deadlines, limits, log, settings
from chalicelib.kernel.errors import GnaError, TooMany, Unavailable
from chalicelib.members import service as members

_HOUR = 3600
_IMPORTS_PER_HOUR = 5
_TOGETHER = 10
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
    return opml.write(settings.current().site_name, outlines, clock.now())


def import_file(owner: str, document: bytes) -> list[Imported]:
    urls = opml.parse(document)
    limits.spend("opml", owner, _IMPORTS_PER_HOUR, _HOUR)
    time_left = deadlines.seconds_left(_SECONDS_TO_FOLLOW)
    references = {url: _recognise(url) for url in urls}
    done = _find_done(owner, references)
    feeds = [url for url in urls if url not in done and _is_feed(references[url])]
    found = _look_at(owner, feeds)
    done |= {url: _queue(owner, url) for url in feeds if url not in found}
    for url in urls:
        if url not in done:
            done[url] = _take(owner, url, found.get(url)) if time_left() else _queue(owner, url)
    return [done[url] for url in urls]


def follow_queued(owner: str, url: str, tries: int) -> None:
    """For the worker. What cannot be followed is given up; what does not answer is tried a few times."""
    if not _is_there(owner):
        return
    try:
        _begin(owner, *resolving.resolve_url(owner, url))
    except (TooMany, Unavailable) as failure:
        if tries + 1 < _MOST_TRIES:
            messages.follow_later(owner, url, tries + 1)
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


def _find_done(owner: str, references: Mapping[str, Reference | GnaError]) -> dict[str, Imported]:
    """What is followed already, and what is no address."""
    followed = {(one.provider, one.channel_id): one.id for one in follows.list_all(owner) if one.status in LISTED}
    done: dict[str, Imported] = {}
    for url, reference in references.items():
        if isinstance(reference, GnaError):
            done[url] = Imported(url, error=reference.reason)
        elif id := followed.get((reference.provider, reference.value)):
            done[url] = Imported(url, id)
    return done


def _is_feed(reference: Reference | GnaError) -> bool:
    return isinstance(reference, Reference) and reference.provider is Provider.RSS


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


def _take(owner: str, url: str, found: Resolved | GnaError | None) -> Imported:
    resolved = found or _resolve(owner, url)
    if isinstance(resolved, GnaError):
        return Imported(url, error=resolved.reason)
    try:
        return Imported(url, _begin(owner, *resolved).id)
    except GnaError as failure:
        return Imported(url, error=failure.reason)


def _begin(owner: str, provider: Provider, channel: Channel) -> Follow:
    known = creators.find(model.creator_id(provider, channel.channel_id))
    creator = known or resolving.new_creator(provider, channel)
    follow, is_news = changes.begin(owner, creator)
    if is_news:
        messages.poll_soon(creator.id)
    return follow


def _queue(owner: str, url: str) -> Imported:
    try:
        messages.follow_later(owner, url)
    except Unavailable as failure:
        return Imported(url, error=failure.reason)
    return Imported(url, is_queued=True)


def _is_there(owner: str) -> bool:
    return owner == DESK or members.find(owner) is not None


def _outline(follow: Follow, creator: Creator | None) -> Outline | None:
    if follow.provider is Provider.SPOTIFY:
        return None
    name = creator.name if creator else follow.channel_id
    page = creator.external_url if creator else ""
    if follow.provider is Provider.YOUTUBE:
        return Outline(name, _FEED_OF_CHANNEL + follow.channel_id, page or _CHANNEL + follow.channel_id)
    return Outline(name, (creator and creator.url) or follow.channel_id, page)
