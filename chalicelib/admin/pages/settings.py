"""What is configured, as a page."""

from chalicelib.admin import configuration, shell
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def show_settings(request: Request) -> Response:
    return shell.page(request, "admin/settings.html", here="/admin/settings", seen=configuration.gather())
