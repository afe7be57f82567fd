"""The page on which something to follow is found: among one's own subscriptions, or by a search."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from msgspec import Struct

from chalicelib.following import connections, discovery, quota, service, views
from chalicelib.following.access import OutOfQuota
from chalicelib.following.connection_handlers import check_words
from chalicelib.following.discovery import Candidate
from chalicelib.following.model import CONNECTED, LABELS
from chalicelib.following.notices import NOTICES
from chalicelib.following.providers.contract import SEARCHES, Channel
from chalicelib.following.stores.connections import Connection
from chalicelib.following.views import Connections
from chalicelib.inbox import frames
from chalicelib.inbox.frames import Frame
from chalicelib.inbox.model import Provider
from chalicelib.inbox.owners import owner_of
from chalicelib.kernel import clock
from chalicelib.kernel.errors import GnaError, Invalid, Unauthenticated
from chalicelib.kernel.recent import Recent
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_ON_A_PAGE = 25
_FOUND = 20
_LONGEST = 200
# Every Follow leads back to the list: the provider is not asked again for each.
_subscriptions: Recent[tuple[Channel, ...]] = Recent(timedelta(minutes=10), 50)


class Asked(Struct, frozen=True):
    """`words` is None for the list of one's own subscriptions."""

    provider: Provider
    words: str | None
    page: int


class Listed(Struct, frozen=True):
    """`wrong` says why there is nothing; `failure` is what it comes from."""

    candidates: tuple[Candidate, ...] = ()
    wrong: str = ""
    failure: GnaError | None = None


def show(frame: Frame, request: Request) -> Response:
    return _page(frame, request, _read_asked(request.query))


def follow(frame: Frame, request: Request) -> Response:
    """One of the list, and back to it."""
    owner = owner_of(request)
    asked = _read_asked(request.fields)
    try:
        _, is_news = service.follow(owner, asked.provider, request.text("channel_id") or "")
    except GnaError as failure:
        if isinstance(failure, Unauthenticated):
            raise
        return _page(frame, request, asked, failure)
    notice = "followed" if is_news else "followed-already"
    query = {"provider": asked.provider.value, "q": asked.words, "page": asked.page if asked.page > 1 else None}
    return frames.back(f"{frame.prefix}/following/find", notice, **query)


def _page(frame: Frame, request: Request, asked: Asked, failure: GnaError | None = None) -> Response:
    owner = owner_of(request)
    found = connections.list_connections(owner)
    listed = _list(request, owner, asked, found)
    first = (asked.page - 1) * _ON_A_PAGE
    shown = listed.candidates[first : first + _ON_A_PAGE]
    failure = failure or listed.failure
    answer = frame.page(
        request,
        "following/find.html",
        "Find something to follow",
        NOTICES,
        responses.status_of(failure) if failure else 200,
        here=f"{frame.prefix}/following",
        asked=asked,
        label=LABELS[asked.provider],
        candidates=[views.view_candidate(candidate, asked.provider) for candidate in shown],
        wrong=views.describe_failure(failure) if failure and failure is not listed.failure else listed.wrong,
        total=len(listed.candidates),
        pages=max(1, -(-len(listed.candidates) // _ON_A_PAGE)),
        **_choices(frame, found, asked),
    )
    return responses.with_retry_after(failure, answer) if failure else answer


def _choices(frame: Frame, found: Connections, asked: Asked) -> dict[str, Any]:
    """Where one can look."""
    now = clock.now()
    offered = views.list_offered(found, frame.is_desk, now)
    return {
        "connections": offered,
        "connection": views.view_connection(asked.provider, found[asked.provider], now),
        "searchable": [(one.provider, one.label) for one in offered if views.can_use(Provider(one.provider), found)],
    }


def _list(request: Request, owner: str, asked: Asked, found: Connections) -> Listed:
    connection = found[asked.provider]
    if request.only_looks or _is_linked_from_elsewhere(request):
        return Listed()  # a search costs one of a hundred a day: only a person who asks has one
    try:
        if asked.words is None:
            return Listed(_list_mine(owner, asked.provider, connection) if connection else ())
        if not asked.words.strip():
            return Listed()
        words = check_words(asked.words)
        return Listed(tuple(discovery.search(owner, asked.provider, words, _FOUND)))
    except GnaError as failure:
        if isinstance(failure, Unauthenticated):
            raise
        return Listed((), _explain(failure, asked), failure)


def _list_mine(owner: str, provider: Provider, connection: Connection) -> tuple[Candidate, ...]:
    key = (owner, provider, connection.id, connection.connected_at)
    known = _subscriptions.get(key)
    if known is None:
        listed = discovery.list_mine(owner, provider)
        _subscriptions.put(key, tuple(candidate.channel for candidate in listed))
        return tuple(listed)
    followed = service.list_channel_ids(owner, provider)
    return tuple(Candidate(channel, channel.channel_id in followed) for channel in known)


def _explain(failure: GnaError, asked: Asked) -> str:
    if isinstance(failure, Invalid):
        return "Search for at most 100 characters." if asked.words else "Enter a few words to search for."
    if isinstance(failure, OutOfQuota) and asked.words is not None and quota.is_counted(asked.provider):
        searches = next(used for used in quota.read_used(asked.provider) if used.bucket == SEARCHES)
        reason = failure.reason.replace("'", "’")
        if searches.spent >= searches.most:
            reason = f"Today’s {searches.most} searches at YouTube are used up, by everybody together"
        return (
            f"{reason}. Searching works again at midnight, Pacific time. What you have a link to can be followed all "
            "the same."
        )
    return views.describe_failure(failure)


def _is_linked_from_elsewhere(request: Request) -> bool:
    return request.headers.get("sec-fetch-site") == "cross-site"


def _read_asked(fields: Mapping[str, Any]) -> Asked:
    """What is no provider is the first."""
    named = str(fields.get("provider") or "")
    provider = Provider(named) if named in CONNECTED else CONNECTED[0]
    words, page = fields.get("q"), str(fields.get("page") or "")
    number = int(page) if page.isascii() and page.isdigit() and len(page) < 4 else 1
    return Asked(provider, None if words is None else str(words)[:_LONGEST], max(1, number))
