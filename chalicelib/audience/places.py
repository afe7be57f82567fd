"""Where in the list of activated subscribers a position is, without counting all who come before it.

The sum over all rows is the number of people who are counted, and that is everybody once rows of an earlier version
have been filled in. It is compared with the number of subscribers: if they differ, these rows are of no use now, and
the list is counted instead, which is right and slow."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from chalicelib.audience.model import Subscriber
from chalicelib.audience.stores import places as store
from chalicelib.audience.stores.places import Place
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Write

_SECOND = len("2026-11-18T10:20:30")
# People to an anchor: no more than are counted past in one request.
_TOGETHER = 1_000
# Fewer rows than this are read in one request, and merging them would cost more than it saves.
_WORTH_MERGING = 2_000
_MOST_MERGED = 90  # a transaction takes a hundred writes


class Start(Struct, frozen=True):
    """So many have signed up at or after `moment`; everybody else before it. None: the list begins here."""

    moment: str | None = None
    people: int = 0


def move_writes(joined: Sequence[Subscriber], left: Sequence[Subscriber]) -> list[Write]:
    """For people who become activated subscribers, and for activated ones who go. A row that has yet to be filled in
    is not counted yet."""
    changes: Counter[str] = Counter(slot_of(person) for person in joined)
    changes.subtract(slot_of(person) for person in left if person.shard)
    return [store.move_write(slot, people) for slot, people in changes.items() if people]


def group_writes(oldest_first: Sequence[Subscriber]) -> list[Write]:
    """For people who follow one another in the list and were not counted so far: two rows, as if merged already.
    Those of the last second are counted there, because the next group may begin with others of it."""
    slots = [slot_of(person) for person in oldest_first]
    last = slots[-1:]
    counted = Counter(slot if [slot] == last else slots[0] for slot in slots)
    return [store.anchored_write(slot, people) for slot, people in counted.items()]


def slot_of(person: Subscriber) -> str:
    return clock.text(person.created_at)[:_SECOND]


def find_start(count: int, total: int) -> Start | None:
    """From where to count on to pass `count` people, newest first; None if this is not known."""
    found = store.newest_first()
    if store.sum_of(found) != total:
        return None
    start = Start()
    for boundary in _boundaries(found):
        if boundary.people > count:
            break
        start = boundary
    return start


def merge(time_left: Callable[[], bool]) -> int:
    """Merge rows that have become many, by the clean-up; how many are gone. Two runs at the same time do no harm, and
    a run that is cut short leaves every sum as it was. A second in which nobody signed up who is still here is
    forgotten first."""
    found = store.newest_first()[::-1]
    empty = [place for place in found if not place.people and not place.anchor]
    merged = sum(store.forget(place) for place in empty if time_left())
    found = [place for place in found if place.people or place.anchor]
    if len(found) < _WORTH_MERGING:
        return merged
    for anchor, others in _groups(found):
        rest = iter(others)
        while some := list(islice(rest, _MOST_MERGED)):
            if not time_left():
                return merged
            try:
                tables.transact(*store.merge_writes(anchor, some))
            except Stale:
                break  # somebody has joined or left here at this moment: the next run merges the rest
            merged += len(some)
    return merged


def _boundaries(newest_first: Sequence[Place]) -> Iterator[Start]:
    """Above the newest anchor nothing has been merged, so every row is a boundary."""
    people, is_open = 0, True
    for place in newest_first:
        people += place.people
        if is_open or place.anchor:
            yield Start(place.slot, people)
        is_open = is_open and not place.anchor


def _groups(oldest_first: Sequence[Place]) -> Iterator[tuple[Place, list[Place]]]:
    """An anchor and the rows to merge into it. Anchors are set on the way: the first row of a group and the first one
    after it, before anything of the group is merged. The newest rows, too few for a group, stay as they are."""
    anchors = [number for number, place in enumerate(oldest_first) if place.anchor] or [len(oldest_first)]
    group: list[Place] = []
    people = 0
    for number, place in enumerate(oldest_first):
        # Between two anchors something may have been merged; before the first and after the last nothing has.
        is_free = not anchors[0] <= number <= anchors[-1]
        if group and (place.anchor or (is_free and people >= _TOGETHER)):
            if all(map(_anchor, (group[0], place))):
                yield group[0], group[1:]
            group, people = [], 0
        group.append(place)
        people += place.people


def _anchor(place: Place) -> bool:
    """False if the row is gone: another run has merged it."""
    if not place.anchor:
        try:
            tables.transact(store.anchor_write(place))
        except Stale:
            return False
    return True
