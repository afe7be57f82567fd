"""The style sheet and the script of the pages for members."""

from chalicelib.members import shell
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def style_sheet(request: Request) -> Response:
    return shell.answer_asset(request, "member.css", "text/css")


def script(request: Request) -> Response:
    return shell.answer_asset(request, "member.js", "text/javascript")
