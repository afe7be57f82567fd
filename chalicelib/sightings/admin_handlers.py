"""What members share with the publication, for editors."""

from chalicelib.sightings import bodies, model, serializers, service
from chalicelib.web import cursors, responses
from chalicelib.web.cursors import CursorQuery
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


@operation(
    "List the sightings members share, last shared first, with what they chose to show",
    tag="sightings",
    query=CursorQuery,
    answers={200: Answer("A page", bodies.SharedSightingPage)},
    refuses=(400,),
)
def list_shared(request: Request) -> Response:
    limit, place = cursors.requested_limit(request), cursors.read(request, model.SHARED_SCOPE)
    page = service.list_shared(limit, place)
    items = [serializers.shared_sighting(shared) for shared in page.items]
    cursor = cursors.sign(page.next_place, model.SHARED_SCOPE)
    return responses.json(bodies.SharedSightingPage(cursor, cursor is not None, items))
