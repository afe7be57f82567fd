"""The page of bounces, and pausing or removing everybody on it."""

from urllib.parse import urlencode

from chalicelib.access import audit
from chalicelib.admin import labels, shell
from chalicelib.bounces import failing, service
from chalicelib.kernel import settings
from chalicelib.web import paging
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/bounces"


def list_bounces(request: Request) -> Response:
    number, size = paging.requested(request)
    found = service.list_page(number, size)
    lasting = failing.count() if found.total else failing.Failing(0, 0)
    return shell.page(
        request,
        "admin/bounces.html",
        here=_HERE,
        found=found,
        meanings=dict(labels.bounce(known.bounce) for known in found.items),
        failing=lasting,
        mode=settings.current().bounces,
        number=number,
        pages=max(1, -(-found.total // size)),
        page_url=lambda page: f"{_HERE}?{urlencode({'page': page, 'per_page': size})}",
    )


def confirm_pausing(request: Request) -> Response:
    return _confirm(request, failing.PAUSE)


def pause_bounced(request: Request) -> Response:
    return _settle(request, failing.PAUSE)


def confirm_removal(request: Request) -> Response:
    return _confirm(request, failing.REMOVE)


def remove_bounced(request: Request) -> Response:
    return _settle(request, failing.REMOVE)


def _confirm(request: Request, action: str) -> Response:
    found = failing.count(paused=action == failing.REMOVE)
    return shell.page(request, "admin/bounces_settle.html", here=_HERE, failing=found, action=action)


def _settle(request: Request, action: str) -> Response:
    audit.record(request, f"bounces.{action}")
    failing.start(action)
    return shell.back(_HERE, f"bounced-{action}")
