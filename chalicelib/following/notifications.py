"""What owners are told about their connections and follows: one active notification of a kind and provider, resolved
by itself when its cause is gone."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.following import unread
from chalicelib.following.model import LABELS, Creator
from chalicelib.following.providers.contract import SEARCHES
from chalicelib.following.stores import notifications as store
from chalicelib.following.stores.notifications import Notification
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import clock, ids
from chalicelib.kernel.errors import NotFound
from chalicelib.kernel.plurals import count_of


class Kind(StrEnum):
    CONNECTION_EXPIRED = "connection_expired"
    CONNECTION_REVOKED = "connection_revoked"
    CONNECTION_ENDING = "connection_ending"
    POLL_FAILURES = "poll_failures"
    QUOTA_WARNING = "quota_warning"


ABOUT_CONNECTION = (Kind.CONNECTION_EXPIRED, Kind.CONNECTION_REVOKED, Kind.CONNECTION_ENDING)


class Page(Struct, frozen=True):
    items: tuple[Notification, ...]
    next_place: str | None


def list_page(owner: str, limit: int, place: str | None = None) -> Page:
    """Newest first. What is over is resolved when somebody sees it; otherwise nothing is written."""
    now = clock.now()
    found, next_place = store.list_page(owner, limit, place, now)
    return Page(tuple(_resolve_if_over(owner, one, now) for one in found), next_place)


def list_active(owner: str) -> list[Notification]:
    """Newest first: what still is as it says."""
    return unread.list_active(owner)


def mark_read(owner: str, id: str) -> None:
    if not store.mark_read(owner, id, clock.now()):
        raise NotFound("Notification not found")
    unread.forget(owner)


def tell_expired(owner: str, provider: Provider) -> None:
    name = LABELS[provider]
    _tell(
        owner,
        Kind.CONNECTION_EXPIRED,
        provider,
        f"{name} needs to be connected again",
        f"{name} no longer accepts the connection. We try once more in an hour; reconnect to fix it now. "
        "Your follows are kept, and wait.",
    )


def tell_revoked(owner: str, provider: Provider) -> None:
    name = LABELS[provider]
    _tell(
        owner,
        Kind.CONNECTION_REVOKED,
        provider,
        f"{name} has ended the connection",
        f"Access was withdrawn at {name}, or it has ended there. Connect again to go on; your follows are kept, and "
        "wait.",
    )


def tell_ending(owner: str, provider: Provider, days: int) -> None:
    name, when = LABELS[provider], f"in {count_of(days, 'day')}" if days else "today"
    _tell(
        owner,
        Kind.CONNECTION_ENDING,
        provider,
        f"The connection to {name} ends {when}",
        f"{name} ends every connection after a while. Connect again before that, and nothing is missed.",
        days=days,
    )


def tell_failing(owners: Iterable[str], creator: Creator) -> None:
    """`creator` could not be polled several times in a row."""
    for owner in owners:
        _tell(
            owner,
            Kind.POLL_FAILURES,
            creator.provider,
            f"{creator.name or 'A follow'} cannot be read",
            f"Several attempts in a row have failed. {creator.problem or 'There was no usable answer'}. We keep "
            "trying, less and less often, once a day at least.",
            cause=creator.id,
            creator_id=creator.id,
        )


def resolve_failing(owners: Iterable[str], creator: Creator) -> None:
    for owner in owners:
        _resolve(owner, Kind.POLL_FAILURES, creator.provider, creator.id)


def resolve_connection(owner: str, provider: Provider) -> None:
    """It works again."""
    for kind in ABOUT_CONNECTION:
        _resolve(owner, kind, provider)


def resolve_ending(owner: str, provider: Provider) -> None:
    """Before it is told anew, with fewer days."""
    _resolve(owner, Kind.CONNECTION_ENDING, provider)


def warn_of_quota(provider: Provider, bucket: str, ends_at: datetime) -> None:
    """For the desk: the quota is the deployment's, whoever uses it."""
    resolve_ended(DESK)  # yesterday's, or this one would count as told
    what = "searches are" if bucket == SEARCHES else "quota is"
    _tell(
        DESK,
        Kind.QUOTA_WARNING,
        provider,
        f"Most of today's {LABELS[provider]} {what} used",
        "Polls go on until nine tenths are used; the rest is kept for what editors ask for. "
        "It resets at midnight, Pacific time.",
        ends_at=int(ends_at.timestamp() * 1000),
    )


def resolve_ended(owner: str) -> None:
    """Warnings of a quota whose day is over."""
    now = clock.now()
    for one in store.list_active(owner):
        if unread.is_over(one, now):
            _resolve(owner, one.type, one.provider)


def _resolve_if_over(owner: str, one: Notification, now: datetime) -> Notification:
    if one.resolved_at or not unread.is_over(one, now):
        return one
    _resolve(owner, one.type, one.provider)
    return replace(one, resolved_at=now)


def _tell(
    owner: str,
    kind: Kind,
    provider: Provider,
    title: str,
    message: str,
    cause: str = "",
    **data: str | int | None,
) -> None:
    told = Notification(ids.new(), kind.value, provider.value, title, message, dict(data), clock.now())
    store.add(owner, told, cause)
    unread.forget(owner)


def _resolve(owner: str, kind: str, provider: str | None, cause: str = "") -> None:
    store.resolve(owner, kind, provider, clock.now(), cause)
    unread.forget(owner)
