"""The description of the API: as a document for machines, and as a page for people.
Few ask for it, so it is put together only when somebody does."""

from chalicelib.admin import shell
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def read_api(request: Request) -> Response:
    from chalicelib.admin import openapi

    return shell.page(request, "admin/api.html", calls=openapi.by_tag())


def describe_api(request: Request) -> Response:
    from chalicelib.admin import openapi

    return responses.json(openapi.document())
