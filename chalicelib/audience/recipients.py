"""The people a campaign is sent to."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import NamedTuple, TypeVar

from msgspec import Struct

from chalicelib.audience import counts, matching, pausing
from chalicelib.audience.matching import Targeting as Targeting
from chalicelib.audience.model import Subscriber
from chalicelib.audience.stores import emails
from chalicelib.audience.stores import recipients as store
from chalicelib.audience.stores.recipients import Item
from chalicelib.kernel import clock
from chalicelib.kernel.addresses import Address

_PEOPLE_A_SEGMENT = 20_000
_MOST_SEGMENTS = 8

Result = TypeVar("Result")


class Recipient(NamedTuple):
    """Not a struct: a million are made in one sending, and a tuple is made fastest. `unmailed` is set for those no
    campaign was sent to since they were imported."""

    id: str
    email: str
    nickname: str | None
    unsubscribe_secret: str
    unmailed: str | None = None

    @property
    def unsubscribe_token(self) -> str:
        return f"{self.id}.{self.unsubscribe_secret}"

    @property
    def joined(self) -> int:
        """When somebody imported had joined, in milliseconds; 0 if that is not known."""
        try:
            return max(0, clock.milliseconds(clock.parse((self.unmailed or "").partition("#")[0])))
        except (TypeError, ValueError):
            return 0


class Known(Struct, frozen=True):
    """A subscriber as other rooms look somebody up by id, whether or not they get campaigns now."""

    id: str
    email: str
    nickname: str | None
    sources: frozenset[str]
    tags: frozenset[str]
    activated_at: str
    paused_at: str | None
    paused_because: str | None
    resumed_at: str | None
    joined_at: str

    def may_pause(self, since: datetime) -> bool:
        """The same rule as for a `Subscriber`."""
        return not self.paused_at and not self.is_newer_than(since)

    def is_newer_than(self, moment: datetime) -> bool:
        """They have confirmed or resumed since: what happened before does not count."""
        return max(self.activated_at, self.resumed_at or "") > clock.text(moment)


def pages(
    segment: tuple[int, int], after: str | None, targeting: Targeting, activated_by: datetime, size: int
) -> Iterator[tuple[list[Recipient], str | None]]:
    """Pages of one segment (its number, how many there are) after this id, each with the id to continue after (None
    at the end). Only people activated by then, so that a sending ends however many join meanwhile."""
    for items, last in store.scan_segment(segment, after, targeting, activated_by, size):
        yield [_recipient(item) for item in items], last


def reload(ids: Sequence[str]) -> list[Recipient]:
    """Those of them who would get a campaign now, as they are now, in the same order."""
    found = {item["id"]["S"]: _recipient(item) for item in store.get_reachable(ids)}
    return [found[id] for id in ids if id in found]


def look_up(ids: Sequence[str]) -> dict[str, Known]:
    """Those of them who are activated subscribers now, by their ids."""
    return {item["id"]["S"]: _known(item) for item in store.get_known(ids)}


def reaches(targeting: Targeting, person: Known | Subscriber) -> bool:
    """Whether they are meant."""
    joined_at = person.joined_at if isinstance(person, Known) else _joined_at(person)
    return matching.Rule(targeting).matches(person.sources, person.tags, joined_at)


def count(targeting: Targeting, activated_by: datetime) -> int:
    """How many people a campaign would be sent to. Reads the whole table: too much for every page view."""
    return store.count(targeting, activated_by)


def count_unmailed(targeting: Targeting, activated_by: datetime) -> int:
    """How many of them no campaign was sent to since they were imported. Reads the whole table, a large one in
    segments at the same time."""
    return sum(in_segments(lambda segment: store.count_unmailed(targeting, activated_by, segment)))


def in_segments(read: Callable[[tuple[int, int]], Result]) -> list[Result]:
    """What `read` says of every segment of the table (its number, how many there are): of a large table several at
    the same time."""
    total = min(_MOST_SEGMENTS, 1 + counts.total() // _PEOPLE_A_SEGMENT)
    if total == 1:
        return [read((0, 1))]
    with ThreadPoolExecutor(max_workers=total) as threads:
        return list(threads.map(lambda number: read((number, total)), range(total)))


def clear_unmailed(ids: Sequence[str]) -> None:
    """A campaign was sent to these imported people: from the next on they are readers like everybody."""
    store.clear_unmailed(ids)


def count_everybody() -> int:
    """How many people a campaign to all subscribers would be sent to: a few reads, however many there are."""
    return max(0, counts.total() - pausing.count())


def count_up_to(most: int) -> int:
    """How many rows there are, counted no further than this: enough to tell a small audience from a large one."""
    return store.count_up_to(most)


def find_id(address: Address) -> str | None:
    """Who has this address."""
    return emails.find_owner(address.key, clock.now())


def _joined_at(person: Subscriber) -> str:
    activated_at = person.activated_at or person.created_at
    return matching.joined_at(clock.text(person.created_at), clock.text(activated_at), person.import_id)


def _known(item: Item) -> Known:
    def text(name: str) -> str | None:
        return item[name]["S"] if name in item else None

    def words(name: str) -> frozenset[str]:
        return frozenset(item[name]["SS"] if name in item else ())

    return Known(
        id=item["id"]["S"],
        email=item["email"]["S"],
        nickname=text("nickname"),
        sources=words("sources"),
        tags=words("tags"),
        activated_at=item["activated_at"]["S"],
        paused_at=text("paused_at"),
        paused_because=text("paused_because"),
        resumed_at=text("resumed_at"),
        joined_at=matching.joined_at(item["created_at"]["S"], item["activated_at"]["S"], text("import_id")),
    )


def _recipient(item: Item) -> Recipient:
    nickname, unmailed = item.get("nickname"), item.get("unmailed")
    return Recipient(
        item["id"]["S"],
        item["email"]["S"],
        nickname.get("S") if nickname else None,
        item["unsubscribe_secret"]["S"],
        unmailed.get("S") if unmailed else None,
    )
