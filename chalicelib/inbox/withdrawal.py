"""Taking entries out of inboxes that their owners did not dismiss themselves: the item is gone, a newer one has taken
its place, or the follow has ended. What an owner has kept stays; what was received stays seen.

Every step is complete in itself and may be repeated. Functions with `time_left` say whether nothing is left to do.
"""

from collections.abc import Callable, Iterator
from itertools import islice

from chalicelib.inbox import entry_store, expiry, item_store, listing_store, use_store
from chalicelib.inbox.entry_store import Key
from chalicelib.inbox.item_store import Version
from chalicelib.inbox.model import DESK, State
from chalicelib.kernel import clock

_TOGETHER = 100


def keep_newest(owner: str, follow_id: str, item_id: str) -> None:
    """Only what was received before leaves: whoever brought something newer at this moment does the same."""
    place = entry_store.find_place(owner, item_id)
    if place is None:
        return
    for key in _list_own(owner, follow_id, State.INBOX):
        if key.id != item_id:
            entry_store.leave_inbox(key, follow_id, place)


def mark_unavailable(item_id: str, time_left: Callable[[], bool]) -> bool:
    if not item_store.mark_unavailable(item_id, clock.now()):
        return True
    for key in listing_store.list_holders(item_id):
        if not time_left():
            return False
        entry_store.leave_inbox(key)
    return True


def forget_follow(owner: str, follow_id: str, time_left: Callable[[], bool]) -> bool:
    is_done = True
    for key in _list_own(owner, follow_id):
        if not time_left():
            return False
        # Neither, if the index was late or the entry moved at this moment: then another look decides.
        is_done &= entry_store.leave_inbox(key, follow_id) or entry_store.detach(key, follow_id)
    return is_done


def strip_follow(owner: str, follow_id: str, time_left: Callable[[], bool]) -> bool:
    """An item before its entry, so that after a crash no details are left that nobody looks for again. What is used
    in a campaign is kept, like what was bookmarked."""
    is_done = True
    keys = _list_own(owner, follow_id)
    while together := list(islice(keys, _TOGETHER)):
        versions = item_store.find_versions(key.id for key in together)
        used = use_store.find_many(key.id for key in together) if owner == DESK else {}
        for key in together:
            if not time_left():
                return False
            if key.id in versions:
                is_done &= _strip_item(versions[key.id], owner)
            if key.state is State.INBOX and key.id not in used:
                is_done &= _leave_for_good(key, follow_id)
    return is_done


def _leave_for_good(key: Key, follow_id: str) -> bool:
    """And with the entry, the item that nobody else has. Says whether the entry has left."""
    if not entry_store.leave_inbox(key, follow_id, forget_words=True):
        return False
    version = item_store.find_versions([key.id]).get(key.id)
    if version and not listing_store.is_held(key.id, apart_from=key.owner):
        expiry.delete_item(version)
    return True


def _strip_item(version: Version, owner: str) -> bool:
    """Leave title and link, unless somebody else has it."""
    if not version.has_details or listing_store.is_held(version.id, apart_from=owner):
        return True
    return item_store.strip(version)


def _list_own(owner: str, follow_id: str, state: State | None = None) -> Iterator[Key]:
    return (key for key in listing_store.list_follow(follow_id, state) if key.owner == owner)
