"""Campaigns in any state, brought there by the way every campaign takes."""

from datetime import timedelta
from typing import Any

import boto3

from chalicelib.campaigns import service
from chalicelib.campaigns.model import CampaignDetail, Counts, State
from chalicelib.campaigns.sending import deliveries
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables


def soon(**more: float) -> str:
    return clock.text(clock.now() + timedelta(**(more or {"hours": 1})))


def new_campaign(**changes: Any) -> CampaignDetail:
    return service.create(Draft(**{"subject": "Hello", "body": "<p>Hi</p>", **changes}))


def in_state(state: State) -> CampaignDetail:
    """A campaign brought there by the way every campaign takes."""
    detail = new_campaign()
    if state is State.SCHEDULED:
        return service.schedule(detail.campaign.id, soon())
    if state in (State.PUBLISHING, State.PUBLISHED):
        detail = service.send_now(detail.campaign.id)
    if state is State.PUBLISHED:
        detail = deliveries.finish(detail.deliveries[0], Counts(2, 2))
    return detail


def failed() -> CampaignDetail:
    sending = in_state(State.PUBLISHING)
    return deliveries.finish(sending.deliveries[0], Counts(2, 1, 0, 1))


def events() -> list[str]:
    items = boto3.client("dynamodb").scan(TableName=tables.name("events"))["Items"]
    return sorted(item["type"]["S"] for item in items)
