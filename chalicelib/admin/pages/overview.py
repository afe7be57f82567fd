"""The overview: the first page of the dashboard."""

from chalicelib.admin import overview, shell
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def show_overview(request: Request) -> Response:
    return shell.page(request, "admin/overview.html", here="/admin", overview=overview.gather())
