"""Shared sightings as the publication's inbox has them: what their members chose to show, under an id that leads
neither to them nor to a moment."""

from collections.abc import Iterator, Sequence
from itertools import islice

from chalicelib.inbox import offers
from chalicelib.inbox.offers import Offer, Standing
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.aws.tables import Write
from chalicelib.sightings import model, offering_store, store
from chalicelib.sightings.model import Shared, Sighting
from chalicelib.sightings.offering_store import Key

_TOGETHER = 100


def item_ids(sightings: Sequence[Sighting]) -> list[str]:
    """Of those that are shared."""
    return [_item_id(sighting.id) for sighting in sightings if sighting.shared]


def find(sighting: Sighting) -> Standing:
    """What the publication has of it."""
    return offers.find(_item_id(sighting.id))


def find_for_change(before: Sighting, after: Sighting) -> Standing | None:
    """The same, if an edit changes what the publication sees."""
    is_seen = (before.animal_name, before.picture_id) != (after.animal_name, after.picture_id)
    return find(after) if after.shared and is_seen else None


def offer_writes(after: Sighting, standing: Standing | None) -> list[Write]:
    """For the transaction that shares it, or edits it while it is shared."""
    return offers.offer_writes(_offer(after, after.shared), standing) if after.shared and standing else []


def withdraw_writes(before: Sighting, standing: Standing) -> list[Write]:
    """For the transaction that withdraws it."""
    return offers.withdraw_writes(_item_id(before.id), standing)


def delete_writes(before: Sighting) -> list[Write]:
    """For the transaction that deletes it: none if it is not shared."""
    return offers.delete_writes(_item_id(before.id)) if before.shared else []


def list_missing() -> Iterator[Key]:
    """What was shared before it was offered to the inbox. When all of it is offered, nobody looks again."""
    if offers.are_complete():
        return
    shared, is_complete = offering_store.list_shared(), True
    while together := list(islice(shared, _TOGETHER)):
        missing = offers.find_missing([_item_id(key.id) for key in together])
        for key in together:
            if _item_id(key.id) in missing:
                is_complete = False
                yield key
    if is_complete:
        offers.mark_complete()


def make_up(key: Key) -> bool:
    """Says whether it was offered: not if it is shared no longer, and the index was late."""
    return retry_stale(lambda: _make_up(key))


def _make_up(key: Key) -> bool:
    sighting = store.find(key.owner, key.id)
    if not sighting or not sighting.shared:
        return False
    tables.transact(store.same_write(sighting), *offer_writes(sighting, find(sighting)))
    return True


def _offer(sighting: Sighting, shared: Shared) -> Offer:
    return Offer(
        id=model.shown_id(sighting.id),
        title=sighting.animal_name,
        place=shared.shown_location,
        credit=shared.credit,
        shared_at=shared.shared_at,
        picture_id=sighting.picture_id,
    )


def _item_id(id: str) -> str:
    return offers.item_id(model.shown_id(id))
