"""The page that shows what is configured."""

from chalicelib.admin import configuration, shell
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def show_settings(request: Request) -> Response:
    return shell.page(request, "admin/settings.html", here="/admin/settings", configuration=configuration.gather())
