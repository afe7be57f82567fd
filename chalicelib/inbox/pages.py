"""A member's inbox; editors have the same within the dashboard."""

from chalicelib.inbox.frames import MEMBER
from chalicelib.inbox.screens import acting, adding, entry, listing, sharing
from chalicelib.members import shell
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def show_inbox(request: Request) -> Response:
    return listing.show(MEMBER, request)


def act(request: Request) -> Response:
    return acting.act(MEMBER, request)


def show_add(request: Request) -> Response:
    return adding.show(MEMBER, request)


def add(request: Request) -> Response:
    return adding.save(MEMBER, request)


def show_entry(request: Request) -> Response:
    return entry.show(MEMBER, request)


def save_entry(request: Request) -> Response:
    return entry.save(MEMBER, request)


def style_sheet(request: Request) -> Response:
    """Of this room's pages, and of those of what is followed."""
    return shell.answer_asset(request, "reading.css", "text/css")


def script(request: Request) -> Response:
    return shell.answer_asset(request, "triage.js", "text/javascript")


def manifest(request: Request) -> Response:
    return sharing.manifest("/inbox")
