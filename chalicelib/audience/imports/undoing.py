"""Taking an import back: those it added who have done nothing since are removed, and whoever it remembered as having
left is forgotten. Complaints stay on the do-not-contact list.

Whoever is gone already is not counted again, so this can be repeated from anywhere.
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from chalicelib.audience import counts
from chalicelib.audience.imports import adding, store
from chalicelib.audience.imports.model import Import, State
from chalicelib.audience.imports.store import Added
from chalicelib.audience.model import Subscriber
from chalicelib.audience.stores import imported, leavers
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Write

# All that is deleted of one person is a dozen writes; a transaction takes a hundred.
_TOGETHER = 5


def go_on(found: Import, time_left: Callable[[], bool]) -> bool:
    """False if there is more to do than time. Raises `Stale` if somebody else is at it."""
    for added in store.list_added(found.id):
        if not time_left():
            return False
        found = _take_back(found, added)
    ended = replace(found, state=State.UNDONE, task=None)
    write, _ = store.change_write(ended)
    payload: dict[str, str | int | None] = {"import_id": found.id, "removed": found.removed}
    tables.transact(write, outbox.event_write(EventType.IMPORT_UNDONE, found.id, payload))
    outbox.relay_soon(found.id)
    return True


def _take_back(found: Import, added: Added) -> Import:
    for mark in added.marks:
        leavers.forget(mark, found.id)
    people = imported.list_subscribers(added.subscribers)
    removable = [person for person in people if _is_untouched(person, found)]
    for start in range(0, len(removable), _TOGETHER):
        found = _remove(found, removable[start : start + _TOGETHER])
    tables.transact(store.forget_added_write(found.id, added))
    return found


def _is_untouched(person: Subscriber, found: Import) -> bool:
    return person.import_id == found.id and person.is_as_imported


def _remove(found: Import, people: Sequence[Subscriber]) -> Import:
    """Together, or, if one of them has moved at this moment, one by one and without that one."""
    try:
        return _remove_together(found, people)
    except Stale:
        now = store.find(found.id)
        if not now or now.version != found.version:
            raise
    if len(people) > 1:
        for person in people:
            found = _remove(found, [person])
        return found
    again = [person for person in imported.list_subscribers([people[0].id]) if _is_untouched(person, found)]
    return _remove_together(found, again) if again else found


def _remove_together(found: Import, people: Sequence[Subscriber]) -> Import:
    """No event for each: none said that they came."""
    write, changed = store.change_write(replace(found, removed=found.removed + len(people), tries=0))
    gone: list[Write] = [one for person in people for one in adding.removal_writes(person)]
    census = counts.move_writes(clock.now(), left=[person for person in people if person.activated])
    tables.transact(write, *gone, *census)
    return changed
