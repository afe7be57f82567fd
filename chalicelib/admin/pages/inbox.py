"""The inbox of the publication's desk; members have the same for themselves."""

from chalicelib.admin.frame import DESK_FRAME
from chalicelib.inbox.screens import acting, adding, entry, listing, sharing
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def show_inbox(request: Request) -> Response:
    return listing.show(DESK_FRAME, request)


def act(request: Request) -> Response:
    return acting.act(DESK_FRAME, request)


def show_add(request: Request) -> Response:
    return adding.show(DESK_FRAME, request)


def add(request: Request) -> Response:
    return adding.save(DESK_FRAME, request)


def show_entry(request: Request) -> Response:
    return entry.show(DESK_FRAME, request)


def save_entry(request: Request) -> Response:
    return entry.save(DESK_FRAME, request)


def manifest(request: Request) -> Response:
    return sharing.manifest("/admin/inbox")
