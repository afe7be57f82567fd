"""What is known here about the people of some rows, read in batches."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from msgspec import Struct

from chalicelib.audience import model
from chalicelib.audience.model import Subscriber
from chalicelib.audience.stores import emails, imported, leavers, suppressions
from chalicelib.kernel import clock

_AT_ONCE = 100
_TOGETHER = 6


class Person(Struct, frozen=True):
    """`subscriber` has the address, active or pending; at the moment somebody signs up or leaves, it may be taken by
    nobody who is found. `leaver_of` names the import that remembered them, if any."""

    key: str
    pseudonym: str
    mark: str
    suppressed: bool = False
    leaver_of: str | None = None
    is_taken: bool = False
    subscriber: Subscriber | None = None


def look_up(address_keys: Iterable[str]) -> dict[str, Person]:
    keys = list(dict.fromkeys(address_keys))
    pseudonyms = {key: model.address_pseudonym(key) for key in keys}
    marks = {key: model.leaver_pseudonym(key) for key in keys}
    suppressed, remembered, rows = _together(
        [
            (suppressions.list_suppressed, list(pseudonyms.values())),
            (leavers.list_known, list(marks.values())),
            (emails.list_rows, keys),
        ]
    )
    leaver_of = {row.mark: row.import_id for row in remembered}
    now = clock.text(clock.now())
    holders = {row.address: row.subscriber_id for row in rows if not (row.free_from and row.free_from <= now)}
    (subscribers,) = _together([(imported.list_subscribers, list(holders.values()))])
    by_id = {subscriber.id: subscriber for subscriber in subscribers}
    gone = set(suppressed)
    return {
        key: Person(
            key,
            pseudonyms[key],
            marks[key],
            pseudonyms[key] in gone,
            leaver_of.get(marks[key]),
            key in holders,
            _holder(key, holders, by_id),
        )
        for key in keys
    }


def _holder(key: str, holders: Mapping[str, str], by_id: Mapping[str, Subscriber]) -> Subscriber | None:
    return by_id.get(holders.get(key, ""))


def _together(wanted: Sequence[tuple[Callable[[Sequence[str]], Iterable[Any]], Sequence[str]]]) -> list[list[Any]]:
    """Each list of keys, a hundred a request, several requests at once."""
    begun = [
        [_pool().submit(read, keys[start : start + _AT_ONCE]) for start in range(0, len(keys), _AT_ONCE)]
        for read, keys in wanted
    ]
    return [[found for part in parts for found in part.result()] for parts in begun]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_TOGETHER, thread_name_prefix="imports")
