"""The OpenAPI document as the API page lists it: the calls under each heading, with their parameters and fields."""

from typing import Any

from msgspec import Struct

from chalicelib.admin import openapi

Part = dict[str, Any]

# The heading for each tag of the document, in the order of the page.
_TITLES = {
    "subscribers": "Subscribers",
    "imports": "Imports",
    "tags": "Tags",
    "campaigns": "Campaigns",
    "segments": "Segments",
    "bounces": "Bounces",
    "members": "Members",
    "account": "Accounts",
    "inbox": "Inbox",
    "following": "Following",
    "sightings": "Sightings",
    "media": "Pictures",
    "feed": "Feed",
    "webhooks": "Webhooks",
    "site": "Publication",
    "public": "Public",
    "description": "This document",
}
_METHODS = ("get", "post", "patch", "delete")


class Field(Struct, frozen=True):
    """A field of a request body."""

    name: str
    kind: str
    required: bool


class Call(Struct, frozen=True):
    method: str
    path: str
    summary: str
    parameters: list[Part]
    fields: list[Field]
    responses: Part


def calls_by_title() -> dict[str, list[Call]]:
    document = openapi.document()
    found: dict[str, list[Call]] = {title: [] for title in _TITLES.values()}
    for path, item in document["paths"].items():
        for method in _METHODS:
            if operation := item.get(method):
                call = Call(
                    method=method.upper(),
                    path=path,
                    summary=operation["summary"],
                    parameters=[*item.get("parameters", []), *operation.get("parameters", [])],
                    fields=_fields(operation, document["components"]["schemas"]),
                    responses=operation["responses"],
                )
                found[_TITLES[operation["tags"][0]]].append(call)
    return {title: calls for title, calls in found.items() if calls}


def _fields(operation: Part, schemas: Part) -> list[Field]:
    content: Part = operation.get("requestBody", {}).get("content", {})
    body = _resolve(next((media["schema"] for media in content.values()), {}), schemas)
    choices = [_resolve(choice, schemas) for choice in body.get("oneOf") or body.get("anyOf") or [body]]
    return [
        Field(name, _kind(schema, schemas), name in choice.get("required", []))
        for choice in choices
        for name, schema in choice.get("properties", {}).items()
    ]


def _resolve(schema: Part, schemas: Part) -> Part:
    resolved: Part = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return resolved


def _kind(schema: Part, schemas: Part) -> str:
    """A field's type in a few words: the values of an enum, the name of another body, or JSON's own name."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(choice, schemas) for choice in schema["anyOf"]))
    if "enum" in (resolved := _resolve(schema, schemas)):
        return " or ".join(map(str, resolved["enum"])) if len(resolved["enum"]) <= 4 else "one of a list"
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    kind = schema.get("type", "anything")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
