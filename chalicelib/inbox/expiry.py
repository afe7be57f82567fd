"""What time takes: entries that were in an inbox for long and that nobody has kept, and items that nobody has.

Entries leave quietly. Their rows stay, and say that they were seen: they can be searched, and do not arrive again.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from chalicelib.inbox import expiry_store, item_store, listing_store, uses
from chalicelib.inbox.entry_store import Key
from chalicelib.inbox.item_store import Version
from chalicelib.inbox.model import DESK
from chalicelib.kernel import log, settings, sweeping

# The table is read in so many parts, and begun with another one every day: where there is no time for all of them,
# each has its turn within a week.
_PARTS = 7
_WORDS_AT_ONCE = 500


def expire(now: datetime, time_left: Callable[[], bool]) -> int:
    """How many have left. One that fails does not keep the others from leaving; the run fails at its end."""
    before = now - timedelta(days=settings.current().inbox_days)
    sweep = sweeping.Sweep("inbox.not_expired", time_left)
    parts = [(now.weekday() + number) % _PARTS for number in range(_PARTS)]
    left = sum(
        sweep.each(expiry_store.list_expired(before, part, _PARTS), lambda key: _expire(key, before))
        for part in parts
        if time_left()
    )
    log.info("inbox.expired", left=left)
    sweep.finish()
    return left


def _expire(key: Key, before: datetime) -> bool:
    """What a campaign is made of that is not sent yet is still worked with. One request more for each of the desk's,
    once: the transaction that saves a campaign has no room for a write to each entry."""
    if key.owner == DESK and any(not use.sent_at for use in uses.find_uses([key.id]).get(key.id, ())):
        return False
    return expiry_store.expire(key, before)


def delete_item(version: Version) -> bool:
    """Delete an item that nobody has, and before it what those who have dismissed it find it by. Says whether it was
    deleted: not if it was delivered at this moment, or if there are too many of them for once."""
    keys = listing_store.list_seen(version.id, _WORDS_AT_ONCE)
    for key in keys:
        expiry_store.forget_words(key)
    return len(keys) < _WORDS_AT_ONCE and item_store.delete(version)
