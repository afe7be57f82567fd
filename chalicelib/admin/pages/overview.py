"""The overview: the first page of the dashboard. And what is left to do in the first hour, on a page of its own."""

from chalicelib.admin import fallbacks, first_run, overview, shell
from chalicelib.kernel import settings
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def show_overview(request: Request) -> Response:
    gathered = overview.gather()
    begun = fallbacks.or_none(lambda: first_run.gather(request.identity, gathered.has_sent))
    return shell.page(request, "admin/overview.html", here="/admin", overview=gathered, first_run=begun)


def show_start(request: Request) -> Response:
    """Also when all is done, to look something up again."""
    begun = first_run.gather(request.identity, overview.has_sent(), again=True)
    sending = None if settings.current().local else first_run.gather_sending()
    return shell.page(request, "admin/start.html", here="/admin", first_run=begun, sending=sending)
