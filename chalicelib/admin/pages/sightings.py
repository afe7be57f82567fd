"""The page of sightings that members share: what they chose to show, and nothing else."""

from urllib.parse import urlencode

from chalicelib.admin import shell
from chalicelib.kernel import settings
from chalicelib.media import service as media
from chalicelib.sightings import model, service
from chalicelib.web import cursors, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/sightings"


def list_sightings(request: Request) -> Response:
    found = service.list_shared(cursors.requested_limit(request), cursors.read(request, model.SHARED_SCOPE))
    cursor = cursors.sign(found.next_place, model.SHARED_SCOPE)
    page = shell.page(
        request,
        "admin/sightings.html",
        here=_HERE,
        sightings=found.items,
        photo_url=lambda picture: media.sign(picture, small=True),
        is_first=not request.query.get("cursor"),
        next_url=f"{_HERE}?{urlencode({'cursor': cursor})}" if cursor else None,
        mode=settings.current().members,
    )
    return responses.with_photos(page, media.origin()) if found.items else page
