"""The OpenAPI document: the calls of every room, with what is true of all of them."""

from functools import lru_cache
from typing import Any

from chalicelib.campaigns import openapi as campaigns
from chalicelib.events import examples
from chalicelib.kernel import settings
from chalicelib.kernel.version import VERSION
from chalicelib.web import routing
from chalicelib.web.openapi import describe

Part = dict[str, Any]

_METHODS = ("get", "post", "patch", "delete")

# Rooms whose part of the document is still written by hand.
_ROOMS = (campaigns,)
# What any call behind Cloudflare Access may answer, and what any call may.
_GUARDED = {"401": "Missing token", "403": "Invalid or expired token, or cross-site request"}
_ALWAYS = {"500": "Misconfiguration or internal error", "503": "A service is not responding; try again"}


@lru_cache(maxsize=1)
def document() -> Part:
    paths, schemas = describe(routing.all_routes())
    for room in _ROOMS:
        paths |= {path: _item(path, item) for path, item in room.PATHS.items()}
        schemas |= getattr(room, "SCHEMAS", {})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Gna",
            "version": VERSION,
            "description": "Subscribers, campaigns, feed, bounces and webhooks of one newsletter.",
        },
        "servers": [{"url": settings.current().site_url}],
        "paths": dict(sorted(paths.items())),
        "webhooks": examples.describe_webhooks(),
        "components": {
            "schemas": schemas,
            "securitySchemes": {"access": {"type": "apiKey", "in": "header", "name": "Cf-Access-Jwt-Assertion"}},
        },
    }


def _item(path: str, item: Part) -> Part:
    return {name: _call(path, part) if name in _METHODS else part for name, part in item.items()}


def _call(path: str, call: Part) -> Part:
    guarded = path.startswith("/admin/")
    answers = {**(_GUARDED if guarded else {}), **_ALWAYS}
    common = {status: _refusal(reason) for status, reason in answers.items()}
    security: Part = {"security": [{"access": []}]} if guarded else {}
    return {"tags": [_tag(path)], **call, **security, "responses": {**common, **call["responses"]}}


def _refusal(reason: str) -> Part:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": reason, "content": {"application/json": {"schema": schema}}}


def _tag(path: str) -> str:
    return "feed" if path.startswith("/admin/api/feed") else "public"
