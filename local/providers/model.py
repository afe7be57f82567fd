"""Channels with their videos, shows with their episodes: what the small providers have to tell about."""

from dataclasses import dataclass
from datetime import UTC, datetime

# How a video can be published, and what a person chooses from.
VIDEO_KINDS = {
    "normal": "A video, public at once",
    "short": "A short, public at once",
    "upcoming": "A premiere: listed at once, starts later",
    "scheduled": "Scheduled: private now, public later",
    "private": "Private",
}
EPISODE_KINDS = {
    "normal": "Released today",
    "upcoming": "Listed at once, released on a later day",
    "hidden": "Not available in this market: listed as nothing",
}


@dataclass(frozen=True)
class Channel:
    id: str
    title: str
    handle: str
    description: str
    created: float
    subscribers: int
    listed: bool = True  # the account's own channel is on no list

    @property
    def uploads(self) -> str:
        return "UU" + self.id[2:]


@dataclass(frozen=True)
class Video:
    """`state`: public, private, scheduled (private until `published`), premiere (listed, but not to be seen before
    `published`), or deleted with its entry still in the playlist. `place` is the order of uploading."""

    id: str
    channel_id: str
    title: str
    description: str
    seconds: int
    short: bool
    state: str
    place: int
    uploaded: float
    published: float
    updated: float

    @property
    def is_public(self) -> bool:
        return self.state in ("public", "premiere")

    @property
    def public_since(self) -> float:
        """A premiere is public from its announcement on, and gets another date when it starts."""
        return self.uploaded if self.state == "premiere" else self.published


@dataclass(frozen=True)
class Show:
    id: str
    name: str
    description: str
    oldest_first: bool = False


@dataclass(frozen=True)
class Episode:
    """`released` is as precise as the show says: a day, a month or a year. A hidden one is listed as null."""

    id: str
    show_id: str
    name: str
    description: str
    seconds: int
    released: str
    hidden: bool
    place: int

    @property
    def precision(self) -> str:
        return ("year", "month", "day")[self.released.count("-")]


def instant(moment: float) -> str:
    """RFC 3339 in UTC, to the second."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).date().isoformat()
