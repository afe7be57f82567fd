"""The watched feed, as a page."""

from chalicelib.access.door import door
from chalicelib.desk import frame
from chalicelib.feeds import service
from chalicelib.feeds.state import Trigger
from chalicelib.kernel import settings
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.routing import Routes

routes = Routes(__name__, errors=frame.problem, authorizer=door)

_HERE = "/admin/feed"


@routes.get(_HERE)
def open_feed(request: Request) -> Response:
    hook = settings.current().url("/api/webhooks/feed")
    return frame.page(request, "admin/feed.html", here=_HERE, view=service.view(), hook=hook)


@routes.post(_HERE, accepts=frame.ANY_FORM)
def look_at_feed(request: Request) -> Response:
    return frame.back(_HERE, f"feed-{service.check(Trigger.ADMIN).result.value}")
