"""An example of every event as a receiver gets it, for the documentation and the OpenAPI document."""

from typing import Any

from chalicelib.events.model import EXAMPLES, Event, EventType
from chalicelib.events.webhooks import model

Part = dict[str, Any]

# Fixed values, so that documents made from the examples stay equal.
_EVENT_ID = "0193a5c2-8a44-7d21-b6c0-9e1f2a3b4c5d"
_SOURCE = "https://news.example.org"
_TIME = "2026-11-16T08:30:00.000Z"

_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")


def example(type: EventType) -> Part:
    """The body a receiver gets."""
    payload = EXAMPLES[type]
    aggregate_id = next(iter(payload.values()))
    event = Event(_EVENT_ID, str(aggregate_id), type, payload, _TIME)
    return {**model.envelope(event, None), "source": _SOURCE}


def describe_webhooks() -> Part:
    """The section `webhooks` of the OpenAPI document."""
    return {type.value: {"post": _call(type)} for type in EventType}


def _call(type: EventType) -> Part:
    return {
        "summary": type.replace("_", " ").capitalize(),
        "tags": ["webhooks"],
        "parameters": [
            {"name": name, "in": "header", "required": True, "schema": {"type": "string"}} for name in _HEADERS
        ],
        "requestBody": {"content": {"application/cloudevents+json": {"example": example(type)}}},
        "responses": {
            "2XX": {"description": "Received"},
            "410": {"description": "Gone: the webhook is disabled"},
            "default": {"description": "Not received: retried for about three days"},
        },
    }
