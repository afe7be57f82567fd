"""The public archive: a list, the letters themselves, and a feed of them."""

from chalicelib.campaigns import archive
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid, NotFound
from chalicelib.web import pages, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.routing import Routes

routes = Routes(__name__, errors=pages.error)

_KEEP = "public, max-age=300"
_LAST_PAGE = 10_000


@routes.get("/archive", head=True)
def list_archive(request: Request) -> Response:
    shelf = archive.shelf(_number(request))
    return pages.page("public/archive.html", shelf=shelf).having(Cache_Control=_KEEP)


@routes.get("/archive/{campaign_id}", head=True)
def read_archive(request: Request) -> Response:
    try:
        body = archive.letter(request.path["campaign_id"])
    except NotFound:
        raise NotFound("Page not found") from None
    return responses.letter(body).having(Cache_Control=_KEEP)


@routes.get("/archive/feed.xml", head=True)
def archive_feed(request: Request) -> Response:
    issues = archive.shelf(1).issues
    updated = clock.text(issues[0].published_at if issues else clock.parse("2026-01-01T00:00:00Z"))
    body = pages.text("public/archive_feed.xml", issues=issues, updated=updated, text=clock.text)
    return responses.asset(body, "application/atom+xml", 300)


def _number(request: Request) -> int:
    text = request.query.get("page") or "1"
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= _LAST_PAGE):
        raise Invalid("Page not found")
    return int(text)
