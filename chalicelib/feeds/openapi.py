"""What the OpenAPI document says about the feed and those who may hurry its check."""

from typing import Any

from chalicelib.feeds.state import Result, Trigger

Part = dict[str, Any]

_TEXT: Part = {"type": "string"}
_TEXT_OR_NONE: Part = {"type": ["string", "null"]}
_TIME: Part = {"type": "string", "format": "date-time"}
_TIME_OR_NONE: Part = {"type": ["string", "null"], "format": "date-time"}
_COUNT: Part = {"type": "integer", "minimum": 0}


def _object(**properties: Part) -> Part:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _array(name: str, description: str) -> Part:
    return {"type": "array", "items": _ref(name), "description": description}


def _ref(name: str) -> Part:
    return {"$ref": f"#/components/schemas/{name}"}


def _answer(description: str, schema: Part | None = None) -> Part:
    content = {"content": {"application/json": {"schema": schema}}} if schema else {}
    return {"description": description, **content}


def _call(id: str, summary: str, answers: Part, parameters: list[Part] | None = None) -> Part:
    asked = {"parameters": parameters} if parameters else {}
    return {"operationId": id, "summary": summary, "tags": ["feed"], **asked, "responses": answers}


def _header(name: str, description: str) -> Part:
    return {"name": name, "in": "header", "required": True, "description": description, "schema": _TEXT}


SCHEMAS: Part = {
    "Feed": _object(
        url=_TEXT_OR_NONE,
        mode={"type": "string", "enum": ["auto", "review"]},
        title=_TEXT_OR_NONE,
        last_check=_TIME_OR_NONE,
        result={"type": ["string", "null"], "enum": [*Result, None]},
        said=_TEXT_OR_NONE,
        next_check=_TIME_OR_NONE,
        entries_seen=_COUNT,
        last_entry_at={**_TIME_OR_NONE, "description": "Entries dated later are new"},
        failures_in_a_row=_COUNT,
        stopped={"type": "boolean", "description": "The feed is gone (410); only a manual check requests it again"},
        moved_to={**_TEXT_OR_NONE, "description": "Where permanent redirects lead"},
        hub=_TEXT_OR_NONE,
        campaign_id={**_TEXT_OR_NONE, "description": "The latest campaign made from the feed"},
        history=_array("FeedCheck", "The latest checks, up to a month back"),
        entries=_array("FeedEntry", "The latest entries, as they would be emailed"),
    ),
    "FeedCheck": _object(
        at=_TIME,
        trigger={"type": "string", "enum": list(Trigger)},
        result={"type": "string", "enum": list(Result)},
        said={"type": "string", "description": "The result in a sentence"},
        entries=_COUNT,
        new=_COUNT,
        campaign_id=_TEXT_OR_NONE,
        took_ms=_COUNT,
    ),
    "FeedEntry": _object(title=_TEXT, excerpt=_TEXT, link=_TEXT, image=_TEXT, published_at=_TIME_OR_NONE),
}

PATHS: Part = {
    "/api/webhooks/feed": {
        "post": _call(
            "announcePost",
            "Announce that the feed has changed, signed as in Standard Webhooks",
            {
                "202": _answer("The check is queued", _object(status=_TEXT)),
                "401": _answer("Invalid signature or timestamp"),
                "409": _answer("This call was already received"),
            },
            [
                _header("webhook-id", "Unique to this call"),
                _header("webhook-timestamp", "Seconds since 1970, at most five minutes off"),
                _header("webhook-signature", "`v1,` and Base64 of HMAC-SHA256 over `id.timestamp.body`"),
            ],
        )
    },
    "/api/webhooks/websub/{token}": {
        "parameters": [{"name": "token", "in": "path", "required": True, "schema": _TEXT}],
        "get": _call(
            "answerHub",
            "A hub verifies a subscription",
            {
                "200": {"description": "The challenge", "content": {"text/plain": {"schema": _TEXT}}},
                "404": _answer("No such subscription was requested"),
            },
            [
                {"name": f"hub.{name}", "in": "query", "schema": _TEXT}
                for name in ("mode", "topic", "challenge", "lease_seconds")
            ],
        ),
        "post": _call(
            "hearHub",
            "A hub announces that the feed has changed",
            {"202": _answer("Accepted; ignored without a valid signature"), "404": _answer("No such subscription")},
        ),
    },
    "/admin/api/feed": {
        "get": _call(
            "viewFeed",
            "Get the feed's state, history and latest entries",
            {"200": _answer("The feed", _ref("Feed"))},
        )
    },
    "/admin/api/feed/check": {
        "post": _call("checkFeed", "Check the feed now", {"200": _answer("The result", _ref("FeedCheck"))})
    },
}
