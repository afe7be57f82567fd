"""Follows and notifications of whoever asks: editors have those of the publication's desk, members their own."""

from msgspec import UNSET

from chalicelib.following import bodies, notifications, serializers, service
from chalicelib.following.model import FollowStatus
from chalicelib.inbox.model import Provider
from chalicelib.inbox.owners import owner_of
from chalicelib.kernel.errors import Invalid
from chalicelib.web import cursors, responses, schemas
from chalicelib.web.cursors import CursorQuery
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_NOT_FOUND = {404: "No such follow, or it has ended"}
_FOLLOW = Answer("The follow", bodies.Follow)
_DONE = Answer("Done", bodies.Done)
_ON_A_PAGE = 50


@operation(
    "List what is followed, newest first",
    tag="following",
    query=(CursorQuery, bodies.FollowQuery),
    answers={200: Answer("A page; it may be short and yet not be the last", bodies.FollowPage)},
    refuses=(400,),
)
def list_follows(request: Request) -> Response:
    owner = owner_of(request)
    query = schemas.read(bodies.FollowQuery, {name: value for name, value in request.query.items() if value})
    provider = None if query.provider is UNSET else Provider(query.provider)
    status = None if query.status is UNSET else FollowStatus(query.status)
    scope = f"follows {owner} {provider} {status}"
    limit, place = cursors.requested_limit(request, _ON_A_PAGE), cursors.read(request, scope)
    page = service.list_page(owner, provider, status, limit, place)
    items = [serializers.follow_body(followed) for followed in page.items]
    return responses.json(bodies.FollowPage(cursors.sign(page.next_place, scope), page.next_place is not None, items))


@operation(
    "Follow a channel, a show or a feed",
    tag="following",
    body=bodies.NewFollow,
    answers={201: _FOLLOW, 200: Answer("It is followed already", bodies.Follow)},
    refuses=(400, 429),
    because={404: "No such channel, show or feed", 409: "A connection is needed first, or there are too many"},
)
def create_follow(request: Request) -> Response:
    body, owner = schemas.read(bodies.NewFollow, request.fields), owner_of(request)
    if isinstance(body.url, str):
        if body.provider is not UNSET or body.provider_channel_id is not UNSET:
            raise Invalid("Send url, or provider and provider_channel_id, not both")
        followed, is_news = service.follow_url(owner, body.url)
    else:
        if not isinstance(body.provider, str) or not isinstance(body.provider_channel_id, str):
            raise Invalid("Send url, or provider and provider_channel_id")
        followed, is_news = service.follow(owner, Provider(body.provider), body.provider_channel_id)
    return responses.json(serializers.follow_body(followed), 201 if is_news else 200)


@operation(
    "Change what happens with new items",
    tag="following",
    body=bodies.FollowChanges,
    answers={200: _FOLLOW},
    refuses=(400,),
    because=_NOT_FOUND,
)
def change_follow(request: Request) -> Response:
    owner, id = owner_of(request), request.path["follow_id"]
    before = service.find(owner, id)
    body = schemas.read(bodies.FollowChanges, request.fields)
    options = bodies.merge_options(before.follow.options, body.options)
    return responses.json(serializers.follow_body(service.change_options(owner, id, options)))


@operation(
    "Follow it no longer; what it brought leaves the inbox, and what was kept stays",
    tag="following",
    answers={204: Answer("No longer followed")},
    because=_NOT_FOUND,
)
def delete_follow(request: Request) -> Response:
    service.unfollow(owner_of(request), request.path["follow_id"])
    return responses.no_content()


@operation(
    "Receive nothing until it is resumed",
    tag="following",
    answers={200: _DONE},
    because=_NOT_FOUND | {409: "The follow is disconnected"},
)
def pause_follow(request: Request) -> Response:
    service.pause(owner_of(request), request.path["follow_id"])
    return responses.json(bodies.Done())


@operation(
    "Resume: polled at once, and what was published meanwhile is received",
    tag="following",
    answers={200: _DONE},
    refuses=(429,),
    because=_NOT_FOUND | {409: "A connection is needed first"},
)
def resume_follow(request: Request) -> Response:
    service.resume(owner_of(request), request.path["follow_id"])
    return responses.json(bodies.Done())


@operation(
    "Poll now, at most once in five minutes",
    tag="following",
    answers={200: Answer("How many new items there were", bodies.Synced)},
    because=_NOT_FOUND
    | {409: "The follow is paused or disconnected", 429: "Synced a moment ago, or the provider wants us to wait"},
)
def sync_follow(request: Request) -> Response:
    return responses.json(bodies.Synced(service.sync(owner_of(request), request.path["follow_id"])))


@operation(
    "List notifications, newest first; resolved ones for 30 days",
    tag="following",
    query=CursorQuery,
    answers={200: Answer("A page", bodies.NotificationPage)},
    refuses=(400,),
)
def list_notifications(request: Request) -> Response:
    owner = owner_of(request)
    scope = f"notifications {owner}"
    page = notifications.list_page(owner, cursors.requested_limit(request), cursors.read(request, scope))
    items = [serializers.notification_body(told) for told in page.items]
    cursor = cursors.sign(page.next_place, scope)
    return responses.json(bodies.NotificationPage(cursor, cursor is not None, items))


@operation(
    "Mark a notification as read",
    tag="following",
    answers={200: _DONE},
    because={404: "No such notification"},
)
def read_notification(request: Request) -> Response:
    notifications.mark_read(owner_of(request), request.path["notification_id"])
    return responses.json(bodies.Done())
