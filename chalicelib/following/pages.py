"""The pages of what a member follows; editors have the same within the dashboard."""

from chalicelib.following.screens import connecting, finding, follow, overview
from chalicelib.inbox.frames import MEMBER
from chalicelib.members import shell
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def show_following(request: Request) -> Response:
    return overview.show(MEMBER, request)


def follow_link(request: Request) -> Response:
    return overview.follow_link(MEMBER, request)


def act(request: Request) -> Response:
    return overview.act(MEMBER, request)


def show_find(request: Request) -> Response:
    return finding.show(MEMBER, request)


def follow_found(request: Request) -> Response:
    return finding.follow(MEMBER, request)


def show_connect(request: Request) -> Response:
    return connecting.show(MEMBER, request)


def show_callback(request: Request) -> Response:
    return connecting.show_callback(MEMBER, request)


def confirm_disconnect(request: Request) -> Response:
    return connecting.confirm_end(MEMBER, request)


def disconnect(request: Request) -> Response:
    return connecting.end(MEMBER, request)


def show_follow(request: Request) -> Response:
    return follow.show(MEMBER, request)


def save_follow(request: Request) -> Response:
    return follow.save(MEMBER, request)


def confirm_unfollow(request: Request) -> Response:
    return follow.confirm_end(MEMBER, request)


def unfollow(request: Request) -> Response:
    return follow.end(MEMBER, request)


def script(request: Request) -> Response:
    """By which accounts are connected."""
    return shell.answer_asset(request, "connect.js", "text/javascript")
