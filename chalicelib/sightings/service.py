"""What members do with their sightings, and what the publication sees of them.

Ownership is part of every key: somebody else's sighting is not found. Texts come checked by `model`.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from msgspec.structs import replace

from chalicelib.inbox import offers
from chalicelib.kernel import clock, ids, limits
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Conflict, Invalid, NotFound, Unauthenticated
from chalicelib.media import service as media
from chalicelib.media.model import USED, Picture
from chalicelib.members import service as members
from chalicelib.members.model import NOT_SIGNED_IN, Member
from chalicelib.sightings import form_store, model, offering, photos, store
from chalicelib.sightings.model import Changes, Page, Seen, Shared, SharedPage, Sighting

_HOUR = 3600
_NEW_PER_HOUR = 1_000

Result = TypeVar("Result")


def create(
    member_id: str, animal_name: str, location: str, upload_id: str | None = None, form: str | None = None
) -> Seen:
    """Seen here and now: the times are the server's. `form` is the id of the form it was written into: sent twice, it
    is written down once, with the photo that was sent last."""
    limits.spend("sightings", member_id, _NEW_PER_HOUR, _HOUR)
    now = clock.now()
    sighting = Sighting(ids.new(), member_id, animal_name, location, now, now, clock.epoch(now))
    if form is None:
        return _decide(member_id, lambda: _create(sighting, upload_id))
    return _decide(member_id, lambda: _create_once(sighting, upload_id, form))


def find(member_id: str, id: str) -> Seen:
    sighting = _require(member_id, id)
    return with_pictures([sighting])[0]


def check_exists(member_id: str, id: str) -> None:
    """Raises `NotFound`, also for somebody else's."""
    _require(member_id, id)


def list_page(member_id: str, limit: int, place: str | None = None, search: str = "") -> Page:
    """Newest first. With `search` a page may be short and yet not be the last: only so many are looked at."""
    found, next_place = store.list_page(member_id, limit, place, model.fold(search))
    return Page(tuple(with_pictures(found)), next_place)


def change(member_id: str, id: str, changes: Changes) -> Seen:
    """Raises `Conflict` if the sighting is no longer as it was when `changes.updated_at` was read."""
    return _decide(member_id, lambda: _change(member_id, id, changes))


def delete(member_id: str, id: str) -> None:
    _decide(member_id, lambda: _delete(member_id, id))


def share(member: Member, id: str, shown_location: str, credit: str) -> Seen:
    """Let the publication see it, with this place and name: it arrives in its inbox. Once more replaces what was
    chosen before."""
    return _decide(member.id, lambda: _share(member, id, shown_location, credit))


def withdraw(member_id: str, id: str) -> None:
    """It leaves the publication's inbox, and drafts that are not sent. Nothing happens if it is not shared."""
    _decide(member_id, lambda: _withdraw(member_id, id))


def list_shared(limit: int, place: str | None = None) -> SharedPage:
    """What members share with the publication, last shared first."""
    found, next_place = store.list_shared(limit, place)
    pictures = media.find_many([entry.picture_id for entry in found if entry.picture_id])
    items = (replace(entry, picture=pictures.get(entry.picture_id or "")) for entry in found)
    return SharedPage(tuple(items), next_place)


def with_pictures(sightings: Iterable[Sighting]) -> list[Seen]:
    """One request for all photos, none if there are none."""
    found = list(sightings)
    pictures = media.find_many([sighting.picture_id for sighting in found if sighting.picture_id])
    return [Seen(sighting, pictures.get(sighting.picture_id or "")) for sighting in found]


def sign_photo(picture: Picture | None, small: bool = False) -> str | None:
    """A link that works for ten minutes, made at each read. None unless the photo is ready."""
    return media.sign(picture, small) if picture else None


def _create(sighting: Sighting, upload_id: str | None, *also: Write) -> Seen:
    picture = photos.check(sighting.owner, upload_id)
    created = replace(sighting, picture_id=picture.id if picture else None)
    counted = members.count_write(created.owner, sightings=1)
    tables.transact(store.create_write(created), counted, *photos.attach_writes(picture), *also)
    photos.prepare_soon(picture)
    return Seen(created, photos.attached(picture))


def _create_once(sighting: Sighting, upload_id: str | None, form: str) -> Seen:
    """Whoever goes back to the form and writes something else into it means another sighting."""
    earlier = form_store.find_sighting(sighting.owner, form)
    same = _find_same(sighting, earlier) if earlier else None
    if same:
        return _add_photo(same, upload_id)
    remembered = form_store.remember_write(sighting.owner, form, sighting.id, sighting.created_at, earlier)
    try:
        return _create(sighting, upload_id, remembered)
    except Invalid:
        # Its twin may have attached the upload after we looked for one.
        if form_store.find_sighting(sighting.owner, form) == earlier:
            raise
        raise Stale from None


def _find_same(sighting: Sighting, id: str) -> Sighting | None:
    there = store.find(sighting.owner, id)
    is_same = there and (there.animal_name, there.location) == (sighting.animal_name, sighting.location)
    return there if is_same else None


def _add_photo(there: Sighting, upload_id: str | None) -> Seen:
    """To what the form wrote down before. The photo that was chosen last stays."""
    if upload_id is None or upload_id == there.picture_id:
        return with_pictures([there])[0]
    try:
        return _edit(there, Changes(there.updated_at, upload_id=upload_id))
    except Invalid as refusal:
        if refusal.reason != USED:
            raise
        # A twin has attached it just now, or it was attached before and another was chosen since.
        return find(there.owner, there.id)


def _change(member_id: str, id: str, changes: Changes) -> Seen:
    before = _require(member_id, id)
    if before.updated_at != changes.updated_at:
        raise Conflict(model.CHANGED_MEANWHILE)
    return _edit(before, changes)


def _edit(before: Sighting, changes: Changes) -> Seen:
    picture = photos.check(before.owner, changes.upload_id)
    kept = None if changes.drops_photo else before.picture_id
    after = replace(
        before,
        animal_name=before.animal_name if changes.animal_name is None else changes.animal_name,
        location=before.location if changes.location is None else changes.location,
        updated_at=model.next_version(before.updated_at, clock.epoch(clock.now())),
        picture_id=picture.id if picture else kept,
    )
    dropped = before.picture_id if before.picture_id != after.picture_id else None
    offered = offering.find_for_change(before, after)
    tables.transact(
        store.change_write(before, after),
        *photos.attach_writes(picture),
        *photos.delete_writes(dropped),
        *offering.offer_writes(after, offered),
    )
    photos.prepare_soon(picture)
    photos.erase_soon(dropped)
    return Seen(after, photos.attached(picture)) if picture else with_pictures([after])[0]


def _delete(member_id: str, id: str) -> None:
    before = _require(member_id, id)
    counted = members.count_write(member_id, sightings=-1, shared=-1 if before.shared else 0)
    offered = offering.item_ids([before])
    offers.recall_later(offered)
    tables.transact(
        *store.delete_writes(before, clock.now()),
        *photos.delete_writes(before.picture_id),
        *offering.delete_writes(before),
        counted,
    )
    photos.erase_soon(before.picture_id)
    offers.recall(offered)


def _share(member: Member, id: str, shown_location: str, credit: str) -> Seen:
    before = _require(member.id, id)
    member.require_verified()
    shared = Shared(shown_location, credit, clock.now())
    counted = [] if before.shared else [members.count_write(member.id, shared=1)]
    after = replace(before, shared=shared)
    tables.transact(store.share_write(before, shared), *counted, *offering.offer_writes(after, offering.find(after)))
    offers.announce_soon(*offering.item_ids([after]))
    return with_pictures([after])[0]


def _withdraw(member_id: str, id: str) -> None:
    before = _require(member_id, id)
    if not before.shared:
        return
    offered, counted = offering.item_ids([before]), members.count_write(member_id, shared=-1)
    offers.recall_later(offered)
    tables.transact(store.withdraw_write(before), counted, *offering.withdraw_writes(before, offering.find(before)))
    offers.recall(offered)


def _decide(member_id: str, decide: Callable[[], Result]) -> Result:
    """Decided again when something moved in between. A member who has gone meanwhile can do nothing any more."""

    def attempt() -> Result:
        try:
            return decide()
        except Stale:
            if not members.find(member_id):
                raise Unauthenticated(NOT_SIGNED_IN) from None
            raise

    return retry_stale(attempt)


def _require(member_id: str, id: str) -> Sighting:
    sighting = store.find(member_id, id)
    if not sighting:
        raise NotFound(model.NOT_FOUND)
    return sighting
