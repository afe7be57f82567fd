"""What the OpenAPI document says about campaigns. The limits are those of `fields`, not repeated from memory."""

from typing import Any

from chalicelib.campaigns import fields
from chalicelib.campaigns.model import DeliveryState, Format, Origin, State
from chalicelib.kernel.findings import Level

Part = dict[str, Any]


def _object(required: list[str] | None = None, **properties: Part) -> Part:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
    }


def _ref(name: str) -> Part:
    return {"$ref": f"#/components/schemas/{name}"}


def _array(items: Part) -> Part:
    return {"type": "array", "items": items}


def _answer(description: str, schema: Part | None = None) -> Part:
    content = {"content": {"application/json": {"schema": schema}}} if schema else {}
    return {"description": description, **content}


def _call(id: str, summary: str, answers: Part, body: Part | None = None) -> Part:
    asked = {"requestBody": {"required": True, "content": {"application/json": {"schema": body}}}} if body else {}
    return {"operationId": id, "summary": summary, "tags": ["campaigns"], **asked, "responses": answers}


_ID: Part = {"type": "string", "format": "uuid"}
_TIME: Part = {"type": "string", "format": "date-time"}
_TIME_OR_NONE: Part = {"type": ["string", "null"], "format": "date-time"}
_TEXT_OR_NONE: Part = {"type": ["string", "null"]}
_COUNT: Part = {"type": "integer", "minimum": 0}
_COUNTS: Part = dict.fromkeys(("recipients", "sent_count", "failure_count", "unknown_count"), _COUNT)
_ERROR: Part = _object(error={"type": "string"})
_REMOVED: Part = {**_array({"type": "string"}), "description": "What was removed from the body"}

_INVALID = {"400": _answer("Invalid request; see `error`", _ERROR)}
_NOT_FOUND = {"404": _answer("Not found", _ERROR)}
_CONFLICT = {"409": _answer("Not allowed in the current state", _ERROR)}
_SILENT = {"503": _answer("A service is not responding; try again", _ERROR)}

_LINE: Part = {"type": "string", "maxLength": fields.LONGEST_LINE}
_WORD: Part = {"type": "string", "minLength": 1, "maxLength": fields.LONGEST_WORD}
_COMPOSED: Part = {
    "subject": {**_LINE, "minLength": 1},
    "body": {"type": "string", "minLength": 1, "maxLength": fields.LARGEST_BODY},
    "text": {
        "type": ["string", "null"],
        "maxLength": fields.LARGEST_TEXT,
        "description": "Generated from the body if null",
    },
    "preheader": _LINE,
    "format": {"type": "string", "enum": list(Format)},
    "aim": _ref("Aim"),
}
_WHEN: Part = {
    "scheduled_at": {"type": "string", "description": "ISO 8601 with any offset, or without one with `time_zone`"},
    "time_zone": {"type": "string", "description": "An IANA name such as Europe/Berlin"},
}
_LISTED: Part = {
    "id": _ID,
    "subject": {"type": "string"},
    "state": {"type": "string", "enum": list(State)},
    "origin": {"type": "string", "enum": list(Origin)},
    "scheduled_at": _TIME_OR_NONE,
    "time_zone": {"type": "string"},
    "created_at": _TIME,
    "updated_at": _TIME,
    "published_at": _TIME_OR_NONE,
    "notice": _TEXT_OR_NONE,
    "delivery": _object(state={"type": "string", "enum": list(DeliveryState)}, **_COUNTS),
}
_WORDS: Part = {**_array(_WORD), "maxItems": fields.MOST_WORDS}

SCHEMAS: Part = {
    "Aim": _object([], **{name: _object([], any=_WORDS, all=_WORDS, none=_WORDS) for name in ("sources", "tags")}),
    "CampaignLine": _object(**_LISTED),
    "Campaign": _object(
        [*_LISTED, "body", "deliveries"],
        **_LISTED,
        **{name: schema for name, schema in _COMPOSED.items() if name != "subject"},
        version={"type": "integer", "minimum": 1},
        permitted=_array({"type": "string"}),
        deliveries=_array(_ref("Delivery")),
        removed=_REMOVED,
    ),
    "Delivery": _object(
        id=_ID,
        campaign_id=_ID,
        channel_type={"type": "string", "const": "email"},
        content=_TEXT_OR_NONE,
        state={"type": "string", "enum": list(DeliveryState)},
        **_COUNTS,
        error_detail=_TEXT_OR_NONE,
        note=_TEXT_OR_NONE,
        attempt=_COUNT,
        created_at=_TIME,
        started_at=_TIME_OR_NONE,
        finished_at=_TIME_OR_NONE,
    ),
    "Progress": _object(
        state={"type": "string", "enum": list(State)},
        expected={"type": ["integer", "null"], "description": "Estimated number of recipients"},
        deliveries=_array(_ref("Delivery")),
    ),
    "Preflight": _object(
        ready={"type": "boolean"},
        recipients=_COUNT,
        cost_usd={"type": "number"},
        finishes_at=_TIME_OR_NONE,
        size=_COUNT,
        findings=_array(
            _object(
                level={"type": "string", "enum": list(Level)},
                code={"type": "string"},
                message={"type": "string"},
            )
        ),
    ),
}

_PAGE: Part = _object(items=_array(_ref("CampaignLine")), page=_COUNT, per_page=_COUNT, total=_COUNT)
_CAMPAIGN = {"200": _answer("The campaign", _ref("Campaign"))}
_CREATED = {"201": _answer("The new draft", _ref("Campaign"))}
_CAMPAIGN_ID: Part = {"name": "campaign_id", "in": "path", "required": True, "schema": {"type": "string"}}
_DELIVERY_ID: Part = {"name": "delivery_id", "in": "path", "required": True, "schema": {"type": "string"}}
_NICKNAME: Part = {"nickname": {"type": ["string", "null"], "maxLength": 50}}


def _asked(name: str, schema: Part) -> Part:
    return {"name": name, "in": "query", "schema": schema}


def _deed(id: str, summary: str, body: Part | None = None, answers: Part = _CAMPAIGN) -> Part:
    """A POST that moves a campaign on."""
    refusals = {**(_INVALID if body else {}), **_NOT_FOUND, **_CONFLICT, **_SILENT}
    return {"parameters": [_CAMPAIGN_ID], "post": _call(id, summary, {**answers, **refusals}, body)}


_ONE = "/admin/api/campaigns/{campaign_id}"

PATHS: Part = {
    "/admin/api/campaigns": {
        "get": {
            **_call(
                "listCampaigns",
                "List campaigns, newest first",
                {
                    "200": _answer(
                        "A page",
                        _object(items=_array(_ref("CampaignLine")), page=_COUNT, per_page=_COUNT, total=_COUNT),
                    ),
                    **_INVALID,
                },
            ),
            "parameters": [
                _asked("state", {"type": "string", "enum": list(State)}),
                _asked("page", {"type": "integer", "minimum": 1, "maximum": 1_000_000, "default": 1}),
                _asked("per_page", {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}),
            ],
        },
        "post": _call(
            "createCampaign",
            "Create a campaign",
            {**_CREATED, **_INVALID, **_SILENT},
            _object(["subject", "body"], **_COMPOSED),
        ),
    },
    _ONE: {
        "parameters": [_CAMPAIGN_ID],
        "get": _call("viewCampaign", "Get a campaign with its deliveries", {**_CAMPAIGN, **_NOT_FOUND}),
        "patch": _call(
            "updateCampaign",
            "Change a draft or a scheduled campaign; `scheduled_at` sets, moves or (null) cancels its schedule",
            {**_CAMPAIGN, **_INVALID, **_NOT_FOUND, **_CONFLICT, **_SILENT},
            _object(
                [],
                **_COMPOSED,
                scheduled_at={"type": ["string", "null"]},
                time_zone=_WHEN["time_zone"],
                version={"type": "integer", "description": "Fails if this is no longer the current version"},
            ),
        ),
        "delete": _call("deleteCampaign", "Delete a draft", {"204": _answer("Deleted"), **_NOT_FOUND, **_CONFLICT}),
    },
    f"{_ONE}/send": _deed("sendCampaign", "Send now"),
    f"{_ONE}/schedule": _deed("scheduleCampaign", "Schedule for later", _object(["scheduled_at"], **_WHEN)),
    f"{_ONE}/cancel": _deed("cancelCampaign", "Cancel the schedule; the campaign becomes a draft again"),
    f"{_ONE}/duplicate": {
        "parameters": [_CAMPAIGN_ID],
        "post": _call("duplicateCampaign", "Duplicate as a new draft", {**_CREATED, **_NOT_FOUND}),
    },
    f"{_ONE}/test": {
        "parameters": [_CAMPAIGN_ID],
        "post": _call(
            "testCampaign",
            "Send a test email to one address",
            {**_CAMPAIGN, **_INVALID, **_NOT_FOUND, **_SILENT},
            _object(["email"], email={"type": "string", "format": "email"}, **_NICKNAME),
        ),
    },
    f"{_ONE}/preview": {
        "parameters": [_CAMPAIGN_ID],
        "get": {
            **_call(
                "previewCampaign",
                "Preview the HTML exactly as it is sent",
                {
                    "200": {"description": "The email", "content": {"text/html": {"schema": {"type": "string"}}}},
                    **_INVALID,
                    **_NOT_FOUND,
                },
            ),
            "parameters": [_asked("nickname", {"type": "string", "maxLength": 50})],
        },
    },
    f"{_ONE}/preflight": {
        "parameters": [_CAMPAIGN_ID],
        "get": {
            **_call(
                "preflightCampaign",
                "Check for problems, recipients and cost before sending; `visit=links` also checks the links",
                {"200": _answer("The findings", _ref("Preflight")), **_NOT_FOUND, **_SILENT},
            ),
            "parameters": [_asked("visit", {"type": "string", "enum": ["links"]})],
        },
    },
    f"{_ONE}/progress": {
        "parameters": [_CAMPAIGN_ID],
        "get": _call(
            "watchCampaign",
            "Deliveries with live counts; may be polled every few seconds",
            {"200": _answer("The progress", _ref("Progress")), **_NOT_FOUND},
        ),
    },
    f"{_ONE}/deliveries/{{delivery_id}}/retry": {
        "parameters": [_CAMPAIGN_ID, _DELIVERY_ID],
        "post": _call(
            "retryDelivery",
            "Retry a failed delivery: send only what is still owed",
            {"200": _answer("The delivery", _ref("Delivery")), **_NOT_FOUND, **_CONFLICT, **_SILENT},
        ),
    },
    "/admin/api/campaigns/preview": {
        "post": _call(
            "previewDraft",
            "Preview HTML and plain text without saving anything",
            {
                "200": _answer(
                    "The email",
                    _object(
                        subject={"type": "string"}, html={"type": "string"}, text={"type": "string"}, removed=_REMOVED
                    ),
                ),
                **_INVALID,
            },
            _object(["subject", "body"], **_COMPOSED, **_NICKNAME),
        ),
    },
    "/admin/api/campaigns/audience": {
        "post": _call(
            "countAudience",
            "Count the people an aim reaches now",
            {"200": _answer("The count", _object(recipients=_COUNT)), **_INVALID, **_SILENT},
            _object([], aim=_ref("Aim")),
        ),
    },
}
