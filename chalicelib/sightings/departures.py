"""What this room does when a member downloads their data or leaves (a `Keeper` of `members/member_data`)."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from chalicelib.inbox import offers
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.sightings import offering, photos, serializers, service, store
from chalicelib.sightings.model import Sighting

_READ_TOGETHER = 100
# Three writes each, of the hundred a transaction may have; more if the publication has something of it.
_DELETED_TOGETHER = 25
_SHARED_TOGETHER = 100 // (3 + offers.DELETE_WRITES)


def about(member_id: str) -> Iterator[Any]:
    """Every sighting, and what is left of deleted ones. No links to photos: they would be dead before they are
    read."""
    sightings = store.list_all(member_id)
    while together := list(islice(sightings, _READ_TOGETHER)):
        yield from map(serializers.kept_sighting, service.with_pictures(together))
    yield from map(serializers.deleted_sighting, store.list_deleted(member_id))


def forget(member_id: str, time_left: Callable[[], bool]) -> bool:
    """Delete every sighting as its owner would, photos and sharing too. The member has gone, so there are no new
    ones, and nobody to keep a count for."""
    while time_left():
        sightings, _ = store.list_page(member_id, _DELETED_TOGETHER, None, "")
        if not sightings:
            return True
        size = _SHARED_TOGETHER if any(sighting.shared for sighting in sightings) else _DELETED_TOGETHER
        for start in range(0, len(sightings), size):
            _delete_all(sightings[start : start + size])
    return False


def _delete_all(sightings: list[Sighting]) -> None:
    """What was changed at this moment by a request that is still under way is found again by the next look."""
    now = clock.now()
    writes = [
        write
        for sighting in sightings
        for write in (
            *store.delete_writes(sighting, now),
            *photos.delete_writes(sighting.picture_id),
            *offering.delete_writes(sighting),
        )
    ]
    offered = offering.item_ids(sightings)
    offers.recall_later(offered)
    try:
        tables.transact(*writes)
    except Stale:
        return
    for sighting in sightings:
        photos.erase_soon(sighting.picture_id)
    offers.recall_soon(offered)
