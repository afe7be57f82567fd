"""The page of one follow: how it is doing, what happens with new items, and the way out."""

from typing import Any

from chalicelib.following import connections, service, views
from chalicelib.following.model import Action, Followed, Options
from chalicelib.following.notices import NOTICES
from chalicelib.inbox import frames
from chalicelib.inbox.frames import Frame
from chalicelib.inbox.model import Provider
from chalicelib.inbox.owners import owner_of
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid, NotFound
from chalicelib.members import model as members
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.text_size import shorten

_ACTIONS = {
    Action.INBOX: ("Inbox", "They wait there until you decide."),
    Action.BOOKMARK: ("Bookmarked", "They are kept at once."),
    Action.IGNORE: ("Nowhere", "They count as seen, and nothing arrives."),
}


def show(frame: Frame, request: Request) -> Response:
    followed = _find(request)
    return _page(frame, request, followed, _read_options(request.kept) if request.kept else followed.follow.options)


def save(frame: Frame, request: Request) -> Response:
    id = _id(request)
    service.change_options(owner_of(request), id, _read_options(request.fields))
    return frames.back(_path(frame, request), "options-saved")


def confirm_end(frame: Frame, request: Request) -> Response:
    return _page(frame, request, _find(request), body="following/unfollow.html", shape="card")


def end(frame: Frame, request: Request) -> Response:
    notice = "unfollowed"
    try:
        service.unfollow(owner_of(request), _id(request))
    except NotFound:
        notice = "gone"  # by a second click, say
    return frames.back(f"{frame.prefix}/following", notice)


def _page(
    frame: Frame,
    request: Request,
    followed: Followed,
    options: Options | None = None,
    body: str = "following/follow.html",
    **values: Any,
) -> Response:
    owner, now = owner_of(request), clock.now()
    return frame.page(
        request,
        body,
        followed.name,
        NOTICES,
        here=f"{frame.prefix}/following",
        path=_path(frame, request),
        name=followed.name,
        follow=views.view_follow(followed, connections.list_connections(owner), now),
        since=followed.follow.created_at,
        creator=followed.creator,
        description=shorten(followed.creator.description, 2_000) if followed.creator else "",
        is_pushed=views.is_pushed(followed.creator, now),
        options=options or followed.follow.options,
        actions=[(action.value, *words) for action, words in _ACTIONS.items()],
        has_shorts=followed.follow.provider is Provider.YOUTUBE,
        **values,
    )


def _read_options(fields: Any) -> Options:
    try:
        action = Action(fields.get("action", ""))
    except ValueError:
        raise Invalid("Choose where new items go") from None
    return Options(action, bool(fields.get("newest_only")), bool(fields.get("hide_shorts")))


def _find(request: Request) -> Followed:
    return service.find(owner_of(request), _id(request))


def _id(request: Request) -> str:
    return members.parse_id(request.path["follow_id"], "Follow not found")


def _path(frame: Frame, request: Request) -> str:
    return f"{frame.prefix}/following/{members.wire_id(_id(request))}"
