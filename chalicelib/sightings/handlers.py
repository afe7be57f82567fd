"""A member's sightings: list, write down, read, change, delete, share."""

from msgspec import UNSET

from chalicelib.kernel.errors import Invalid
from chalicelib.sightings import bodies, model, serializers, service
from chalicelib.sightings.model import Changes
from chalicelib.web import cursors, responses, schemas
from chalicelib.web.cursors import CursorQuery
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.schemas import Body

_NOT_FOUND = {404: "No such sighting, or somebody else's"}
_SIGHTING = Answer("The sighting", bodies.Sighting)


@operation(
    "List your sightings, newest first",
    tag="sightings",
    query=(CursorQuery, bodies.SearchQuery),
    answers={200: Answer("A page", bodies.SightingPage)},
    refuses=(400,),
)
def list_sightings(request: Request) -> Response:
    member_id, search = request.member.id, model.check_search(request.query.get("q"))
    scope = model.list_scope(member_id, search)
    limit, place = cursors.requested_limit(request), cursors.read(request, scope)
    page = service.list_page(member_id, limit, place, search)
    items = [serializers.sighting_body(seen) for seen in page.items]
    return responses.json(
        bodies.SightingPage(cursors.sign(page.next_place, scope), page.next_place is not None, items)
    )


@operation(
    "Write down a sighting; its times are the server's",
    tag="sightings",
    body=bodies.NewSighting,
    answers={201: _SIGHTING},
    refuses=(400, 429),
)
def create_sighting(request: Request) -> Response:
    body = schemas.read(bodies.NewSighting, request.fields)
    seen = service.create(request.member.id, body.animal_name, body.location, body.upload_id)
    return responses.json(serializers.sighting_body(seen), 201)


@operation("Read a sighting", tag="sightings", answers={200: _SIGHTING}, because=_NOT_FOUND)
def get_sighting(request: Request) -> Response:
    return responses.json(serializers.sighting_body(service.find(request.member.id, _id(request))))


@operation(
    "Change a sighting as it was read",
    tag="sightings",
    body=bodies.SightingChanges,
    answers={200: _SIGHTING},
    refuses=(400,),
    because=_NOT_FOUND | {409: "Sighting was changed meanwhile"},
)
def change_sighting(request: Request) -> Response:
    body = _read(bodies.SightingChanges, request)
    if body.upload_id is not None and body.photo is not UNSET:
        raise Invalid("Send upload_id or photo, not both")
    changes = Changes(
        updated_at=body.updated_at,
        animal_name=None if body.animal_name is UNSET else body.animal_name,
        location=None if body.location is UNSET else body.location,
        upload_id=body.upload_id,
        drops_photo=body.photo is not UNSET,
    )
    return responses.json(serializers.sighting_body(service.change(request.member.id, _id(request), changes)))


@operation("Delete a sighting", tag="sightings", answers={204: Answer("Deleted")}, because=_NOT_FOUND)
def delete_sighting(request: Request) -> Response:
    service.delete(request.member.id, _id(request))
    return responses.no_content()


@operation(
    "Share a sighting with the publication; again replaces what was chosen",
    tag="sightings",
    body=bodies.ShareChoice,
    answers={200: _SIGHTING},
    refuses=(400,),
    because=_NOT_FOUND | {403: "Your email address is not verified, or cross-site request"},
)
def share_sighting(request: Request) -> Response:
    body = _read(bodies.ShareChoice, request)
    seen = service.share(request.member.member, _id(request), body.shown_location, body.credit)
    return responses.json(serializers.sighting_body(seen))


@operation("Share it no longer", tag="sightings", answers={204: Answer("Not shared")}, because=_NOT_FOUND)
def withdraw_sighting(request: Request) -> Response:
    service.withdraw(request.member.id, _id(request))
    return responses.no_content()


def _id(request: Request) -> str:
    return model.parse_id(request.path["sighting_id"])


def _read(body: type[Body], request: Request) -> Body:
    """Not yours is not found, whatever was sent."""
    try:
        return schemas.read(body, request.fields)
    except Invalid:
        service.check_exists(request.member.id, _id(request))
        raise
