"""What the admin's OpenAPI document says about webhooks: the calls that manage them, and what they send."""

from typing import Any

from chalicelib.events.model import EXAMPLES, Event, EventType
from chalicelib.events.webhooks import model

Part = dict[str, Any]

# The example of every document: fixed, so that documents made from it stay equal.
_EVENT_ID = "0193a5c2-8a44-7d21-b6c0-9e1f2a3b4c5d"
_SOURCE = "https://news.example.org"
_TIME = "2026-11-16T08:30:00.000Z"

_WEBHOOK_FIELDS: Part = {
    "url": {"type": "string", "format": "uri", "description": "https, on the public internet"},
    "types": {
        "type": "array",
        "items": {"type": "string", "enum": list(EventType)},
        "description": "Empty means all types",
    },
    "description": {"type": "string", "maxLength": 200},
    "include_address": {
        "type": "boolean",
        "default": False,
        "description": "Add `email` to events about a subscriber, as long as the subscriber exists",
    },
}

SCHEMAS: Part = {
    "Webhook": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            **_WEBHOOK_FIELDS,
            "state": {"type": "string", "enum": [model.ACTIVE, model.PAUSED, model.DISABLED]},
            "reason": {"type": ["string", "null"], "description": "Why it was disabled"},
            "failing_since": {"type": ["string", "null"], "format": "date-time"},
            "previous_secret_until": {"type": ["string", "null"], "format": "date-time"},
            "created_at": {"type": "string", "format": "date-time"},
        },
    },
    "WebhookWithSecret": {
        "allOf": [
            {"$ref": "#/components/schemas/Webhook"},
            {"type": "object", "properties": {"secret": {"type": "string", "description": "Shown only once"}}},
        ]
    },
    "Attempt": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "event_id": {"type": "string", "format": "uuid"},
            "type": {"type": "string"},
            "at": {"type": "string", "format": "date-time"},
            "number": {"type": "integer", "minimum": 1},
            "ok": {"type": "boolean"},
            "status": {"type": ["integer", "null"]},
            "error": {"type": ["string", "null"]},
            "milliseconds": {"type": "integer"},
        },
    },
}


def example(type: EventType) -> Part:
    """The body a receiver gets."""
    payload = EXAMPLES[type]
    about = next(iter(payload.values()))
    event = Event(_EVENT_ID, str(about), type, payload, _TIME)
    return {**model.envelope(event, None), "source": _SOURCE}


def _answer(description: str, schema: Part | None = None) -> Part:
    content = {"content": {"application/json": {"schema": schema}}} if schema else {}
    return {"description": description, **content}


def _call(summary: str, answers: Part, body: Part | None = None) -> Part:
    asked = {"requestBody": {"content": {"application/json": {"schema": body}}}} if body else {}
    return {"summary": summary, "tags": ["webhooks"], **asked, "responses": answers}


def _object(**properties: Part) -> Part:
    return {"type": "object", "properties": properties}


def _ref(name: str) -> Part:
    return {"$ref": f"#/components/schemas/{name}"}


def _items(name: str) -> Part:
    return _object(items={"type": "array", "items": _ref(name)})


_NOT_FOUND = {"404": _answer("No such webhook")}
_INVALID = {"400": _answer("Invalid request; see `error`")}
_ID = {"name": "webhook_id", "in": "path", "required": True, "schema": {"type": "string", "format": "uuid"}}
_MOMENT = {"type": "string", "format": "date-time"}

PATHS: Part = {
    "/admin/api/webhooks": {
        "get": _call("List webhooks", {"200": _answer("All webhooks", _items("Webhook"))}),
        "post": _call(
            "Add a webhook",
            {"201": _answer("With its secret", _ref("WebhookWithSecret")), **_INVALID, "409": _answer("Too many")},
            {**_object(**_WEBHOOK_FIELDS), "required": ["url"]},
        ),
    },
    "/admin/api/webhooks/{webhook_id}": {
        "parameters": [_ID],
        "get": _call("Get a webhook", {"200": _answer("The webhook", _ref("Webhook")), **_NOT_FOUND}),
        "patch": _call(
            "Change, pause, resume or enable a webhook",
            {"200": _answer("The updated webhook", _ref("Webhook")), **_INVALID, **_NOT_FOUND},
            _object(**_WEBHOOK_FIELDS, paused={"type": "boolean"}),
        ),
        "delete": _call("Remove a webhook", {"204": _answer("Removed"), **_NOT_FOUND}),
    },
    "/admin/api/webhooks/{webhook_id}/rotate": {
        "parameters": [_ID],
        "post": _call(
            "Rotate the secret; the old one signs too for 24 hours",
            {
                "200": _answer("With its new secret", _ref("WebhookWithSecret")),
                **_NOT_FOUND,
                "409": _answer("Rotated too often today, or by someone else just now"),
            },
        ),
    },
    "/admin/api/webhooks/{webhook_id}/test": {
        "parameters": [_ID],
        "post": _call("Send a TEST event now", {"200": _answer("The result", _ref("Attempt")), **_NOT_FOUND}),
    },
    "/admin/api/webhooks/{webhook_id}/replay": {
        "parameters": [_ID],
        "post": _call(
            "Replay one event, or all events in a time range",
            {"202": _answer("Runs in the background"), **_INVALID, **_NOT_FOUND, "409": _answer("It is disabled")},
            {
                "oneOf": [
                    {**_object(event_id={"type": "string", "format": "uuid"}), "required": ["event_id"]},
                    {**_object(**{"from": _MOMENT, "to": _MOMENT}), "required": ["from", "to"]},
                ]
            },
        ),
    },
    "/admin/api/webhooks/{webhook_id}/attempts": {
        "parameters": [_ID],
        "get": {
            **_call(
                "List attempts of the last 7 days, newest first",
                {"200": _answer("A page", _items("Attempt")), **_INVALID, **_NOT_FOUND},
            ),
            "parameters": [
                {"name": "before", "in": "query", "schema": {"type": "string", "format": "uuid"}},
                {"name": "per_page", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100}},
            ],
        },
    },
}


def _sent(type: EventType) -> Part:
    headers = ("webhook-id", "webhook-timestamp", "webhook-signature")
    return {
        "summary": f"{type.replace('_', ' ').capitalize()}",
        "tags": ["webhooks"],
        "parameters": [
            {"name": name, "in": "header", "required": True, "schema": {"type": "string"}} for name in headers
        ],
        "requestBody": {"content": {"application/cloudevents+json": {"example": example(type)}}},
        "responses": {
            "2XX": {"description": "Received"},
            "410": {"description": "Gone: the webhook is disabled"},
            "default": {"description": "Not received: retried for about three days"},
        },
    }


WEBHOOKS: Part = {type.value: {"post": _sent(type)} for type in EventType}
