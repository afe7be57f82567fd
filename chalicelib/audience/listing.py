"""The list of subscribers as editors read it: newest first, in pages, filtered."""

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import chain, islice

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.audience import counts, filling, folding, places, recipients, searching
from chalicelib.audience.filters import PAUSED as PAUSED
from chalicelib.audience.filters import Filter as Filter
from chalicelib.audience.filters import parse_filter as parse_filter
from chalicelib.audience.model import ACTIVATED, EDITOR, PENDING, Subscriber, Word
from chalicelib.audience.recipients import Known
from chalicelib.audience.searching import Found
from chalicelib.audience.stores import emails, imported, subscribers
from chalicelib.audience.stores import listing as store
from chalicelib.audience.stores.listing import BEGINNING, Item, Spot
from chalicelib.kernel import addresses, clock, ids
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import Invalid, NotFound, Unavailable

_SAMPLED = 1000
# Of the index a page holds more; beyond them it is worth reading where to begin.
_COUNTED_PAST = 2_000
# A search that takes longer than this shows what it has found so far. API Gateway hangs up after 29 seconds.
_PATIENCE, _LONGEST = 4.0, 20.0
_MOST_WORDS = 200
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


class Words(Struct, frozen=True):
    sources: list[Word]
    tags: list[Word]


class Page(Struct, frozen=True):
    """`rest` says where to go on if a search has not looked at everybody: `total` is then what it has found so far
    among `looked_at` people. `is_exact`: somebody has the very address, and nobody else was looked for."""

    items: tuple[Entry, ...]
    page: int
    per_page: int
    total: int
    rest: str | None = None
    looked_at: int = 0
    is_exact: bool = False

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.per_page))


def page(wanted: Filter, number: int, per_page: int) -> Page:
    """Complete, however long a search takes."""
    found = _page(wanted, number, per_page, _LONGEST)
    if found.rest:
        raise Unavailable("The search took too long: say more about whom you are looking for")
    return found


def look(wanted: Filter, number: int, per_page: int, place: str | None = None) -> Page:
    """For somebody who waits: the one with the very address, all who match, or what a few seconds could find. With
    `place`, which is the `rest` of a page, on from there."""
    if place:
        return _found(searching.go_on(wanted.terms, searching.decode(place), per_page, _PATIENCE), 1, per_page)
    if wanted == Filter(text=wanted.text) and "@" in wanted.text and (person := _find_by_address(wanted.text)):
        return Page((person,), 1, per_page, 1, searching.encode(searching.BEGINNING), is_exact=True)
    return _page(wanted, number, per_page, _PATIENCE)


def _page(wanted: Filter, number: int, per_page: int, seconds: float) -> Page:
    start = (number - 1) * per_page
    if wanted.reads_everybody and wanted.status != PAUSED and filling.is_finished():
        if not folding.can_be_found(wanted.text):
            return Page((), number, per_page, 0)
        return _found(searching.search(wanted.terms, start, per_page, seconds), number, per_page)
    listed = _list(wanted, number, per_page, start)
    people = recipients.look_up([entry.id for entry in listed.items if entry.status == ACTIVATED])
    return replace(listed, items=tuple(_with_pause(entry, people.get(entry.id)) for entry in listed.items))


def _list(wanted: Filter, number: int, per_page: int, start: int) -> Page:
    """Without who of them is paused, which the index does not have."""
    if wanted.reads_everybody or wanted.status == PAUSED:
        return _read_everybody(wanted, number, per_page, start)
    pending = [] if wanted.status == ACTIVATED else list(_entries(PENDING))
    if wanted.status == PENDING:
        return Page(tuple(pending[start : start + per_page]), number, per_page, len(pending))
    total = counts.total()
    items = {entry.id: entry for entry in _merge_page(pending, start, per_page, total)}
    return Page(tuple(items.values()), number, per_page, len(pending) + total)


def _found(found: Found, number: int, per_page: int) -> Page:
    rest = searching.encode(found.rest) if found.rest else None
    return Page(_find_entries(found.ids), number, per_page, found.count, rest, found.looked_at)


def _find_entries(subscriber_ids: Sequence[str]) -> tuple[Entry, ...]:
    """As they are now, in this order, without those who have left."""
    people = {person.id: person for person in imported.list_subscribers(subscriber_ids)}
    return tuple(entry_from(people[id]) for id in subscriber_ids if id in people)


def _find_by_address(text: str) -> Entry | None:
    try:
        owner = emails.find_owner(addresses.parse(text).key, clock.now())
    except Invalid:
        return None
    return next(iter(_find_entries([owner])), None) if owner else None


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


def _read_everybody(wanted: Filter, number: int, per_page: int, start: int) -> Page:
    items = []
    total = 0
    for entry in iterate(wanted):
        if start <= total < start + per_page:
            items.append(entry)
        total += 1
    return Page(tuple(items), number, per_page, total)


def _merge_page(pending: list[Entry], start: int, count: int, total: int) -> list[Entry]:
    """`count` entries from position `start` of pending and activated together. The pending ones are few and all read;
    activated ones that certainly come earlier are passed over."""
    passed = max(0, start - len(pending))
    spot = _pass_over(passed, total)
    activated = _entries(ACTIVATED, spot, len(pending) + count) if spot else iter(())
    if passed:
        first = next(activated, None)
        if not first:
            return []
        activated = chain([first], activated)
        newer = sum(1 for entry in pending if entry.created_at > first.created_at)
        pending, passed = pending[newer:], passed + newer
    return list(islice(_newest_first(iter(pending), activated), start - passed, start - passed + count))


def _pass_over(count: int, total: int) -> Spot | None:
    """After so many activated ones: a few are counted past, for many it is known where to begin. None if there are no
    more than that."""
    start = None
    if count > _COUNTED_PAST:
        # Somebody may have joined or left between the two readings, which then do not fit together: once more.
        start = places.find_start(count, total) or places.find_start(count, counts.total())
    start = start or places.Start()
    return store.skip(ACTIVATED, count - start.people, start.moment)


def _newest_first(*streams: Iterator[Entry]) -> Iterator[Entry]:
    return merge(*streams, key=lambda entry: entry.created_at, reverse=True)


def _entries(status: str, spot: Spot = BEGINNING, page_size: int | None = None) -> Iterator[Entry]:
    return map(_entry, store.list_items(status, clock.now(), spot, page_size))


def _most_common(items: list[Item], name: str) -> list[str]:
    frequency = Counter(word for item in items if name in item for word in item[name]["SS"])
    return [word for word, _ in frequency.most_common(_MOST_WORDS)]


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
