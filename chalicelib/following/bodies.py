"""Follows, connections, what there is to follow, and notifications as JSON. Times are in Unix milliseconds."""

import re
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from chalicelib.following.model import CONNECTED, PROVIDERS, Action, FollowStatus, Options
from chalicelib.kernel.errors import Invalid
from chalicelib.web import schemas
from chalicelib.web.cursors import CursorBody
from chalicelib.web.schemas import Id, Reads

LONGEST_URL = 2_000
LONGEST_SEARCH = 100
_LONGEST_CODE = 4_000
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}\Z")


def _check_state(value: Any) -> str:
    text = schemas.text("state").check(value)
    if not text or not _UUID.match(text):
        raise Invalid("state must be a UUID")
    return str(text.lower())


def _check_code(value: Any) -> str:
    text = schemas.text("code", _LONGEST_CODE).check(value)
    if not text or not text.isprintable():
        raise Invalid("code is required")
    return str(text)


def _check_verifier(value: Any) -> str:
    text = schemas.text("code_verifier").check(value)
    if not text or not _VERIFIER.match(text):
        raise Invalid("code_verifier must be 43 to 128 characters: letters, digits and -._~")
    return str(text)


def _check_options(value: Any) -> Any:
    if not isinstance(value, dict):
        raise Invalid("options must be an object")
    unknown = set(value) - {"action", "newest_only", "hide_shorts"}
    if unknown:
        raise Invalid("options has fields that do not exist")
    return schemas.read(OptionChanges, value)


ProviderName = Literal["YOUTUBE", "SPOTIFY", "RSS"]
ConnectedName = Literal["YOUTUBE", "SPOTIFY"]
Milliseconds = Annotated[int, Meta(description="Unix time in milliseconds", examples=[1794902400000])]
State = Annotated[str, Meta(extra_json_schema={"format": "uuid"}), Reads(_check_state)]


class NewState(Struct):
    provider: Annotated[ConnectedName, schemas.choice("provider", CONNECTED)]
    state: Annotated[State, Meta(description="Made by the page that begins to connect")]


class Callback(Struct):
    provider: Annotated[ConnectedName, schemas.choice("provider", CONNECTED)]
    code: Annotated[str, Meta(min_length=1, max_length=_LONGEST_CODE), Reads(_check_code)]
    state: State
    code_verifier: Annotated[
        str,
        Meta(min_length=43, max_length=128, description="Of PKCE; the challenge was made from it"),
        Reads(_check_verifier),
    ]


class Done(Struct):
    success: bool = True


class Synced(Struct):
    items_found: int
    success: bool = True


class ConnectionInfo(Struct):
    """`expires_at` is the end of the access token, which is renewed by itself; `consent_ends_at` that of the
    connection, where the provider sets one."""

    provider: ConnectedName
    status: Literal["ACTIVE", "EXPIRED", "REVOKED"]
    connected_at: Milliseconds
    last_refreshed_at: Milliseconds | None
    expires_at: Milliseconds
    consent_ends_at: Milliseconds | None


class Connections(Struct):
    YOUTUBE: ConnectionInfo | None
    SPOTIFY: ConnectionInfo | None


class Candidate(Struct):
    provider_channel_id: str
    name: str
    description: str | None
    image_url: str | None
    subscriber_count: int | None
    is_subscribed: bool


class SearchQuery(Struct):
    q: Annotated[str, Meta(min_length=1, max_length=LONGEST_SEARCH)]
    limit: Annotated[int, Meta(ge=1, le=50)] = 20


class FollowQuery(Struct):
    provider: Annotated[ProviderName, schemas.choice("provider", PROVIDERS)] | UnsetType = UNSET
    status: (
        Annotated[
            Literal["ACTIVE", "PAUSED", "DISCONNECTED", "UNSUBSCRIBED"],
            Meta(description="Without it, all but UNSUBSCRIBED"),
            schemas.choice("status", FollowStatus),
        ]
        | UnsetType
    ) = UNSET


class NewFollow(Struct):
    """A provider with the id of a channel, or a URL."""

    provider: Annotated[ProviderName, schemas.choice("provider", PROVIDERS)] | UnsetType = UNSET
    provider_channel_id: Annotated[str, Meta(max_length=LONGEST_URL)] | UnsetType = UNSET
    url: (
        Annotated[
            str,
            Meta(
                max_length=LONGEST_URL,
                description="A channel, a handle, a show, a feed, or a page that names its feed",
                examples=["https://www.youtube.com/@example"],
            ),
        ]
        | UnsetType
    ) = UNSET


class OptionChanges(Struct):
    """What is not sent stays as it is."""

    action: (
        Annotated[
            Literal["inbox", "bookmark", "ignore"],
            Meta(description="Where new items go; ignored ones count as seen"),
            schemas.choice("action", Action),
        ]
        | UnsetType
    ) = UNSET
    newest_only: (
        Annotated[bool, Meta(description="Of several new items only the newest; older ones leave the inbox")]
        | UnsetType
    ) = UNSET
    hide_shorts: Annotated[bool, Meta(description="Of YouTube, only long videos and streams")] | UnsetType = UNSET


class FollowChanges(Struct):
    options: Annotated[OptionChanges, Reads(_check_options)]


class FollowOptions(Struct):
    action: Literal["inbox", "bookmark", "ignore"]
    newest_only: bool
    hide_shorts: bool


class Follow(Struct):
    """`provider_channel_id` of a feed is its URL. `last_polled_at` is the last poll that worked."""

    id: Id
    provider: ProviderName
    provider_channel_id: str
    creator_id: str
    name: str
    description: str | None
    image_url: str | None
    external_url: str | None
    total_items: int | None
    last_published_at: Milliseconds | None
    last_polled_at: Milliseconds | None
    poll_interval_seconds: int
    status: Literal["ACTIVE", "PAUSED", "DISCONNECTED", "UNSUBSCRIBED"]
    disconnected_at: Milliseconds | None
    disconnected_reason: str | None
    created_at: Milliseconds
    updated_at: Milliseconds
    options: FollowOptions


class FollowPage(CursorBody):
    items: list[Follow]


class OpmlFile(Struct):
    """Or the file itself, as text/x-opml or application/xml."""

    opml: Annotated[str, Meta(description="The file as text", examples=['<opml version="2.0">…</opml>'])]


class ImportResult(Struct, omit_defaults=True):
    url: str
    ok: bool
    follow_id: Annotated[str | None, Meta(description="If it is followed now")] = None
    error: Annotated[str | None, Meta(description="Only if it cannot be followed")] = None
    queued: Annotated[bool, Meta(description="It is followed in the next minutes")] = False


class ImportResults(Struct):
    results: list[ImportResult]


class Notification(Struct):
    id: Id
    type: Literal["connection_expired", "connection_revoked", "connection_ending", "poll_failures", "quota_warning"]
    provider: ProviderName | None
    title: str
    message: str
    data: dict[str, str | int | None]
    read_at: Milliseconds | None
    resolved_at: Milliseconds | None
    created_at: Milliseconds


class NotificationPage(CursorBody):
    items: list[Notification]


def merge_options(before: Options, changes: OptionChanges) -> Options:
    return Options(
        before.action if changes.action is UNSET else Action(changes.action),
        before.newest_only if changes.newest_only is UNSET else changes.newest_only,
        before.hide_shorts if changes.hide_shorts is UNSET else changes.hide_shorts,
    )
