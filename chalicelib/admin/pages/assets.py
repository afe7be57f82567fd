"""The dashboard's style sheet and script. Their URLs carry a hash, so browsers may cache them for a year."""

from hashlib import sha256

from chalicelib.admin import shell
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HOUR, _YEAR = 3600, 31_536_000


def style_sheet(request: Request) -> Response:
    return _answer(request, "style.css", "text/css")


def script(request: Request) -> Response:
    return _answer(request, "app.js", "text/javascript")


def editor_script(request: Request) -> Response:
    return _answer(request, "editor.js", "text/javascript")


def triage_script(request: Request) -> Response:
    return _answer(request, "triage.js", "text/javascript")


def _answer(request: Request, name: str, content_type: str) -> Response:
    body = shell.asset(name)
    tag = f'"{sha256(body.encode()).hexdigest()[:16]}"'
    answer = responses.asset(body, content_type, _YEAR if request.query.get("v") else _HOUR).with_headers(ETag=tag)
    answer = answer.with_headers(Cross_Origin_Resource_Policy="same-origin")
    return Response(304, "", answer.headers) if request.headers.get("if-none-match") == tag else answer
