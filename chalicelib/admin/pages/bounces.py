"""The page of bounces."""

from urllib.parse import urlencode

from chalicelib.admin import shell
from chalicelib.bounces import service
from chalicelib.web import paging
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/bounces"


def list_bounces(request: Request) -> Response:
    number, size = paging.requested(request)
    found = service.list_page(number, size)
    return shell.page(
        request,
        "admin/bounces.html",
        here=_HERE,
        found=found,
        number=number,
        pages=max(1, -(-found.total // size)),
        page_url=lambda page: f"{_HERE}?{urlencode({'page': page, 'per_page': size})}",
    )
