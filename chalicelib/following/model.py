"""Creators, follows and connections: their states, and the rules for when a creator is polled. No input or output."""

import hashlib
import random
from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct, field

from chalicelib.feeds.reading.reader import Validators
from chalicelib.inbox.model import DESK, Provider, State

PROVIDERS = (Provider.YOUTUBE, Provider.SPOTIFY, Provider.RSS)
# Those that people connect their account with.
CONNECTED = (Provider.YOUTUBE, Provider.SPOTIFY)
LABELS = {Provider.YOUTUBE: "YouTube", Provider.SPOTIFY: "Spotify", Provider.RSS: "RSS"}

NOT_FOUND = "Follow not found"
MOST_FOLLOWS = {True: 2_000, False: 500}  # by whether it is the desk's

# An hour until something is known; then by how much was published in the last 30 days.
UNKNOWN_INTERVAL = 3_600
_RECENTLY = timedelta(days=30)
_INTERVALS = ((11, 3_600), (3, 14_400), (1, 43_200), (0, 86_400))
_JITTER = 0.1
# Where push has proven reliable, polling only makes up for what it misses.
FALLBACK_INTERVAL = 21_600
_FIRST_WAIT, _LONGEST_WAIT = timedelta(minutes=15), timedelta(hours=24)
FAILING = 3


class Cause(StrEnum):
    """Why a creator is polled."""

    SCHEDULE = "schedule"
    PUSH = "push"
    PERSON = "person"


class FollowStatus(StrEnum):
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    DISCONNECTED = "DISCONNECTED"
    UNSUBSCRIBED = "UNSUBSCRIBED"


class ConnectionStatus(StrEnum):
    """A refused refresh makes it `EXPIRED`, a second refusal an hour later `REVOKED`; connecting again, or a refresh
    that works after all, `ACTIVE`."""

    ACTIVE = "ACTIVE"
    EXPIRED = "EXPIRED"
    REVOKED = "REVOKED"


class Action(StrEnum):
    INBOX = "inbox"
    BOOKMARK = "bookmark"
    IGNORE = "ignore"


class Options(Struct, frozen=True):
    """What happens with new items of a follow."""

    action: Action = Action.INBOX
    newest_only: bool = False
    hide_shorts: bool = False

    @property
    def state(self) -> State:
        return State.BOOKMARKED if self.action is Action.BOOKMARK else State.INBOX


class Creator(Struct, frozen=True):
    """A channel, show or feed, and what is known of it between two polls. `not_before` is what the provider asked us
    to wait for; `floor` is the date below which an unknown item is an old one that has come back into view.
    `latest_item` is the newest item's id in the inbox, if that is known. `attempted_at` is when the last poll began,
    whatever became of it; `hub_since` when the feed last named another hub."""

    id: str
    provider: Provider
    channel_id: str
    name: str
    created_at: datetime
    refreshed_at: datetime
    updated_at: datetime
    description: str = ""
    image_url: str = ""
    external_url: str = ""
    handle: str = ""
    total_items: int | None = None
    last_published_at: datetime | None = None
    last_polled_at: datetime | None = None
    attempted_at: datetime | None = None
    interval_seconds: int = UNKNOWN_INTERVAL
    next_poll_at: datetime | None = None
    not_before: datetime | None = None
    failures: int = 0
    problem: str = ""
    floor: datetime | None = None
    latest_item: str = ""
    url: str = ""
    validators: Validators = field(default_factory=Validators)
    hub: str = ""
    topic: str = ""
    hub_since: datetime | None = None
    push_until: datetime | None = None
    found_by_push: int = 0
    found_by_poll: int = 0
    # Whether it is among those that are polled; kept by the store.
    is_polled: bool = False

    @property
    def is_failing(self) -> bool:
        return self.failures >= FAILING

    @property
    def push_is_trusted(self) -> bool:
        """Push has brought nine of ten finds, and enough of them to tell."""
        return self.found_by_push >= 5 and self.found_by_push >= 9 * self.found_by_poll


class Lease(Struct, frozen=True):
    """The right to poll a creator, for as long as a poll may take."""

    creator: Creator
    holder: str
    until: datetime


class Follower(Struct, frozen=True):
    """One who follows a creator, as the poll sees them. Whoever `is_new` gets the latest item and nothing before it;
    `since` is when they began to miss items, after a pause."""

    owner: str
    follow_id: str
    status: FollowStatus
    options: Options
    is_new: bool = False
    since: datetime | None = None


class Follow(Struct, frozen=True):
    owner: str
    id: str
    creator_id: str
    provider: Provider
    channel_id: str
    status: FollowStatus
    options: Options
    created_at: datetime
    updated_at: datetime
    disconnected_at: datetime | None = None
    disconnected_reason: str | None = None
    synced_at: datetime | None = None


class Followed(Struct, frozen=True):
    """A follow with the creator it is of. There is none any more if it was purged while nobody followed it."""

    follow: Follow
    creator: Creator | None

    @property
    def name(self) -> str:
        return self.creator.name if self.creator else self.follow.channel_id


class Page(Struct, frozen=True):
    items: tuple[Followed, ...]
    next_place: str | None


def creator_id(provider: Provider, channel_id: str) -> str:
    """The same for the same channel, whoever follows it: 32 hex digits."""
    return hashlib.sha256(f"creator\n{provider}\n{channel_id}".encode("utf-8", "replace")).hexdigest()[:32]


def is_desk(owner: str) -> bool:
    return owner == DESK


def interval(published: Iterable[datetime], now: datetime) -> int:
    """Seconds between two polls, by how much was published of late."""
    recent = sum(1 for moment in published if is_recent(moment, now))
    return next(seconds for least, seconds in _INTERVALS if recent >= least)


def is_recent(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and now - _RECENTLY <= moment <= now


def jitter(longest: timedelta) -> timedelta:
    """Up to so much, so that what waits for the same moment does not come at the same moment."""
    return longest * random.random()  # noqa: S311 - jitter, not a secret


def next_poll(creator: Creator, now: datetime) -> datetime:
    """After a poll that worked. Spread a little, so that what was followed together is not polled together for
    ever."""
    seconds = creator.interval_seconds
    if creator.push_is_trusted and creator.push_until and creator.push_until > now:
        seconds = max(seconds, FALLBACK_INTERVAL)
    jittered = seconds * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - jitter, not a secret
    return max(now + timedelta(seconds=jittered), creator.not_before or now)


def next_attempt(failures: int, now: datetime) -> datetime:
    """After so many polls in a row that failed: a quarter of an hour, doubled each time, a day at most."""
    doubled: timedelta = _FIRST_WAIT * 2 ** min(failures - 1, 10)
    return now + min(doubled, _LONGEST_WAIT)
