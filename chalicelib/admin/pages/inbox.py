"""The inbox of the publication's desk; members have the same for themselves."""

from chalicelib.admin import waiting
from chalicelib.admin.frame import DESK_FRAME
from chalicelib.inbox.screens import acting, adding, entry, listing, sharing
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def show_inbox(request: Request) -> Response:
    return listing.show(DESK_FRAME, request)


def act(request: Request) -> Response:
    answer = acting.act(DESK_FRAME, request)
    waiting.forget()
    return answer


def show_add(request: Request) -> Response:
    return adding.show(DESK_FRAME, request)


def add(request: Request) -> Response:
    answer = adding.save(DESK_FRAME, request)
    waiting.forget()
    return answer


def show_entry(request: Request) -> Response:
    return entry.show(DESK_FRAME, request)


def save_entry(request: Request) -> Response:
    answer = entry.save(DESK_FRAME, request)
    waiting.forget()
    return answer


def manifest(request: Request) -> Response:
    return sharing.manifest("/admin/inbox")
