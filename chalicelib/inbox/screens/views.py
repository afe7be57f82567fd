"""Entries as pages show them: words for where they come from, and texts that fit."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from chalicelib.inbox import photos, service, uses
from chalicelib.inbox.model import ContentType, Entry, EntryDetail, Item, Provider, Seen, SeenDetail, State
from chalicelib.inbox.uses import History, Use
from chalicelib.media import service as media
from chalicelib.web import responses
from chalicelib.web.responses import Response
from chalicelib.web.text_size import html_size, shorten

SOURCES = {
    Provider.YOUTUBE: "YouTube",
    Provider.SPOTIFY: "Spotify",
    Provider.RSS: "Feed",
    Provider.LINK: "Saved link",
    Provider.SIGHTING: "Members",
}
TYPES = {
    ContentType.VIDEO: "Video",
    ContentType.PODCAST: "Episode",
    ContentType.ARTICLE: "Article",
    ContentType.LINK: "Page",
    ContentType.SIGHTING: "Sighting",
}
# What a page says of both, where one of them says it all.
_TOGETHER = {
    (Provider.YOUTUBE, ContentType.VIDEO): "YouTube video",
    (Provider.SPOTIFY, ContentType.PODCAST): "Spotify episode",
    (Provider.RSS, ContentType.ARTICLE): "Feed article",
    (Provider.RSS, ContentType.PODCAST): "Podcast episode",
    (Provider.LINK, ContentType.LINK): "Saved link",
    (Provider.SIGHTING, ContentType.SIGHTING): "Member’s sighting",
}
STATES = {State.INBOX: "Inbox", State.BOOKMARKED: "Bookmarked", State.ARCHIVED: "Archived"}
_NO_TITLE = "No longer there"
_SUBJECT = 90
_AROUND_SUGGESTION = 110
_NO_HISTORY = History()


class UseView(Struct, frozen=True):
    """A campaign that has the item, in words."""

    campaign_id: str
    text: str


class Texts(Struct, frozen=True):
    """How many bytes of each a page has room for."""

    title: int
    creator: int
    excerpt: int
    note: int


IN_LISTS = Texts(300, 100, 220, 240)
WHOLE = Texts(2_000, 1_200, 3_000, 12_000)


class EntryView(Struct, frozen=True):
    """`length` is how long it takes, as players show it; `state` is empty if it was dismissed. `similar` is a
    campaign that has not the item, but nearly its title."""

    id: str
    state: str
    title: str
    url: str
    kind: str
    source: str
    creator: str
    excerpt: str
    length: str
    published_at: Any
    received_at: Any
    available: bool
    picture: str
    problem: str
    note: str
    suggestion: str
    section: str
    used: tuple[UseView, ...]
    similar: UseView | None

    @property
    def size(self) -> int:
        """In bytes, without the markup that every entry has."""
        texts = (
            self.title,
            self.url,
            self.creator,
            self.excerpt,
            self.note,
            self.suggestion,
            self.section,
            self.problem,
            self.picture,
        )
        named = [*self.used, *([self.similar] if self.similar else [])]
        around = _AROUND_SUGGESTION if self.suggestion else 0
        return sum(map(html_size, texts)) + sum(html_size(use.text) for use in named) + around


def view(
    detail: EntryDetail | SeenDetail, history: History = _NO_HISTORY, most: Texts = IN_LISTS, photo: str = ""
) -> EntryView:
    """`photo` is a link of `photos.sign_all`, which works for minutes."""
    found: Entry | Seen = detail.entry if isinstance(detail, EntryDetail) else detail.seen
    entry = found if isinstance(found, Entry) else None
    item = detail.item
    return EntryView(
        id=found.id,
        state=entry.state.value if entry else "",
        title=shorten(item.title, most.title) or _NO_TITLE,
        url=item.canonical_url,
        kind=found.provider.lower(),
        source=_TOGETHER.get((found.provider, found.content_type)) or SOURCES[found.provider],
        creator=shorten(item.creator, most.creator),
        excerpt=shorten(item.excerpt, most.excerpt),
        length=describe_length(item.duration_seconds),
        published_at=item.published_at,
        received_at=found.received_at,
        available=item.available,
        picture=photo or picture_path(item),
        problem=shorten(item.problem, 200),
        note=shorten(entry.note, most.note) if entry else "",
        suggestion=shorten(entry.suggestion, most.note) if entry else "",
        section=shorten(entry.section, 100) if entry else "",
        used=tuple(view_use(use) for use in history.uses[:2]),
        similar=view_use(history.similar) if history.similar else None,
    )


def view_use(use: Use) -> UseView:
    when = uses.describe(use).rpartition("”, ")[2]
    return UseView(use.campaign_id, f"“{shorten(use.subject, _SUBJECT)}”, {when}")


def view_all(owner: str, details: Sequence[EntryDetail | SeenDetail], most: Texts = IN_LISTS) -> list[EntryView]:
    """With what the desk should know before it uses them, and photos that only this page may show."""
    items = [detail.item for detail in details]
    histories, shown = service.find_histories(owner, items), photos.sign_all(items)
    return [
        view(detail, histories.get(detail.item.id, _NO_HISTORY), most, shown.get(detail.item.id, ""))
        for detail in details
    ]


def picture_path(item: Item) -> str:
    """Our own copy, on our own host."""
    return f"/media/{item.picture}" if item.picture else ""


def with_photos(page: Response, entries: Iterable[EntryView]) -> Response:
    """The page may load what is not on our own host, if it shows any of it: photos in the private bucket."""
    signed = any(entry.picture and not entry.picture.startswith("/") for entry in entries)
    return responses.with_photos(page, media.origin()) if signed else page


def count_fitting(entries: Sequence[EntryView], bytes_left: int, markup: int) -> int:
    """How many of them the page has room for: always one."""
    for number, entry in enumerate(entries):
        bytes_left -= markup + entry.size
        if bytes_left < 0:
            return max(1, number)
    return len(entries)


def describe_length(seconds: int | None) -> str:
    """As players show it: 12:34, or 1:02:03."""
    if not seconds:
        return ""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
