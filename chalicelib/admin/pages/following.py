"""The pages of what the publication's desk follows; members have the same for themselves."""

from chalicelib.access import audit
from chalicelib.admin.frame import DESK_FRAME
from chalicelib.following.screens import connecting, finding, follow, overview
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def show_following(request: Request) -> Response:
    return overview.show(DESK_FRAME, request)


def follow_link(request: Request) -> Response:
    return overview.follow_link(DESK_FRAME, request)


def act(request: Request) -> Response:
    return overview.act(DESK_FRAME, request)


def show_find(request: Request) -> Response:
    return finding.show(DESK_FRAME, request)


def follow_found(request: Request) -> Response:
    return finding.follow(DESK_FRAME, request)


def show_connect(request: Request) -> Response:
    return connecting.show(DESK_FRAME, request)


def show_callback(request: Request) -> Response:
    return connecting.show_callback(DESK_FRAME, request)


def confirm_disconnect(request: Request) -> Response:
    return connecting.confirm_end(DESK_FRAME, request)


def disconnect(request: Request) -> Response:
    answer = connecting.end(DESK_FRAME, request)
    if answer.status == 303:
        audit.record(request, "connection.end", provider=request.text("provider") or "")
    return answer


def show_follow(request: Request) -> Response:
    return follow.show(DESK_FRAME, request)


def save_follow(request: Request) -> Response:
    return follow.save(DESK_FRAME, request)


def confirm_unfollow(request: Request) -> Response:
    return follow.confirm_end(DESK_FRAME, request)


def unfollow(request: Request) -> Response:
    answer = follow.end(DESK_FRAME, request)
    audit.record(request, "follow.end", follow_id=request.path["follow_id"])
    return answer
