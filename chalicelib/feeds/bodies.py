"""The feed as JSON, and what a hub asks."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from chalicelib.feeds.state import Result, Trigger
from chalicelib.web.schemas import Count, Id, Moment


class FeedEntry(Struct, frozen=True):
    """An entry as a reader sees it: plain text, not escaped yet, and http(s) URLs or empty text."""

    title: str
    excerpt: str
    link: str
    image: str
    published_at: Moment | None


class FeedCheck(Struct):
    at: Moment
    trigger: Trigger
    result: Result
    said: Annotated[str, Meta(description="The result in a sentence")]
    entries: Count
    new: Count
    campaign_id: Id | None
    took_ms: Count


class Feed(Struct):
    url: str | None
    mode: Literal["auto", "review"]
    title: str | None
    last_check: Moment | None
    result: Result | None
    said: str | None
    next_check: Moment | None
    entries_seen: Count
    last_entry_at: Annotated[Moment | None, Meta(description="Entries dated later are new")]
    failures_in_a_row: Count
    stopped: Annotated[bool, Meta(description="The feed is gone (410); only a manual check requests it again")]
    moved_to: Annotated[str | None, Meta(description="Where permanent redirects lead")]
    hub: str | None
    campaign_id: Annotated[Id | None, Meta(description="The latest campaign made from the feed")]
    history: Annotated[list[FeedCheck], Meta(description="The latest checks, up to a month back")]
    entries: Annotated[list[FeedEntry], Meta(description="The latest entries, as they would be emailed")]


class FeedAnnouncement(Struct):
    """The answer to a signed call."""

    status: str


class HubQuestion(Struct):
    """What a hub asks to verify a subscription, as query parameters."""

    mode: str = field(name="hub.mode", default="")
    topic: str = field(name="hub.topic", default="")
    challenge: Annotated[str, Meta(max_length=1024)] = field(name="hub.challenge", default="")
    lease_seconds: str = field(name="hub.lease_seconds", default="")
