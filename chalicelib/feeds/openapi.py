"""The feeds part of the API's description."""

from typing import Any

_ERROR = {"$ref": "#/components/schemas/Error"}
_TIME = {"type": ["string", "null"], "format": "date-time"}
_TEXT = {"type": ["string", "null"]}
_NUMBER = {"type": "integer"}


def _json(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


_CHECK = _object(
    at={"type": "string", "format": "date-time"},
    trigger={"type": "string", "enum": ["schedule", "webhook", "websub", "admin"]},
    result={
        "type": "string",
        "enum": [
            "first",
            "unchanged",
            "nothing_new",
            "sent",
            "drafted",
            "failed",
            "busy",
            "resting",
            "stopped",
            "off",
        ],
    },
    said={"type": "string", "description": "The result in a sentence"},
    entries=_NUMBER,
    new=_NUMBER,
    campaign_id=_TEXT,
    took_ms=_NUMBER,
)
_ENTRY = _object(
    title={"type": "string"},
    excerpt={"type": "string"},
    link={"type": "string"},
    image={"type": "string"},
    published_at=_TIME,
)
_FEED = _object(
    url=_TEXT,
    mode={"type": "string", "enum": ["auto", "review"]},
    title=_TEXT,
    last_check=_TIME,
    result=_TEXT,
    said=_TEXT,
    next_check=_TIME,
    entries_seen=_NUMBER,
    last_entry_at=_TIME,
    failures_in_a_row=_NUMBER,
    stopped={"type": "boolean"},
    moved_to=_TEXT,
    hub=_TEXT,
    campaign_id=_TEXT,
    history={"type": "array", "items": _CHECK},
    entries={"type": "array", "items": _ENTRY, "description": "The latest, as they would be mailed"},
)
_TOKEN = {"name": "token", "in": "path", "required": True, "schema": {"type": "string"}}


def _header(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": True, "description": description, "schema": {"type": "string"}}


def _question(name: str) -> dict[str, Any]:
    return {"name": f"hub.{name}", "in": "query", "schema": {"type": "string"}}


PATHS: dict[str, Any] = {
    "/api/webhooks/feed": {
        "post": {
            "operationId": "feedWebhook",
            "summary": "Say that the feed has changed (Standard Webhooks)",
            "parameters": [
                _header("webhook-id", "Unique to this call"),
                _header("webhook-timestamp", "Seconds since 1970, at most five minutes off"),
                _header(
                    "webhook-signature", "v1, and HMAC-SHA256 of `id.timestamp.body` with WEBHOOK_SECRET in Base64"
                ),
            ],
            "responses": {
                "202": _json("The check is queued", _object(status={"type": "string", "const": "accepted"})),
                "401": _json("Signature or time are wrong", _ERROR),
                "409": _json("This call was taken before", _ERROR),
            },
        }
    },
    "/api/webhooks/websub/{token}": {
        "parameters": [_TOKEN],
        "get": {
            "operationId": "websubQuestion",
            "summary": "A hub asks whether a subscription was meant",
            "parameters": [_question(name) for name in ("mode", "topic", "challenge", "lease_seconds")],
            "responses": {
                "200": {"description": "The challenge", "content": {"text/plain": {"schema": {"type": "string"}}}},
                "404": _json("Nothing of the kind was asked for", _ERROR),
            },
        },
        "post": {
            "operationId": "websubPush",
            "summary": "A hub says that the feed has changed",
            "responses": {
                "202": {"description": "Taken; ignored without a valid signature"},
                "404": _json("No such subscription", _ERROR),
            },
        },
    },
    "/admin/api/feed": {
        "get": {
            "operationId": "showFeed",
            "summary": "The watched feed: state, history, latest entries",
            "responses": {"200": _json("The feed", _FEED)},
        }
    },
    "/admin/api/feed/check": {
        "post": {
            "operationId": "checkFeed",
            "summary": "Check the feed now",
            "responses": {"200": _json("What came of it", _CHECK)},
        }
    },
}
