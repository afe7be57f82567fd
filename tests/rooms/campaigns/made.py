"""Campaigns in any state, brought there by the way every campaign takes."""

from datetime import timedelta
from typing import Any

import boto3

from chalicelib.campaigns import service
from chalicelib.campaigns.model import Counts, State, Whole
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables


def soon() -> str:
    return clock.text(clock.now() + timedelta(hours=1))


def made(**changes: Any) -> Whole:
    return service.create(Draft(**{"subject": "Hello", "body": "<p>Hi</p>", **changes}))


def in_state(state: State) -> Whole:
    """A campaign brought there by the way every campaign takes."""
    whole = made()
    if state is State.SCHEDULED:
        return service.schedule(whole.campaign.id, soon())
    if state in (State.PUBLISHING, State.PUBLISHED):
        whole = service.send_now(whole.campaign.id)
    if state is State.PUBLISHED:
        whole = deliveries.finish(whole.deliveries[0], Counts(2, 2))
    return whole


def failed() -> Whole:
    sending = in_state(State.PUBLISHING)
    return deliveries.finish(sending.deliveries[0], Counts(2, 1, 0, 1))


def events() -> list[str]:
    items = boto3.client("dynamodb").scan(TableName=tables.name("events"))["Items"]
    return sorted(item["type"]["S"] for item in items)
