"""The list of subscribers as editors read it: newest first, in pages, filtered."""

from collections import Counter
from collections.abc import Iterator, Mapping
from heapq import merge
from itertools import chain, islice
from typing import Annotated

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from chalicelib.audience import counts, recipients
from chalicelib.audience.model import ACTIVATED, EDITOR, PENDING, Subscriber, Word
from chalicelib.audience.recipients import Known
from chalicelib.audience.stores import emails, subscribers
from chalicelib.audience.stores import listing as store
from chalicelib.audience.stores.listing import Cursor, Item
from chalicelib.kernel import clock, ids
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import Invalid, NotFound
from chalicelib.web import schemas
from chalicelib.web.schemas import Reads

_SAMPLED = 1000
_MOST_WORDS = 200
_LONGEST_SEARCH = 254
# Who is paused is an activated subscriber, but can be listed apart.
PAUSED = "paused"
_LABELS = {ACTIVATED: "Activated", PENDING: "Pending"}


class Entry(Struct, frozen=True):
    id: str
    email: str
    nickname: str | None
    status: str
    created_at: str
    activated_at: str | None
    sources: tuple[str, ...]
    tags: tuple[str, ...]
    paused_at: str | None = None
    paused_because: str | None = None

    @property
    def label(self) -> str:
        return _LABELS[self.status]


def _check_search(text: str) -> str:
    text = text.strip()
    if len(text) > _LONGEST_SEARCH:
        raise Invalid(f"A search may have at most {_LONGEST_SEARCH} characters")
    return text


def _check_word(text: str) -> str:
    return _check_search(text).lower()


def _check_status(text: str) -> str:
    status = _check_word(text)
    if status not in ("", PENDING, ACTIVATED, PAUSED):
        raise Invalid(f"status must be {PENDING}, {ACTIVATED} or {PAUSED}")
    return status


_SHORT = Meta(max_length=_LONGEST_SEARCH)
_STATUSES = Meta(extra_json_schema={"enum": ["", PENDING, ACTIVATED, PAUSED]})


class Filter(Struct, frozen=True):
    """Whom to list, as a query asks for it: everybody, or those who match all that is given."""

    text: Annotated[str, _SHORT, Meta(description="Part of the address or of the nickname"), Reads(_check_search)] = (
        field(default="", name="q")
    )
    source: Annotated[str, _SHORT, Reads(_check_word)] = ""
    tag: Annotated[str, _SHORT, Reads(_check_word)] = ""
    status: Annotated[str, _STATUSES, Reads(_check_status)] = ""

    @property
    def reads_everybody(self) -> bool:
        return bool(self.text or self.source or self.tag)

    def matches(self, item: Item) -> bool:
        """On a row as it is stored: of a million that are read, only those that match become entries."""
        if self.text:
            text = self.text.casefold()
            nickname = item.get("nickname")
            if text not in item["email"]["S"].casefold() and (not nickname or text not in nickname["S"].casefold()):
                return False
        return _has(item, "sources", self.source) and _has(item, "tags", self.tag)


class Words(Struct, frozen=True):
    sources: list[Word]
    tags: list[Word]


class Page(Struct, frozen=True):
    items: tuple[Entry, ...]
    page: int
    per_page: int
    total: int

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.per_page))


def parse_filter(query: Mapping[str, str]) -> Filter:
    """From the query of a request, for the API and the dashboard alike."""
    return schemas.read(Filter, query)


def page(wanted: Filter, number: int, per_page: int) -> Page:
    """With who of them is paused, which the index does not have."""
    found = _page(wanted, number, per_page)
    people = recipients.look_up([entry.id for entry in found.items if entry.status == ACTIVATED])
    return replace(found, items=tuple(_with_pause(entry, people.get(entry.id)) for entry in found.items))


def _page(wanted: Filter, number: int, per_page: int) -> Page:
    start = (number - 1) * per_page
    if wanted.reads_everybody or wanted.status == PAUSED:
        return _search(wanted, number, per_page, start)
    pending = [] if wanted.status == ACTIVATED else list(_entries(PENDING))
    activated = 0 if wanted.status == PENDING else counts.total()
    only_pending = wanted.status == PENDING
    items = pending[start : start + per_page] if only_pending else _merge_page(pending, start, per_page)
    return Page(tuple(items), number, per_page, len(pending) + activated)


def find_entry(subscriber_id: str) -> Entry:
    """One person, as the list shows them."""
    return entry_from(find_subscriber(subscriber_id))


def find_subscriber(subscriber_id: str) -> Subscriber:
    subscriber = subscribers.find(subscriber_id) if ids.is_id(subscriber_id) else None
    if not subscriber or subscriber.expired(clock.now()):
        raise NotFound("No such subscriber")
    return subscriber


def find_by_address(address: Address) -> Subscriber:
    owner = emails.find_owner(address.key, clock.now())
    if not owner:
        raise NotFound("No such subscriber")
    return find_subscriber(owner)


def entry_from(subscriber: Subscriber) -> Entry:
    return Entry(
        id=subscriber.id,
        email=subscriber.email,
        nickname=subscriber.nickname,
        status=subscriber.status,
        created_at=clock.text(subscriber.created_at),
        activated_at=clock.text(subscriber.activated_at) if subscriber.activated_at else None,
        sources=tuple(sorted(subscriber.sources)),
        tags=tuple(sorted(subscriber.tags)),
        paused_at=clock.text(subscriber.paused_at) if subscriber.paused_at else None,
        paused_because=subscriber.paused_because,
    )


def list_words() -> Words:
    """Sources and tags of the newest subscribers, to suggest in filters: not worth reading everybody."""
    items = store.newest_words(ACTIVATED, _SAMPLED)
    return Words(*(_most_common(items, name) for name in ("sources", "tags")))


def iterate(wanted: Filter) -> Iterator[Entry]:
    """All who match, newest first (the paused: last paused first), with one page of the index in memory at a time."""
    if wanted.status == PAUSED:
        return (_entry(item) for item in store.list_paused_items() if wanted.matches(item))
    statuses = [status for status in (PENDING, ACTIVATED) if wanted.status in ("", status)]
    return _newest_first(*(_matching(status, wanted) for status in statuses))


def list_reasons_of_pauses() -> dict[str, str]:
    """Why each of the few who are paused is, by id."""
    return {entry.id: entry.paused_because or EDITOR for entry in map(_entry, store.list_paused_items())}


def _with_pause(entry: Entry, person: Known | None) -> Entry:
    return replace(entry, paused_at=person.paused_at, paused_because=person.paused_because) if person else entry


def _matching(status: str, wanted: Filter) -> Iterator[Entry]:
    return (_entry(item) for item in store.list_items(status, clock.now()) if wanted.matches(item))


def _search(wanted: Filter, number: int, per_page: int, start: int) -> Page:
    items = []
    total = 0
    for entry in iterate(wanted):
        if start <= total < start + per_page:
            items.append(entry)
        total += 1
    return Page(tuple(items), number, per_page, total)


def _merge_page(pending: list[Entry], start: int, count: int) -> list[Entry]:
    """`count` entries from position `start` of pending and activated together. The pending ones are few and all read;
    activated ones that certainly come earlier are counted instead of read."""
    passed = max(0, start - len(pending))
    cursor = store.skip(ACTIVATED, passed)
    if passed and cursor is None:
        return []
    activated = _entries(ACTIVATED, after=cursor, page_size=len(pending) + count)
    if passed:
        first = next(activated)
        activated = chain([first], activated)
        newer = sum(1 for entry in pending if entry.created_at > first.created_at)
        pending, passed = pending[newer:], passed + newer
    return list(islice(_newest_first(iter(pending), activated), start - passed, start - passed + count))


def _newest_first(*streams: Iterator[Entry]) -> Iterator[Entry]:
    return merge(*streams, key=lambda entry: entry.created_at, reverse=True)


def _entries(status: str, after: Cursor | None = None, page_size: int | None = None) -> Iterator[Entry]:
    return map(_entry, store.list_items(status, clock.now(), after, page_size))


def _most_common(items: list[Item], name: str) -> list[str]:
    frequency = Counter(word for item in items if name in item for word in item[name]["SS"])
    return [word for word, _ in frequency.most_common(_MOST_WORDS)]


def _has(item: Item, name: str, word: str) -> bool:
    return not word or (name in item and word in item[name]["SS"])


def _entry(item: Item) -> Entry:
    return Entry(
        id=item["id"]["S"],
        email=item["email"]["S"],
        nickname=item["nickname"]["S"] if "nickname" in item else None,
        status=item["status"]["S"],
        created_at=item["created_at"]["S"],
        activated_at=item["activated_at"]["S"] if "activated_at" in item else None,
        sources=tuple(item["sources"]["SS"]) if "sources" in item else (),
        tags=tuple(item["tags"]["SS"]) if "tags" in item else (),
    )
