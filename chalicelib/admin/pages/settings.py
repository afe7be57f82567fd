"""What is configured, as a page."""

from chalicelib.access.door import door
from chalicelib.admin import configuration, shell
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.routing import Routes

routes = Routes(__name__, errors=shell.problem, authorizer=door)


@routes.get("/admin/settings")
def show_settings(request: Request) -> Response:
    return shell.page(request, "admin/settings.html", here="/admin/settings", seen=configuration.gather())
