"""What members do with their sightings, and what the publication sees of them.

Ownership is part of every key: somebody else's sighting is not found. Texts come checked by `model`.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from chalicelib.kernel import clock, ids, limits
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.errors import Conflict, NotFound, Refused, Unauthenticated
from chalicelib.media import service as media
from chalicelib.media.model import Picture
from chalicelib.members import service as members
from chalicelib.members.model import Member
from chalicelib.sightings import model, store
from chalicelib.sightings.model import Changes, Page, Seen, Shared, SharedPage, SharedSighting, Sighting

_HOUR = 3600
_NEW_PER_HOUR = 1_000

Result = TypeVar("Result")


def create(member_id: str, animal_name: str, location: str, upload_id: str | None = None) -> Seen:
    """Seen here and now: the times are the server's."""
    limits.spend("sightings", member_id, _NEW_PER_HOUR, _HOUR)
    now = clock.now()
    sighting = Sighting(ids.new(), member_id, animal_name, location, now, now, clock.epoch(now))
    return _decide(member_id, lambda: _create(sighting, upload_id))


def find(member_id: str, id: str) -> Seen:
    sighting = _require(member_id, id)
    return _with_pictures([sighting])[0]


def check_exists(member_id: str, id: str) -> None:
    """Raises `NotFound`, also for somebody else's."""
    _require(member_id, id)


def list_page(member_id: str, limit: int, place: str | None = None, search: str = "") -> Page:
    """Newest first. With `search` a page may be short and yet not be the last: only so many are looked at."""
    found, next_place = store.list_page(member_id, limit, place, model.fold(search))
    return Page(tuple(_with_pictures(found)), next_place)


def change(member_id: str, id: str, changes: Changes) -> Seen:
    """Raises `Conflict` if the sighting is no longer as it was when `changes.updated_at` was read."""
    return _decide(member_id, lambda: _change(member_id, id, changes))


def delete(member_id: str, id: str) -> None:
    _decide(member_id, lambda: _delete(member_id, id))


def share(member: Member, id: str, shown_location: str, credit: str) -> Seen:
    """Let the publication see it, with this place and name. Once more replaces what was chosen before."""
    return _decide(member.id, lambda: _share(member, id, shown_location, credit))


def withdraw(member_id: str, id: str) -> None:
    """Nothing happens if it is not shared."""
    _decide(member_id, lambda: _withdraw(member_id, id))


def list_shared(limit: int, place: str | None = None) -> SharedPage:
    """What members share with the publication, last shared first."""
    found, next_place = store.list_shared(limit, place)
    pictures = media.find_many([picture_id for _, _, _, picture_id in found if picture_id])
    items = (
        SharedSighting(id, animal_name, shared, pictures.get(picture_id or ""))
        for id, animal_name, shared, picture_id in found
    )
    return SharedPage(tuple(items), next_place)


def sign_photo(picture: Picture | None) -> str | None:
    """A link that works for ten minutes, made at each read. None unless the photo is ready."""
    return media.sign(picture) if picture else None


def _create(sighting: Sighting, upload_id: str | None) -> Seen:
    raise NotImplementedError


def _change(member_id: str, id: str, changes: Changes) -> Seen:
    raise NotImplementedError


def _delete(member_id: str, id: str) -> None:
    raise NotImplementedError


def _share(member: Member, id: str, shown_location: str, credit: str) -> Seen:
    raise NotImplementedError


def _withdraw(member_id: str, id: str) -> None:
    raise NotImplementedError


def _decide(member_id: str, decide: Callable[[], Result]) -> Result:
    """Decided again when something moved in between. A member who has gone meanwhile can do nothing any more."""

    def attempt() -> Result:
        try:
            return decide()
        except Stale:
            if not members.find(member_id):
                raise Unauthenticated("Authentication required") from None
            raise

    return retry_stale(attempt)


def _require(member_id: str, id: str) -> Sighting:
    sighting = store.find(member_id, id)
    if not sighting:
        raise NotFound(model.NOT_FOUND)
    return sighting


def _with_pictures(sightings: Iterable[Sighting]) -> list[Seen]:
    """One request for all photos, none if there are none."""
    found = list(sightings)
    pictures = media.find_many([sighting.picture_id for sighting in found if sighting.picture_id])
    return [Seen(sighting, pictures.get(sighting.picture_id or "")) for sighting in found]
