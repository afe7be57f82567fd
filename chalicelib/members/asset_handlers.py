"""The style sheet and the script of the pages for members."""

from hashlib import sha256

from chalicelib.members import shell
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HOUR, _YEAR = 3600, 31_536_000


def style_sheet(request: Request) -> Response:
    return _asset(request, "member.css", "text/css")


def script(request: Request) -> Response:
    return _asset(request, "member.js", "text/javascript")


def _asset(request: Request, name: str, content_type: str) -> Response:
    """A URL with a version may be cached for a year, one without for an hour."""
    body = shell.asset(name)
    tag = f'"{sha256(body.encode()).hexdigest()[:16]}"'
    answer = responses.asset(body, content_type, _YEAR if request.query.get("v") else _HOUR).with_headers(ETag=tag)
    if request.headers.get("if-none-match") == tag:
        return Response(304, "", answer.headers)
    return answer
