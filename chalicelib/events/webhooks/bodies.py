"""Webhooks as JSON. What an editor sends to add or change one is in `model`."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from chalicelib.events.webhooks import model
from chalicelib.events.webhooks.model import Description, IncludeAddress, Types, Url, WebhookState
from chalicelib.kernel.errors import Invalid
from chalicelib.web.schemas import Count, Id, Moment, Reads

_DEFAULT_PAGE = 50


class Webhook(Struct):
    id: Id
    url: Url
    types: Types
    description: Description
    include_address: IncludeAddress
    state: WebhookState
    reason: Annotated[str | None, Meta(description="Why it was disabled", examples=["it returned 410 Gone"])]
    failing_since: Moment | None
    previous_secret_until: Moment | None
    created_at: Moment


class WebhookWithSecret(Webhook):
    secret: Annotated[str, Meta(description="Shown only once", examples=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])]


class WebhookList(Struct):
    items: list[Webhook]


class Attempt(Struct):
    id: Id
    event_id: Id
    type: Annotated[str, Meta(examples=["UNSUBSCRIBED"])]
    at: Moment
    number: Annotated[int, Meta(ge=1)]
    ok: bool
    status: int | None
    error: str | None
    milliseconds: Count


class AttemptList(Struct):
    items: list[Attempt]


def check_per_page(given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) < 4 and 1 <= int(given) <= model.LONGEST_PAGE):
        raise Invalid(f"per_page must be a number from 1 to {model.LONGEST_PAGE}")
    return int(given)


class AttemptQuery(Struct):
    before: Annotated[Id, Meta(description="The id of the last attempt of the page before")] | UnsetType = UNSET
    per_page: Annotated[int, Meta(ge=1, le=model.LONGEST_PAGE), Reads(check_per_page)] = _DEFAULT_PAGE


class EventReplay(Struct):
    event_id: Id


class RangeReplay(Struct):
    start: Moment = field(name="from")
    end: Moment = field(name="to")


class Accepted(Struct):
    status: Annotated[str, Meta(examples=["queued"])]
