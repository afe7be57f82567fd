"""Bounces as JSON."""

from typing import Annotated

from msgspec import Meta, Struct

from chalicelib.web.paging import PageBody
from chalicelib.web.schemas import EmailAddress, Id, Moment


class Bounce(Struct):
    subscriber_id: Id
    email: Annotated[EmailAddress, Meta(description="As it is now")]
    nickname: str | None
    reason: Annotated[str, Meta(description="`permanent`, `rejected` or `refused`, and SES's own word")]
    created_at: Moment
    delivery_id: Id | None


class BouncePage(PageBody):
    items: list[Bounce]
