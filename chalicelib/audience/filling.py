"""Rows of an earlier version get what searches and deep pages need, a group at a time. Until everybody has it, a
search reads the list as earlier versions did."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from chalicelib.audience import places
from chalicelib.audience.model import Subscriber
from chalicelib.audience.stores import filling as store
from chalicelib.audience.stores import imported
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.recent import Recent

_ONE_BY_ONE = 45  # with a count for each, in a transaction of at most a hundred writes

_FINISHED = "finished"
_finished: Recent[bool] = Recent(timedelta(minutes=1), 1)


def is_finished() -> bool:
    """Once it is, this is not asked again every time."""
    if _finished.get(_FINISHED):
        return True
    return store.is_finished() and _finished.put(_FINISHED, True)


def forget() -> None:
    """Ask anew, as after the tables were replaced."""
    _finished.forget(_FINISHED)


def fill(time_left: Callable[[], bool]) -> int:
    """By the clean-up, from where the last one stopped, as far as there is time; how many rows it filled in. Two at
    the same time do no harm, and one that is killed has done its groups whole or not at all."""
    if store.is_finished():
        return 0
    filled = 0
    for group in store.groups():
        if not time_left():
            return filled
        filled += _fill(group.ids)
        store.keep(group)
    store.finish()
    return filled


def _fill(ids: Sequence[str]) -> int:
    """Together, or, if one of them has moved at this moment, one by one."""
    people = sorted(imported.list_subscribers(ids), key=lambda person: person.created_at)
    lacking = [person for person in people if not person.shard]
    # Some were filled in before: where they are counted is not known, so each of the others is counted apart.
    apart = len(lacking) < len(people)
    size = _ONE_BY_ONE if apart else max(1, len(lacking))
    return sum(_fill_some(lacking[first : first + size], apart) for first in range(0, len(lacking), size))


def _fill_some(people: Sequence[Subscriber], apart: bool) -> int:
    active = [person for person in people if person.activated]
    counted = places.move_writes(active, ()) if apart else places.group_writes(active)
    try:
        tables.transact(*map(store.fill_write, people), *counted)
    except Stale:
        return sum(retry_stale(lambda id=person.id: _fill_one(id)) for person in people)  # type: ignore[misc]
    return len(people)


def _fill_one(id: str) -> bool:
    for person in imported.list_subscribers([id]):
        if not person.shard:
            counted = places.move_writes([person] if person.activated else [], ())
            tables.transact(store.fill_write(person), *counted)
            return True
    return False
