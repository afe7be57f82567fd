"""The OpenAPI document: what each room says of itself, put together, with what is true of every call."""

from functools import lru_cache
from typing import Any

from chalicelib.events import examples
from chalicelib.kernel import settings
from chalicelib.kernel.version import VERSION
from chalicelib.web import routing
from chalicelib.web.openapi import describe

Part = dict[str, Any]

ROOMS = ("audience", "bounces", "campaigns", "events", "feeds", "admin")
TITLES = {
    "subscribers": "Subscribers",
    "campaigns": "Campaigns",
    "bounces": "Bounces",
    "feed": "Feed",
    "webhooks": "Webhooks",
    "public": "Public",
    "description": "This document",
}
_METHODS = ("get", "post", "patch", "delete")

# What any guarded call may answer, and what any call may.
_DOOR = {"401": "Missing token", "403": "Invalid or expired token, or cross-site request"}
_ALWAYS = {"500": "Misconfiguration or internal error", "503": "A service is not responding; try again"}

_OWN: Part = {
    "/admin/api/openapi.json": {
        "get": {
            "operationId": "describeApi",
            "summary": "This document",
            "tags": ["description"],
            "responses": {
                "200": {"description": "OpenAPI 3.1", "content": {"application/json": {"schema": {"type": "object"}}}}
            },
        }
    }
}


@lru_cache(maxsize=1)
def document() -> Part:
    paths, schemas = describe(routing.tables(ROOMS))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Gna",
            "version": VERSION,
            "description": "Subscribers, campaigns, feed, bounces and webhooks of one newsletter.",
        },
        "servers": [{"url": settings.current().site_url}],
        "paths": {path: _item(path, item) for path, item in sorted((paths | _OWN).items())},
        "webhooks": examples.describe_webhooks(),
        "components": {
            "schemas": schemas,
            "securitySchemes": {"access": {"type": "apiKey", "in": "header", "name": "Cf-Access-Jwt-Assertion"}},
        },
    }


def by_tag() -> dict[str, list[Part]]:
    """Every call as a line of the page: method, path, and what is said of it."""
    found: dict[str, list[Part]] = {title: [] for title in TITLES.values()}
    for path, item in document()["paths"].items():
        shared = item.get("parameters", [])
        for method in _METHODS:
            if method in item:
                call = item[method]
                line = {"method": method.upper(), "path": path, "call": call}
                line["parameters"] = [*shared, *call.get("parameters", [])]
                line["fields"] = _fields(call)
                found[TITLES[call["tags"][0]]].append(line)
    return {title: calls for title, calls in found.items() if calls}


def _item(path: str, item: Part) -> Part:
    return {name: _call(path, part) if name in _METHODS else part for name, part in item.items()}


def _call(path: str, call: Part) -> Part:
    guarded = path.startswith("/admin/")
    answers = {**(_DOOR if guarded else {}), **_ALWAYS}
    common = {status: _refusal(words) for status, words in answers.items()}
    security: Part = {"security": [{"access": []}]} if guarded else {}
    return {"tags": [_tag(path)], **call, **security, "responses": {**common, **call["responses"]}}


def _refusal(words: str) -> Part:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": words, "content": {"application/json": {"schema": schema}}}


def _tag(path: str) -> str:
    return "feed" if path.startswith("/admin/api/feed") else "public"


def _fields(call: Part) -> list[tuple[str, str, bool]]:
    """Name, kind and whether it must be there, of each field of the body."""
    content: Part = call.get("requestBody", {}).get("content", {})
    schema: Part = next((one["schema"] for one in content.values()), {})
    choices: list[Part] = schema.get("oneOf", [schema])
    return [
        (name, _kind(field), name in one.get("required", []))
        for one in choices
        for name, field in one.get("properties", {}).items()
    ]


def _kind(field: Part) -> str:
    if "$ref" in field:
        return str(field["$ref"].rpartition("/")[2])
    if "enum" in field:
        return " or ".join(map(str, field["enum"])) if len(field["enum"]) <= 4 else "one of a list"
    kind = field.get("type", "anything")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
