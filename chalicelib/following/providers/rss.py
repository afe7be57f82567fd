"""Any feed: a blog, a podcast, a playlist. Nobody needs an account for it, and a page that names its feed will do."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import urldefrag, urlsplit

from msgspec.structs import replace

from chalicelib.feeds.reading import excerpt, pages, reader
from chalicelib.feeds.reading.model import Entry, Feed
from chalicelib.feeds.reading.reader import Reading, Unreadable, Validators
from chalicelib.following.providers.contract import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    Access,
    Channel,
    Down,
    Forbidden,
    Found,
    Known,
    Page,
    ProviderFailed,
    Reference,
    Source,
    Throttled,
    Unknown,
    unique,
)
from chalicelib.inbox import links
from chalicelib.inbox.model import LONGEST_EXCERPT, LONGEST_TITLE, ContentType, Provider
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.http import client
from chalicelib.kernel.http.client import Bounds, FetchFailed

_URL = "url"
_PAGE_BOUNDS = Bounds(seconds=7.0, largest=pages.LARGEST_PAGE, redirects=5)
_NONE = Validators()
_MOST_ENTRIES = 100
# What is dated later than this is more likely a mistake.
_SOON = timedelta(days=60)
# A feed of fewer entries has all there are; others have the latest only.
_USUAL_LENGTH = 10
_LONGEST_ID = 1_000
_NO_ACCOUNTS = "Feeds have no accounts and no search: enter the address of a feed or of its website"


class Rss:
    provider = Provider.RSS
    polls_per_second = 10
    is_anybodys = True

    def check_id(self, text: str) -> str:
        url = _without_fragment(excerpt.web_url(text))
        if not url:
            raise Invalid("Invalid feed URL. Expected an http or https URL")
        return url

    def recognise(self, url: str) -> Reference | None:
        address = _without_fragment(excerpt.web_url(url))
        return Reference(Provider.RSS, _URL, address) if address else None

    def resolve(self, reference: Reference, access: Access) -> Channel:
        """The feed at this URL, or the one that the page there names."""
        try:
            reading = reader.read(reference.value)
        except Unreadable as failure:
            if failure.kind != "invalid":
                raise _failure(failure, is_new=True) from failure
            reading = _read_named(reference.value)
        assert reading.feed is not None  # nothing was known that it could be equal to
        return _channel(reading.feed, _without_fragment(reading.permanent_url))

    def latest(self, known: Known, access: Access) -> Page:
        try:
            reading = reader.read(
                known.url or known.channel_id, known.validators if known.validators != _NONE else None
            )
        except Unreadable as failure:
            raise _failure(failure, is_new=False) from failure
        url = _without_fragment(reading.permanent_url)
        if reading.feed is None:
            return Page(url=url, validators=reading.validators, unchanged=True)
        newest = _newest(reading.feed)
        found = unique(found for entry in newest if (found := _found(entry, reading.feed, url)))
        told = [replace(one, told_at=reading.url) for one in found]
        return Page(
            items=_mark_shared_pages(told, reading.feed),
            has_older=len(reading.feed.entries) >= _USUAL_LENGTH,
            channel=_channel(reading.feed, url),
            url=url,
            validators=_NONE if _has_upcoming(reading.feed) else reading.validators,
            hub=reading.feed.hub,
            topic=reading.feed.topic,
        )

    def complete(
        self, known: Known, found: Sequence[Found], access: Access, tell_shorts: bool = False
    ) -> tuple[Found, ...]:
        """A feed tells all there is to tell."""
        return tuple(found)

    def refresh(self, item_ids: Sequence[str], access: Access) -> dict[str, Found]:
        """An entry cannot be asked for by its id, and nobody demands that what it said is renewed."""
        raise Unknown("An entry of a feed cannot be read by itself")

    def mine(self, access: Access) -> list[Channel]:
        raise Unknown(_NO_ACCOUNTS)

    def search(self, words: str, limit: int, access: Access) -> list[Channel]:
        raise Unknown(_NO_ACCOUNTS)


SOURCE: Source = Rss()


def _read_named(url: str) -> Reading:
    """The first feed the page names that is not one of comments."""
    try:
        answer = client.get(url, {"Accept": "text/html, application/xhtml+xml, */*;q=0.1"}, _PAGE_BOUNDS)
    except FetchFailed as failure:
        raise Down(f"The page cannot be fetched: {failure.reason}") from failure
    feeds = pages.find_feeds(answer.body, answer.headers.get("content-type", ""), answer.url)
    if answer.status != 200 or not feeds:
        raise Unknown("There is no feed at this address, and the page there names none")
    try:
        return reader.read(feeds[0])
    except Unreadable as failure:
        raise _failure(failure, is_new=True) from failure


def _failure(failure: Unreadable, is_new: bool) -> ProviderFailed:
    """A feed that was there yesterday and is 404 today may be back tomorrow; for a new one it is the answer."""
    if failure.kind == "gone" or (is_new and (failure.status == 404 or failure.kind in ("refused", "invalid"))):
        return Unknown(failure.reason)
    if failure.status == 429:
        return Throttled(failure.reason, failure.retry_after)
    if failure.status in (401, 402, 403):
        return Forbidden(failure.reason, failure.retry_after)
    return Down(failure.reason, failure.retry_after)


def _newest(feed: Feed) -> list[Entry]:
    """At most a hundred, by date; those without one count as new, as long as the feed is sorted like others."""
    if len(feed.entries) <= _MOST_ENTRIES:
        return list(feed.entries)
    now = clock.now()
    return sorted(feed.entries, key=lambda entry: entry.dated or now, reverse=True)[:_MOST_ENTRIES]


def _has_upcoming(feed: Feed) -> bool:
    """Whether something will be published without the feed being changed for it: then it has to be read again."""
    now = clock.now()
    return any(entry.dated and now < entry.dated < now + _SOON for entry in feed.entries)


def _channel(feed: Feed, url: str) -> Channel:
    name = excerpt.truncate(feed.title, LONGEST_NAME) or urlsplit(url).hostname or url
    return Channel(
        channel_id=url,
        name=name,
        description=excerpt.truncate(feed.description, LONGEST_DESCRIPTION),
        image_url=feed.image,
        external_url=feed.link or url,
        total_items=len(feed.entries),
    )


def _found(entry: Entry, feed: Feed, url: str) -> Found | None:
    """Nothing for an entry that is dated in the future: it is not published yet."""
    if entry.dated and entry.dated > clock.now():
        return None
    text = excerpt.truncate(excerpt.plain_text(entry.html), LONGEST_EXCERPT)
    title = entry.title or excerpt.truncate(text, 100) or feed.title or url
    return Found(
        id=_bounded_id(entry.id),
        title=excerpt.truncate(title, LONGEST_TITLE),
        url=entry.link or entry.audio or url,
        content_type=ContentType.PODCAST if entry.audio else ContentType.ARTICLE,
        published_at=entry.dated,
        excerpt=text,
        image=entry.image,
        duration_seconds=entry.duration if entry.audio else None,
    )


def _mark_shared_pages(found: Sequence[Found], feed: Feed) -> tuple[Found, ...]:
    """In some feeds all entries lead to the same page: the site, or the podcast's own."""
    pages = Counter(links.identify(one.url) for one in found) + Counter([links.identify(feed.link)])
    return tuple(replace(one, has_own_page=pages[links.identify(one.url)] == 1) for one in found)


def _bounded_id(text: str) -> str:
    if len(text) <= _LONGEST_ID:
        return text
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _without_fragment(url: str) -> str:
    return urldefrag(url).url
