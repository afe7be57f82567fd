"""The first page."""

from chalicelib.access.door import door
from chalicelib.admin import overview, shell
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.routing import Routes

routes = Routes(__name__, errors=shell.problem, authorizer=door)


@routes.get("/admin")
def show_overview(request: Request) -> Response:
    return shell.page(request, "admin/overview.html", here="/admin", seen=overview.gather())
