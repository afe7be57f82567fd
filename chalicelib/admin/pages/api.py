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

    return shell.page(request, "admin/api.html", calls=api_reference.calls_by_title())


@operation("This document", tag="description", answers={200: Answer("OpenAPI 3.1", dict[str, Any])})
def describe_api(request: Request) -> Response:
    from chalicelib.admin import openapi

    return responses.json(openapi.document())
