"""Mails that did not arrive, as a page."""

from urllib.parse import urlencode

from chalicelib.admin import shell
from chalicelib.bounces import service
from chalicelib.web import paging
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/bounces"


def show_bounces(request: Request) -> Response:
    number, size = paging.requested(request)
    found = service.list_page(number, size)
    return shell.page(
        request,
        "admin/bounces.html",
        here=_HERE,
        found=found,
        number=number,
        pages=max(1, -(-found.total // size)),
        turn=lambda to: f"{_HERE}?{urlencode({'page': to, 'per_page': size})}",
    )
