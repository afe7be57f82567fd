"""Sightings as JSON shows them: ids as 32 hex digits, times in Unix seconds, links to photos made at each read."""

from typing import Any

from msgspec import to_builtins

from chalicelib.kernel import clock
from chalicelib.sightings import bodies, model, service
from chalicelib.sightings.model import PastSighting, PhotoState, Seen, Shared, SharedSighting


def sighting_body(seen: Seen) -> bodies.Sighting:
    return _body(seen, service.sign_photo(seen.picture))


def shared_sighting(shared: SharedSighting) -> bodies.SharedSighting:
    return bodies.SharedSighting(
        id=shared.shown_id,
        animal_name=shared.animal_name,
        shown_location=shared.shown_location,
        credit=shared.credit,
        photo_url=service.sign_photo(shared.picture),
        photo_state=shared.photo_state.value,
        shared_at=clock.epoch(shared.shared_at),
    )


def kept_sighting(seen: Seen) -> dict[str, Any]:
    """For the member's download, without a link to the photo: it would be dead before it is read."""
    fields: dict[str, Any] = to_builtins(_body(seen, None))
    del fields["photo_url"]
    return fields | {"deleted_at": None}


def deleted_sighting(deleted: PastSighting) -> dict[str, Any]:
    """Name and place are null once the clean-up has taken them out."""
    return {
        "id": model.wire_id(deleted.id),
        "animal_name": deleted.animal_name,
        "location": deleted.location,
        "timestamp_sighted": clock.epoch(deleted.sighted_at),
        "created_at": clock.epoch(deleted.created_at),
        "updated_at": deleted.updated_at,
        "deleted_at": clock.epoch(deleted.deleted_at),
    }


def _body(seen: Seen, photo_url: str | None) -> bodies.Sighting:
    sighting, picture = seen.sighting, seen.picture
    ready = picture if seen.photo_state is PhotoState.READY else None
    return bodies.Sighting(
        id=model.wire_id(sighting.id),
        animal_name=sighting.animal_name,
        location=sighting.location,
        timestamp_sighted=clock.epoch(sighting.sighted_at),
        photo_url=photo_url,
        photo_format=ready.format if ready else None,
        photo_size_bytes=ready.size if ready else None,
        photo_uploaded_at=clock.epoch(ready.uploaded_at) if ready and ready.uploaded_at else None,
        photo_state=seen.photo_state.value,
        photo_error=picture.error if picture and seen.photo_state is PhotoState.REFUSED else None,
        created_at=clock.epoch(sighting.created_at),
        updated_at=sighting.updated_at,
        shared=_shared_body(sighting.shared) if sighting.shared else None,
    )


def _shared_body(shared: Shared) -> bodies.Shared:
    return bodies.Shared(shared.shown_location, shared.credit, clock.epoch(shared.shared_at))
