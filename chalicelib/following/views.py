"""Follows, connections and what there is to follow, as the pages show them: in words, short enough for a list."""

from datetime import datetime, timedelta

from msgspec import Struct

from chalicelib.following import access, connections, notifications
from chalicelib.following.discovery import Candidate
from chalicelib.following.model import CONNECTED, LABELS, ConnectionStatus, Creator, Follow, Followed, FollowStatus
from chalicelib.following.stores.connections import Connection
from chalicelib.following.stores.notifications import Notification
from chalicelib.inbox.model import Provider
from chalicelib.kernel.errors import GnaError, TooMany, Unavailable
from chalicelib.kernel.plurals import count_of
from chalicelib.members import model as members
from chalicelib.web.text_size import shorten

# In bytes.
_NAME, _DESCRIPTION, _PROBLEM, _TITLE, _MESSAGE = 150, 200, 200, 200, 400
_INTERVALS = {3_600: "every hour", 86_400: "once a day"}
_FEED = "Feed"
_ENDS_SOON = timedelta(days=14)

Connections = dict[Provider, Connection | None]


class Condition(Struct, frozen=True):
    """How a follow is doing; `why` is a sentence if there is something to say."""

    label: str
    tone: str
    why: str = ""


class FollowView(Struct, frozen=True):
    """`next_at` is None when it is due, or not polled."""

    id: str
    name: str
    label: str
    kind: str
    is_paused: bool
    is_active: bool
    condition: Condition
    newest_at: datetime | None
    checked_at: datetime | None
    next_at: datetime | None
    interval: str


class ConnectionView(Struct, frozen=True):
    """`state` is `missing` if it is not configured, `off` if it is not connected, or the connection's own.
    `needed`: nothing can be followed there without it."""

    provider: str
    label: str
    state: str
    needed: bool
    since: datetime | None = None
    ends_at: datetime | None = None
    ends_soon: bool = False
    last_refreshed_at: datetime | None = None

    @property
    def works(self) -> bool:
        return self.state == ConnectionStatus.ACTIVE


class CandidateView(Struct, frozen=True):
    channel_id: str
    name: str
    kind: str
    description: str
    subscribers: str
    is_followed: bool


class NotificationView(Struct, frozen=True):
    """`connect` is the provider to connect again, where that is what it takes."""

    id: str
    title: str
    message: str
    created_at: datetime
    is_read: bool
    is_resolved: bool
    connect: str


def view_follow(followed: Followed, found: Connections, now: datetime) -> FollowView:
    follow, creator = followed.follow, followed.creator
    due_at = creator.next_poll_at if creator and follow.status is FollowStatus.ACTIVE else None
    return FollowView(
        id=members.wire_id(follow.id),
        name=shorten(followed.name, _NAME),
        label=label_of(follow.provider),
        kind=follow.provider.lower(),
        is_paused=follow.status is FollowStatus.PAUSED,
        is_active=follow.status is FollowStatus.ACTIVE,
        condition=_judge(follow, creator, found, now),
        newest_at=creator.last_published_at if creator else None,
        checked_at=creator.last_polled_at if creator else None,
        next_at=due_at if due_at and due_at > now else None,
        interval=describe_interval(creator.interval_seconds) if creator else "",
    )


def view_connection(provider: Provider, connection: Connection | None, now: datetime) -> ConnectionView:
    needed = not access.is_keyless(provider)
    if connection is None:
        state = "off" if connections.is_configured(provider) else "missing"
        return ConnectionView(provider.value, LABELS[provider], state, needed)
    ends_at = connection.consent_ends_at
    return ConnectionView(
        provider.value,
        LABELS[provider],
        connection.status.value,
        needed,
        connection.connected_at,
        ends_at,
        ends_at is not None and ends_at - now < _ENDS_SOON,
        connection.last_refreshed_at,
    )


def list_offered(found: Connections, is_desk: bool, now: datetime) -> list[ConnectionView]:
    """Spotify lets an app that is being developed have five users, so members are not offered it."""
    shown = [view_connection(provider, found[provider], now) for provider in CONNECTED]
    return [one for one in shown if is_desk or one.provider != Provider.SPOTIFY or one.since]


def view_candidate(candidate: Candidate, provider: Provider) -> CandidateView:
    channel = candidate.channel
    count = channel.subscriber_count
    return CandidateView(
        channel.channel_id,
        shorten(channel.name or channel.channel_id, _NAME),
        provider.lower(),
        shorten(channel.description, _DESCRIPTION),
        "" if count is None else count_of(count, "subscriber"),
        candidate.is_followed,
    )


def view_notification(told: Notification) -> NotificationView:
    return NotificationView(
        members.wire_id(told.id),
        shorten(told.title, _TITLE),
        shorten(told.message, _MESSAGE),
        told.created_at,
        told.read_at is not None,
        told.resolved_at is not None,
        told.provider or "" if told.type in notifications.ABOUT_CONNECTION else "",
    )


def label_of(provider: Provider) -> str:
    """In words: few people know what RSS is."""
    return _FEED if provider is Provider.RSS else LABELS[provider]


def describe_interval(seconds: int) -> str:
    return _INTERVALS.get(seconds) or f"every {round(seconds / 3_600)} hours"


def is_pushed(creator: Creator | None, now: datetime) -> bool:
    """Whether its server tells us at once when something is new."""
    return creator is not None and creator.push_until is not None and creator.push_until > now


def can_use(provider: Provider, found: Connections) -> bool:
    """Whether the provider can be asked for somebody now."""
    return access.is_keyless(provider) or _is_active(found.get(provider))


def describe_failure(failure: GnaError) -> str:
    """Why something a person asked for was not done."""
    wait = " Please try again later" if isinstance(failure, TooMany | Unavailable) else ""
    return f"{failure.reason}.{wait}{'.' if wait else ''}"


def _judge(follow: Follow, creator: Creator | None, found: Connections, now: datetime) -> Condition:
    label = LABELS[follow.provider]
    if follow.status is FollowStatus.PAUSED:
        return Condition("Paused", "quiet")
    if follow.status is FollowStatus.DISCONNECTED:
        reason = follow.disconnected_reason or "The account was disconnected"
        return Condition("Disconnected", "bad", f"{reason}. Connect {label} again, and it goes on.")
    if not can_use(follow.provider, found):
        return Condition("Waiting", "warn", f"Waits until {label} is connected again.")
    return _judge_polls(label, creator, now)


def _judge_polls(label: str, creator: Creator | None, now: datetime) -> Condition:
    problem = shorten(creator.problem, _PROBLEM) if creator else ""
    if creator and creator.is_failing:
        why = problem or "There was no usable answer"
        return Condition("Failing", "bad", f"{why}. {count_of(creator.failures, 'attempt')} failed; we keep trying.")
    if creator and creator.not_before and creator.not_before > now:
        asked = "Its server" if creator.provider not in CONNECTED else label
        return Condition("Waiting", "warn", f"{asked} asked us to wait.")
    if creator and creator.failures:
        why = problem or "There was no usable answer"
        return Condition("Active", "good", f"The last attempt failed: {why}. We try again.")
    return Condition("Active", "good")


def _is_active(connection: Connection | None) -> bool:
    return connection is not None and connection.status is ConnectionStatus.ACTIVE
