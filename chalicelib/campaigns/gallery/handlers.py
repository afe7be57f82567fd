"""Pictures over HTTP, for editors: uploaded, listed with where they are used, deleted."""

from chalicelib.access import audit
from chalicelib.campaigns.gallery import bodies, copying, serializers, service
from chalicelib.campaigns.serializers import campaign_detail
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid
from chalicelib.media import library
from chalicelib.media.library import Upload
from chalicelib.web import cursors, responses, schemas
from chalicelib.web.cursors import CursorQuery
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import MULTIPART, Request
from chalicelib.web.responses import Response

_TAG = "media"
_MADE = {
    201: Answer("The picture", bodies.Media),
    202: Answer("It is large, and being prepared: ask for it by its id", bodies.ProcessedMedia),
}
_NOT_FOUND = {404: "No such picture"}


@operation(
    "List all public pictures, newest first, with where they are used",
    tag=_TAG,
    query=(CursorQuery, bodies.MediaQuery),
    answers={200: Answer("A page", bodies.MediaPage)},
    refuses=(400,),
)
def list_media(request: Request) -> Response:
    uploaded_only = schemas.read(bodies.MediaQuery, request.query).uploaded == "yes"
    scope = f"{service.SCOPE} {uploaded_only}"
    page = service.list_page(cursors.requested_limit(request), cursors.read(request, scope), uploaded_only)
    items = [serializers.listed_body(picture) for picture in page.items]
    return responses.json(bodies.MediaPage(cursors.sign(page.next_place, scope), page.next_place is not None, items))


@operation(
    "Upload a picture of up to 4 MB as `multipart/form-data` in the field `file`, or announce a larger one and post "
    "it to the answer's `url`. It is made anew, at most 1,200 pixels wide; of a moving picture the first frame stays",
    tag=_TAG,
    body=bodies.NewMedia,
    answers={
        201: Answer(
            "The picture; of one that was announced, where to post it to", bodies.Media | bodies.AnnouncedMedia
        ),
        202: _MADE[202],
    },
    refuses=(400, 429),
    because={413: "More than 4 MB in a form, or more than 5 MB"},
)
def upload_media(request: Request) -> Response:
    if request.content_type == MULTIPART:
        content = request.form.files.get("file")
        if content is None:
            raise Invalid("file is required")
        return _made(request, library.receive(content))
    body = schemas.read(bodies.NewMedia, request.fields)
    announced = library.announce(body.content_type, body.size)
    expires_at = clock.text(announced.expires_at)
    return responses.json(bodies.AnnouncedMedia(announced.id, announced.url, announced.fields, expires_at), 201)


@operation("Say that an announced picture is uploaded", tag=_TAG, answers=_MADE, refuses=(400,), because=_NOT_FOUND)
def confirm_media(request: Request) -> Response:
    found = library.confirm(request.path["media_id"])
    if found.error:
        raise Invalid(found.error)
    return _made(request, found)


@operation(
    "Get a picture, and whether it is ready",
    tag=_TAG,
    answers={200: Answer("The picture", bodies.MediaState)},
    because=_NOT_FOUND,
)
def view_media(request: Request) -> Response:
    return responses.json(serializers.state_body(*service.find(request.path["media_id"])))


@operation(
    "Delete a picture that nothing shows",
    tag=_TAG,
    answers={204: Answer("Deleted")},
    because=_NOT_FOUND | {409: "Something shows it, or it is still being prepared"},
)
def delete_media(request: Request) -> Response:
    library.delete(request.path["media_id"])
    audit.record(request, "media.delete", media_id=request.path["media_id"])
    return responses.no_content()


@operation(
    "Copy the pictures in that a draft or a scheduled campaign loads from elsewhere, 30 at most; its `body` then has "
    "the addresses of the copies, and nothing else of it changes",
    tag="campaigns",
    answers={200: Answer("The campaign, and what was left", bodies.CopiedPictures)},
    refuses=(404, 409),
)
def copy_pictures(request: Request) -> Response:
    copied = copying.copy_in(request.path["campaign_id"], request.identity)
    audit.record(request, "campaign.copy_pictures", campaign_id=copied.detail.campaign.id)
    left = [bodies.LeftPicture(one.url, one.reason) for one in copied.left]
    return responses.json(bodies.CopiedPictures(campaign_detail(copied.detail), copied.count, left))


def _made(request: Request, found: Upload) -> Response:
    audit.record(request, "media.upload", media_id=found.id)
    if found.kept:
        return responses.json(serializers.media_body(found.kept), 201)
    return responses.json(bodies.ProcessedMedia(found.id, "processing"), 202)
