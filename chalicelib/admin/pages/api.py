"""The API's description: as an OpenAPI document for programs, and as a page for people.

It is rarely asked for, so the modules that put it together are imported only then.
"""

from typing import Any

from chalicelib.admin import shell
from chalicelib.web import responses
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def show_api(request: Request) -> Response:
    from chalicelib.admin import api_reference

    calls = api_reference.calls_by_title()
    title = request.query.get("about", "")
    shown = title if title in calls else next(iter(calls))
    return shell.page(request, "admin/api.html", titles=list(calls), title=shown, calls=calls[shown])


@operation("This document", tag="description", answers={200: Answer("OpenAPI 3.1", dict[str, Any])})
def describe_api(request: Request) -> Response:
    from chalicelib.admin import openapi

    return responses.json(openapi.document())
