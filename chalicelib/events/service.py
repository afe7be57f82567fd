"""What other modules may ask about events: whether any are pending, and which were relayed."""

from datetime import date

from chalicelib.events import relay, store
from chalicelib.events.model import KEPT, Event
from chalicelib.kernel import clock, ids

SHARDS = store.SHARDS


def has_pending(aggregate_id: str) -> bool:
    return bool(store.list_pending(aggregate_id, after="0", most=1))


def ensure_relayed(aggregate_id: str) -> bool:
    """Before something is removed: True once nothing about it is pending; False means try again later."""
    if not has_pending(aggregate_id):
        return True
    relay.relay_and_wake([aggregate_id])
    return not has_pending(aggregate_id)


def find_relayed(event_id: str) -> Event | None:
    """An event by its id, if it was relayed and is still kept."""
    if not ids.is_id(event_id):
        return None
    today, oldest = clock.now().date(), (clock.now() - KEPT).date()
    return store.find(event_id, max(ids.moment(event_id).date(), oldest), today)


def list_relayed(day: date, shard: int, after: str, until: str, most: int) -> list[Event]:
    """Events relayed on that day whose ids are between the two, oldest first; a day is in `SHARDS` parts."""
    return store.list_done(day, shard, after, until, most)
