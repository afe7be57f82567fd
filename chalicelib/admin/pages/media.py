"""The page of all public pictures: uploaded here, shown with where they are used, deleted when nothing shows them."""

from urllib.parse import urlencode

from chalicelib.access import audit
from chalicelib.admin import shell
from chalicelib.campaigns.gallery import service
from chalicelib.kernel.errors import Conflict, Invalid, NotFound, TooLarge
from chalicelib.media import library
from chalicelib.media import service as media
from chalicelib.web import cursors
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/media"
_CAMPAIGNS = "/admin/campaigns"
_ON_A_PAGE = 20
_TOO_LARGE = "Choose a picture of at most 4 MB"


def show_media(request: Request) -> Response:
    """Also asks whether to delete one, so that deleting takes two steps without a script."""
    if media_id := request.query.get("delete"):
        _, picture = service.find(media_id)
        if picture is None:
            raise NotFound("Picture not found")
        return shell.page(request, "admin/media_delete.html", here=_CAMPAIGNS, picture=picture, url=media.copy_url)
    return _page(request)


def change_media(request: Request) -> Response:
    """One path for what the page's buttons do."""
    if request.form.fields.get("action") == "delete":
        return _delete(request, request.form.fields.get("id", ""))
    return _upload(request, request.form.files.get("file", b""))


def _upload(request: Request, content: bytes) -> Response:
    try:
        if not content:
            raise Invalid("Choose a picture first")
        made = library.receive(content)
    except TooLarge:
        return _page(request, 413, problem=_TOO_LARGE)
    except Invalid as failure:
        return _page(request, 400, problem=failure.reason)
    audit.record(request, "media.upload", media_id=made.id)
    return shell.back(_HERE, "picture-added" if made.kept else "picture-processing")


def _delete(request: Request, media_id: str) -> Response:
    try:
        library.delete(media_id)
    except Conflict:
        return shell.back(_HERE, "picture-used")
    except NotFound:
        return shell.back(_HERE, "picture-gone")
    audit.record(request, "media.delete", media_id=media_id)
    return shell.back(_HERE, "picture-deleted")


def _page(request: Request, status: int = 200, problem: str = "") -> Response:
    uploaded_only = request.query.get("uploaded") == "yes"
    scope = f"{service.SCOPE} {uploaded_only}"
    found = service.list_page(_ON_A_PAGE, cursors.read(request, scope), uploaded_only)
    cursor = cursors.sign(found.next_place, scope)
    query = {"uploaded": "yes"} if uploaded_only else {}
    return shell.page(
        request,
        "admin/media.html",
        status,
        here=_CAMPAIGNS,
        pictures=found.items,
        url=media.copy_url,
        uploaded_only=uploaded_only,
        is_first=not request.query.get("cursor"),
        first_url=f"{_HERE}?{urlencode(query)}" if query else _HERE,
        next_url=f"{_HERE}?{urlencode(query | {'cursor': cursor})}" if cursor else None,
        problem=problem or None,
    )
