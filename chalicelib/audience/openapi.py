"""What the OpenAPI document says about subscribers: the operator's calls, and those of the public form and links."""

from typing import Any

Part = dict[str, Any]

_TIME: Part = {"type": "string", "format": "date-time"}
_COUNT: Part = {"type": "integer", "minimum": 0}
_EMAIL: Part = {"type": "string", "format": "email", "maxLength": 254}
_WORD: Part = {"type": "string", "minLength": 1, "maxLength": 64}


def _object(required: list[str] | None = None, **properties: Part) -> Part:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
    }


def _ref(name: str) -> Part:
    return {"$ref": f"#/components/schemas/{name}"}


def _answer(description: str, schema: Part | None = None, kind: str = "application/json") -> Part:
    return {"description": description, **({"content": {kind: {"schema": schema}}} if schema else {})}


def _status(word: str) -> Part:
    return _object(status={"type": "string", "const": word})


def _call(id: str, summary: str, answers: Part, tag: str = "subscribers", **more: Any) -> Part:
    return {"operationId": id, "summary": summary, "tags": [tag], **more, "responses": answers}


def _body(schema: Part) -> Part:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _asked(name: str, schema: Part, said: str = "") -> Part:
    return {"name": name, "in": "query", "schema": schema, **({"description": said} if said else {})}


_WORDS: Part = {"type": "array", "items": _WORD}
_ERROR = _ref("Error")
_INVALID = {"400": _answer("Invalid request; see `error`", _ERROR)}
_BUSY = {"429": _answer("Too many requests; see `Retry-After`", _ERROR)}
_PAGE = {"type": "string"}
_HTML = "text/html"

_FILTER = [
    _asked("q", {"type": "string", "maxLength": 254}, "Part of the address or of the nickname"),
    _asked("status", {"type": "string", "enum": ["pending", "activated"]}),
    _asked("source", {"type": "string", "maxLength": 254}),
    _asked("tag", {"type": "string", "maxLength": 254}),
]
_PAGING = [
    _asked("page", {"type": "integer", "minimum": 1, "maximum": 1_000_000, "default": 1}),
    _asked("per_page", {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}),
]
_NAMED = _body(_object(email=_EMAIL))

SCHEMAS: Part = {
    "Subscriber": _object(
        id={"type": "string", "format": "uuid"},
        email=_EMAIL,
        nickname={"type": ["string", "null"]},
        status={"type": "string", "enum": ["Pending", "Activated"]},
        created_at=_TIME,
        activated_at={"type": ["string", "null"], "format": "date-time"},
    ),
    "SubscriberPage": _object(
        items={"type": "array", "items": _ref("Subscriber")}, page=_COUNT, per_page=_COUNT, total=_COUNT
    ),
    "SignUp": _object(
        ["email"],
        email=_EMAIL,
        nickname={"type": ["string", "null"], "maxLength": 50},
        source={"type": ["string", "null"], "maxLength": 255, "description": "Where the form is placed"},
        tags={"type": ["array", "null"], "items": _WORD, "maxItems": 20},
        metadata={"type": ["object", "null"], "description": "At most 10 KB as JSON"},
    ),
}

_ADMIN: Part = {
    "/admin/api/subscribers": {
        "get": _call(
            "listSubscribers",
            "List subscribers, newest first",
            {"200": _answer("A page", _ref("SubscriberPage")), **_INVALID},
            parameters=[*_FILTER, *_PAGING],
        )
    },
    "/admin/api/subscribers/words": {
        "get": _call(
            "listWords",
            "List sources and tags of the last thousand subscribers, most frequent first",
            {"200": _answer("For filters and audiences", _object(sources=_WORDS, tags=_WORDS))},
        )
    },
    "/admin/api/subscribers/export": {
        "get": _call(
            "exportSubscribers",
            "Export subscribers as CSV (UTF-8 with BOM)",
            {
                "200": _answer("The file", _PAGE, "text/csv"),
                "303": _answer("Large exports: redirect to a signed link that works for five minutes"),
                **_INVALID,
            },
            parameters=_FILTER,
        )
    },
    "/admin/api/subscribers/{subscriber_id}": {
        "parameters": [{"name": "subscriber_id", "in": "path", "required": True, "schema": {"type": "string"}}],
        "delete": _call(
            "removeSubscriber",
            "Delete everything stored about a subscriber",
            {
                "204": _answer("Deleted"),
                "202": _answer("Finishes once pending events about them have been sent", _status("removal_pending")),
                "404": _answer("No such subscriber", _ERROR),
            },
        ),
    },
    "/admin/api/do-not-contact": {
        "post": _call(
            "setDoNotContact",
            "Never email an address again",
            {"200": _answer("The address will not be emailed again", _status("do_not_contact")), **_INVALID},
            requestBody=_NAMED,
        )
    },
    "/admin/api/do-not-contact/lift": {
        "post": _call(
            "liftDoNotContact",
            "Allow an address to sign up again",
            {"200": _answer("The address can sign up again", _status("lifted")), **_INVALID},
            requestBody=_NAMED,
        )
    },
}

_TOKEN = _asked("token", {"type": "string"}, "The token from the emailed link")

_PUBLIC: Part = {
    "/api/subscribe": {
        "post": _call(
            "subscribe",
            "Sign up; the response is the same whether or not the address is known",
            {
                "201": _answer("A confirmation email is on its way", _status("confirmation_sent")),
                "303": _answer("HTML form: redirect to a page"),
                **_INVALID,
                **_BUSY,
            },
            "public",
            requestBody=_body(_ref("SignUp")),
        )
    },
    "/api/unsubscribe": {
        "parameters": [_TOKEN],
        "get": _call(
            "unsubscribe",
            "Unsubscribe by the link in an email",
            {"200": _answer("A page", _PAGE, _HTML), "400": _answer("Invalid link", _PAGE, _HTML)},
            "public",
        ),
        "post": _call(
            "unsubscribeWithOneClick",
            "One-click unsubscribe by the email program (RFC 8058)",
            {"200": _answer("A page", _PAGE, _HTML), "400": _answer("Invalid link", _PAGE, _HTML)},
            "public",
        ),
    },
    "/api/profile/request-link": {
        "post": _call(
            "requestProfileLink",
            "Email a profile link; the response is the same for every address",
            {
                "200": _answer("If the address is subscribed, a link is on its way", _status("link_sent")),
                "303": _answer("HTML form: redirect to a page"),
                **_INVALID,
                **_BUSY,
            },
            "public",
            requestBody=_NAMED,
        )
    },
    "/api/profile/update": {
        "post": _call(
            "updateProfile",
            "Change nickname or email address",
            {
                "200": _answer("Updated; a new address must be confirmed first", _status("updated")),
                "303": _answer("HTML form: redirect to a page"),
                **_INVALID,
                "401": _answer("Invalid or expired token", _ERROR),
                "409": _answer("Email already registered", _ERROR),
                **_BUSY,
            },
            "public",
            requestBody=_body(
                _object(
                    ["token"],
                    token={"type": "string"},
                    nickname={"type": ["string", "null"], "maxLength": 50},
                    email={**_EMAIL, "type": ["string", "null"]},
                )
            ),
        )
    },
}

PATHS: Part = {**_ADMIN, **_PUBLIC}
