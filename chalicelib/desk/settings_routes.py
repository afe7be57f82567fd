"""What is configured, as a page."""

from chalicelib.access.door import door
from chalicelib.desk import configuration, frame
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.routing import Routes

routes = Routes(__name__, errors=frame.problem, authorizer=door)


@routes.get("/admin/settings")
def show_settings(request: Request) -> Response:
    return frame.page(request, "admin/settings.html", here="/admin/settings", seen=configuration.gather())
