"""Bounces as JSON."""

from typing import Annotated

from msgspec import Meta, Struct

from chalicelib.bounces.model import Kind
from chalicelib.web.paging import PageBody
from chalicelib.web.schemas import Count, EmailAddress, Id, Moment


class Bounce(Struct):
    subscriber_id: Id
    email: Annotated[EmailAddress, Meta(description="As it is now")]
    nickname: str | None
    reason: Annotated[str, Meta(description="`permanent`, `rejected` or `refused`, and SES's own word")]
    kind: Annotated[Kind, Meta(description="`hard` and `suppressed`: the next email would bounce as well")]
    created_at: Moment
    delivery_id: Id | None
    paused_at: Annotated[Moment | None, Meta(description="Since when they get no campaigns")]


class BouncePage(PageBody):
    items: list[Bounce]


class SettlingStarted(Struct):
    people: Annotated[Count, Meta(description="How many there were when it started")]
