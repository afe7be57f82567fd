"""The OpenAPI document: the calls of every room, with what is true of all of them."""

from functools import lru_cache
from typing import Any

from chalicelib.events import examples
from chalicelib.kernel import settings
from chalicelib.kernel.version import VERSION
from chalicelib.web import routing
from chalicelib.web.openapi import describe


@lru_cache(maxsize=1)
def document() -> dict[str, Any]:
    paths, schemas = describe(routing.all_routes())
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Gna",
            "version": VERSION,
            "description": "Readers, campaigns, feed, bounces, webhooks, members and sightings of one newsletter.",
        },
        "servers": [{"url": settings.current().site_url}],
        "paths": paths,
        "webhooks": examples.describe_webhooks(),
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "access": {"type": "apiKey", "in": "header", "name": "Cf-Access-Jwt-Assertion"},
                "session": {"type": "apiKey", "in": "cookie", "name": "__Host-session"},
            },
        },
    }
