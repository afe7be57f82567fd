"""A webhook: where events go, which of them, and how patient we are with it."""

import random
from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from chalicelib.events.model import Event, EventType
from chalicelib.kernel import clock, settings
from chalicelib.kernel.errors import Invalid

ACTIVE, PAUSED, DISABLED = "active", "paused", "disabled"
BUS = "eventbridge"
TEST = "TEST"

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


class Webhook(Struct, frozen=True):
    """`types` empty means every type. `key` names the signing secret, which is kept nowhere. `untold`: the admin
    has yet to be mailed that it was disabled."""

    id: str
    url: str
    types: frozenset[str]
    description: str
    include_address: bool
    state: str
    reason: str | None
    key: str
    previous: tuple["Previous", ...]
    failing_since: str | None
    resume_at: str | None
    untold: bool
    created_at: str

    def keys(self, moment: datetime) -> list[str]:
        """Whatever signs now: while a rotation overlaps, several do."""
        return [self.key, *(one.key for one in self.live_previous(moment))]

    def live_previous(self, moment: datetime) -> tuple["Previous", ...]:
        return tuple(one for one in self.previous if one.until > clock.text(moment))

    @property
    def previous_until(self) -> str | None:
        return max((one.until for one in self.previous), default=None)

    def wants(self, type: str) -> bool:
        return self.state != DISABLED and (not self.types or type in self.types)

    def ready(self, moment: datetime) -> bool:
        return self.state == ACTIVE and (self.resume_at is None or self.resume_at <= clock.text(moment))


class Previous(Struct, frozen=True):
    """A key that was replaced, and until when it signs too."""

    key: str
    until: str


class Owed(Struct, frozen=True):
    """An event on its way to one destination."""

    event: Event
    attempts: int
    due_at: str


class Result(Struct, frozen=True):
    """What came of one try. `error` is a reason of ours, never what the other side said."""

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
    """Seconds until the next attempt after so many failed ones, never in step with others; None: give up."""
    if attempts > len(_SCHEDULE):
        return None
    seconds = _SCHEDULE[attempts - 1] * random.uniform(1, 1 + _JITTER)  # noqa: S311 - jitter, not a secret
    return max(seconds, min(retry_after, _LONGEST_ASKED_WAIT))


def rest_time(failing_since: str, moment: datetime) -> timedelta:
    """How long to leave an endpoint alone that fails whatever it is sent: longer the longer it has failed."""
    failing = moment - clock.parse(failing_since)
    return min(max(failing / 2, timedelta(minutes=1)), timedelta(hours=1))


def parse_types(given: object) -> frozenset[str]:
    if given is None:
        return frozenset()
    if not isinstance(given, list) or not all(type in tuple(EventType) for type in given):
        raise Invalid(f"types must be a list of: {', '.join(EventType)}")
    return frozenset(given)


def parse_description(given: object) -> str:
    if given is None:
        return ""
    if not isinstance(given, str) or len(given) > _LONGEST_DESCRIPTION:
        raise Invalid(f"description must be text of at most {_LONGEST_DESCRIPTION} characters")
    return given


def parse_flag(name: str, given: object) -> bool:
    if not isinstance(given, bool):
        raise Invalid(f"{name} must be true or false")
    return given


def envelope(event: Event, address: str | None) -> Mapping[str, object]:
    """The event as CloudEvents 1.0 has it. The address is there only for who asked, and only while it exists."""
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
