"""Campaigns made over the JSON API, and brought into any state by it."""

from typing import Any

from chalicelib.campaigns import service
from chalicelib.campaigns.model import Counts
from chalicelib.campaigns.sending import deliveries
from tests.rooms.campaigns.examples import soon

API = "/admin/api/campaigns"
UNKNOWN = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"


def created(admin: Any, **fields: Any) -> dict[str, Any]:
    answer = admin.post(API, json={"subject": "Hello", "body": "<p>Hi {{nickname|you}}</p>", **fields})
    assert answer.status == 201
    return answer.json


def in_state(admin: Any, state: str) -> dict[str, Any]:
    campaign = created(admin)
    url = f"{API}/{campaign['id']}"
    if state == "scheduled":
        return admin.post(f"{url}/schedule", json={"scheduled_at": soon()}).json
    if state in ("publishing", "published", "failed"):
        campaign = admin.post(f"{url}/send", json={}).json
    if state == "published":
        deliveries.finish(service.view(campaign["id"]).deliveries[0], Counts(3, 3))
    if state == "failed":
        deliveries.finish(service.view(campaign["id"]).deliveries[0], Counts(3, 1), "Sending is paused in SES")
    return admin.get(url).json
