"""The feed as JSON, and what a hub asks."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from chalicelib.feeds.state import Result, Trigger
from chalicelib.kernel.errors import Invalid
from chalicelib.web import schemas
from chalicelib.web.schemas import Count, Id, Moment, Reads

MOST_NAMED, _LONGEST_NAME = 50, 64


def _check_names(value: Any) -> list[str]:
    is_list = isinstance(value, list) and 0 < len(value) <= MOST_NAMED
    if not is_list or not all(isinstance(name, str) and len(name) <= _LONGEST_NAME for name in value):
        raise Invalid(f"entries must be a list of 1–{MOST_NAMED} ids")
    return list(value)


class FeedEntry(Struct, frozen=True):
    """An entry as a reader sees it: plain text, not escaped yet, and http(s) URLs or empty text."""

    title: str
    excerpt: str
    link: str
    image: str
    published_at: Moment | None


class WaitingEntry(Struct):
    """A post that was found and is not emailed yet."""

    id: Annotated[str, Meta(description="To send or cancel it by")]
    title: str
    link: str
    published_at: Moment | None
    found_at: Moment
    due_at: Annotated[Moment | None, Meta(description="When it goes out unless it is cancelled")]


class WaitingAct(Struct):
    """What to do with posts that wait. To send one post of a digest sends all of it."""

    action: Annotated[Literal["send", "cancel"], schemas.choice("action", ("send", "cancel"))]
    entries: Annotated[list[str], Meta(min_length=1, max_length=MOST_NAMED), Reads(_check_names)]


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
    digest: Literal["off", "daily", "weekly"]
    hold: Annotated[int, Meta(description="Minutes that a new post waits")]
    next_digest: Moment | None
    waiting: Annotated[list[WaitingEntry], Meta(description="Posts that are not emailed yet, the latest first")]
    waiting_more: Annotated[Count, Meta(description="How many others wait for the digest")]
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
