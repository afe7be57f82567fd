"""A webhook: where events go, which of them, what an editor may set, and how long we retry."""

import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from chalicelib.events.model import Event, EventType
from chalicelib.kernel import clock, settings
from chalicelib.kernel.errors import Invalid
from chalicelib.web.schemas import Reads

BUS = "eventbridge"
TEST = "TEST"

LONGEST_PAGE = 100  # of attempts
MOST = 20
MOST_PREVIOUS = 5
OVERLAP = timedelta(hours=24)
HISTORY = timedelta(days=7)
PATIENCE = timedelta(days=3)

_LONGEST_DESCRIPTION = 200
_JITTER = 0.1
_LONGEST_ASKED_WAIT = 86_400

# The waits the Standard Webhooks specification suggests: three days from the first to the last attempt.
_SCHEDULE = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)


class WebhookState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    DISABLED = "disabled"


ACTIVE, PAUSED, DISABLED = WebhookState


def check_url(given: object) -> str:
    """Whether it can be reached is for the service to find out."""
    if not isinstance(given, str) or not given.strip():
        raise Invalid("url is required")
    return given.strip()


def check_types(given: object) -> list[EventType]:
    if given is None:
        return []
    if not isinstance(given, list) or not all(type in tuple(EventType) for type in given):
        raise Invalid(f"types must be a list of: {', '.join(EventType)}")
    return [EventType(type) for type in given]


def check_description(given: object) -> str:
    if given is None:
        return ""
    if not isinstance(given, str) or len(given) > _LONGEST_DESCRIPTION:
        raise Invalid(f"description must be text of at most {_LONGEST_DESCRIPTION} characters")
    return given


Url = Annotated[
    str,
    Meta(
        description="https, on the public internet",
        examples=["https://shop.example.org/hooks/newsletter"],
        extra_json_schema={"format": "uri"},
    ),
    Reads(check_url),
]
Types = Annotated[
    list[EventType], Meta(description="Empty means all types", examples=[["UNSUBSCRIBED"]]), Reads(check_types)
]
Description = Annotated[str, Meta(max_length=_LONGEST_DESCRIPTION, examples=["Shop"]), Reads(check_description)]
IncludeAddress = Annotated[
    bool, Meta(description="Add `email` to events about a subscriber, as long as the subscriber exists")
]


class NewWebhook(Struct, frozen=True):
    url: Url
    types: Types = []
    description: Description = ""
    include_address: IncludeAddress = False


class WebhookEdits(Struct, frozen=True):
    """`paused` false also enables a webhook that was disabled."""

    url: Url | UnsetType = UNSET
    types: Types | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    include_address: IncludeAddress | UnsetType = UNSET
    paused: bool | UnsetType = UNSET


class Webhook(Struct, frozen=True, kw_only=True):
    """`types` empty means every type. `key` names the signing secret, which is stored nowhere. `notice_pending`: the
    admin has yet to be mailed that it was disabled."""

    id: str
    url: str
    types: frozenset[str]
    description: str
    include_address: bool
    state: WebhookState = WebhookState.ACTIVE
    reason: str | None = None
    key: str
    previous: tuple["PreviousKey", ...] = ()
    failing_since: str | None = None
    resume_at: str | None = None
    notice_pending: bool = False
    created_at: str

    def keys(self, moment: datetime) -> list[str]:
        """The keys that sign now: several while a rotation overlaps."""
        return [self.key, *(previous.key for previous in self.live_previous(moment))]

    def live_previous(self, moment: datetime) -> tuple["PreviousKey", ...]:
        return tuple(previous for previous in self.previous if previous.until > clock.text(moment))

    @property
    def previous_until(self) -> str | None:
        return max((previous.until for previous in self.previous), default=None)

    def wants(self, type: str) -> bool:
        return self.state != DISABLED and (not self.types or type in self.types)

    def ready(self, moment: datetime) -> bool:
        return self.state == ACTIVE and (self.resume_at is None or self.resume_at <= clock.text(moment))


class PreviousKey(Struct, frozen=True):
    """A key that was replaced, and until when it still signs."""

    key: str
    until: str


class Owed(Struct, frozen=True):
    """An event on its way to one destination."""

    event: Event
    attempts: int
    due_at: str


class Result(Struct, frozen=True):
    """The outcome of one attempt. `error` is our own wording, never text of the other side."""

    ok: bool
    status: int | None
    error: str | None
    milliseconds: int
    retry_after: int = 0

    @property
    def gone(self) -> bool:
        return self.status == 410


class Attempt(Struct, frozen=True):
    id: str
    event_id: str
    type: str
    at: str
    number: int
    result: Result


def next_wait(attempts: int, retry_after: int = 0) -> float | None:
    """Seconds until the next attempt after this many failed ones, with jitter; None means give up."""
    if attempts > len(_SCHEDULE):
        return None
    seconds = _SCHEDULE[attempts - 1] * random.uniform(1, 1 + _JITTER)  # noqa: S311 - jitter, not a secret
    return max(seconds, min(retry_after, _LONGEST_ASKED_WAIT))


def rest_time(failing_since: str, moment: datetime) -> timedelta:
    """How long to leave an endpoint alone that fails for every event: longer the longer it has failed."""
    failing = moment - clock.parse(failing_since)
    return min(max(failing / 2, timedelta(minutes=1)), timedelta(hours=1))


def envelope(event: Event, address: str | None) -> Mapping[str, object]:
    """The event in the form of CloudEvents 1.0. The address is given only to webhooks that asked for it."""
    data = dict(event.payload) | ({"email": address} if address else {})
    return {
        "specversion": "1.0",
        "id": event.id,
        "source": settings.current().site_url,
        "type": event.type,
        "subject": event.aggregate_id,
        "time": event.created_at,
        "datacontenttype": "application/json",
        "data": data,
    }
