"""Uploading a photo: announced and then sent directly to the bucket or, without scripts, sent as a form."""

from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid
from chalicelib.media import service as media
from chalicelib.sightings import bodies
from chalicelib.web import responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import MULTIPART, Request
from chalicelib.web.responses import Response


@operation(
    "Announce a photo, or send one of up to 4 MB as `multipart/form-data` in the field `photo`",
    tag="sightings",
    body=bodies.NewUpload,
    answers={
        201: Answer(
            "Where to post the announced photo to; of one that was sent, its id alone",
            bodies.AnnouncedUpload | bodies.ReceivedUpload,
        )
    },
    refuses=(400, 429),
    because={413: "A form with more than 4 MB: announce the photo instead"},
)
def upload_photo(request: Request) -> Response:
    if request.content_type == MULTIPART:
        return _receive(request)
    body = schemas.read(bodies.NewUpload, request.fields)
    announced = media.announce(request.member.id, body.content_type, body.size)
    answer = bodies.AnnouncedUpload(announced.id, announced.url, announced.fields, clock.epoch(announced.expires_at))
    return responses.json(answer, 201)


def _receive(request: Request) -> Response:
    content = request.form.files.get("photo")
    if content is None:
        raise Invalid("photo is required")
    return responses.json(bodies.ReceivedUpload(media.receive(request.member.id, content)), 201)
