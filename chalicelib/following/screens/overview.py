"""The page of what is followed: connections, follows, notifications, and a field for a link to something new."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from chalicelib.following import access, connections, notifications, quota, service, views
from chalicelib.following.bodies import LONGEST_URL
from chalicelib.following.model import CONNECTED, PROVIDERS, FollowStatus
from chalicelib.following.notices import NOTICES
from chalicelib.following.views import Connections
from chalicelib.inbox import frames
from chalicelib.inbox.frames import Frame
from chalicelib.inbox.model import Provider
from chalicelib.inbox.owners import owner_of
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Conflict, GnaError, Invalid, NotFound, TooMany, Unauthenticated, Unavailable
from chalicelib.members import model as members
from chalicelib.web import cursors, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

# With the longest names they stay below 60 KB.
_ON_A_PAGE = 25
_NOTIFICATIONS = 8
_STATUSES = (FollowStatus.ACTIVE, FollowStatus.PAUSED, FollowStatus.DISCONNECTED)
_FILTERS = ("provider", "status", "cursor")
_BY_FEED = "Shows at Spotify cannot be followed here, but most podcasts have a feed of their own: paste its link."


class Wanted(Struct, frozen=True):
    provider: Provider | None
    status: FollowStatus | None

    @property
    def is_filtered(self) -> bool:
        return bool(self.provider or self.status)


def show(frame: Frame, request: Request) -> Response:
    return _page(frame, request, typed=request.kept.get("url", ""))


def follow_link(frame: Frame, request: Request) -> Response:
    """What was pasted; if it cannot be followed, the page says so beside the field."""
    typed = request.text("url") or ""
    try:
        _, is_news = service.follow_url(owner_of(request), typed)
    except GnaError as failure:
        return _refuse(frame, request, failure, typed)
    return frames.back(_home(frame), "followed" if is_news else "followed-already")


def act(frame: Frame, request: Request) -> Response:
    """One of the buttons beside a follow or a notification: each is named for what it does, and its value says with
    which."""
    fields = request.fields
    asked = next((name for name in _ACTS if fields.get(name)), None)
    if not asked:
        raise Invalid("Press one of the buttons")
    kept = {name: request.text(name) for name in _FILTERS}
    path = _home(frame)
    try:
        id = members.parse_id(request.text(asked) or "", "Follow not found")
        notice, items = _ACTS[asked](owner_of(request), id)
    except NotFound:
        return frames.back(path, "gone", **kept)
    if request.text("from") == "page" and asked != "read":
        return frames.back(f"{path}/{members.wire_id(id)}", notice, items=items)
    return frames.back(path, notice, items=items, **kept)


def _sync(owner: str, id: str) -> tuple[str, int | None]:
    try:
        found = service.sync(owner, id)
    except TooMany:
        return "sync-later", None
    except Unavailable:
        return "sync-failed", None
    except Conflict:
        return "not-possible", None
    return ("synced", found) if found else ("synced-nothing", None)


def _pause(owner: str, id: str) -> tuple[str, None]:
    try:
        service.pause(owner, id)
    except Conflict:
        return "not-possible", None
    return "paused", None


def _resume(owner: str, id: str) -> tuple[str, None]:
    try:
        service.resume(owner, id)
    except Conflict:
        return "not-possible", None
    except (TooMany, Unavailable):
        return "sync-failed", None
    return "resumed", None


def _mark_read(owner: str, id: str) -> tuple[str, None]:
    notifications.mark_read(owner, id)
    return "read", None


_ACTS = {"sync": _sync, "pause": _pause, "resume": _resume, "read": _mark_read}


def _refuse(frame: Frame, request: Request, failure: GnaError, typed: str) -> Response:
    if isinstance(failure, Unauthenticated):
        raise failure
    reason = views.describe_failure(failure)
    if not frame.is_desk and failure.reason == access.not_connected(Provider.SPOTIFY).reason:
        reason = _BY_FEED
    answer = _page(frame, request, responses.status_of(failure), typed=typed, wrong=reason)
    return responses.with_retry_after(failure, answer)


def _page(frame: Frame, request: Request, status: int = 200, typed: str = "", wrong: str = "") -> Response:
    owner, now, wanted = owner_of(request), clock.now(), _read_wanted(request.query)
    scope = f"followed {owner} {wanted.provider} {wanted.status}"
    found = connections.list_connections(owner)
    listed = service.list_page(owner, wanted.provider, wanted.status, _ON_A_PAGE, cursors.read(request, scope))
    follows = [views.view_follow(followed, found, now) for followed in listed.items]
    return frame.page(
        request,
        "following/overview.html",
        "Following",
        NOTICES,
        status,
        here=_home(frame),
        typed=typed[:LONGEST_URL],
        wrong=wrong,
        wanted=wanted,
        providers=[(provider.value, views.label_of(provider)) for provider in PROVIDERS],
        statuses=[status.value for status in _STATUSES],
        follows=follows,
        told=_list_notifications(owner),
        cursor=request.query.get("cursor", ""),
        next_cursor=cursors.sign(listed.next_place, scope),
        **_surroundings(frame, owner, found),
    )


def _surroundings(frame: Frame, owner: str, found: Connections) -> dict[str, Any]:
    """What is beside the follows."""
    uses_quota = frame.is_desk and (views.can_use(Provider.YOUTUBE, found) or found[Provider.YOUTUBE])
    return {
        "connections": views.list_offered(found, frame.is_desk, clock.now()),
        "searchable": any(views.can_use(provider, found) for provider in CONNECTED),
        "quota": quota.read_used(Provider.YOUTUBE) if uses_quota else [],
        "redirect_uri": connections.redirect_uri(owner),
    }


def _list_notifications(owner: str) -> list[views.NotificationView]:
    """What still is as it says, and as much of what is over as there is room for, newest first."""
    active = {one.id: one for one in notifications.list_active(owner)[:_NOTIFICATIONS]}
    newest = [one for one in notifications.list_page(owner, _NOTIFICATIONS).items if one.id not in active]
    told = active | {one.id: one for one in newest[: _NOTIFICATIONS - len(active)]}
    return [views.view_notification(told[id]) for id in sorted(told, reverse=True)]


def _read_wanted(asked: Mapping[str, str]) -> Wanted:
    """What is no provider or state filters nothing."""
    provider, status = asked.get("provider", ""), asked.get("status", "")
    return Wanted(
        Provider(provider) if provider in PROVIDERS else None,
        FollowStatus(status) if status in _STATUSES else None,
    )


def _home(frame: Frame) -> str:
    return f"{frame.prefix}/following"
