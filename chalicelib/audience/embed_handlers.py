"""What a site embeds: the form as a script, as a page that needs none, and their style sheet."""

from functools import lru_cache
from hashlib import sha256

from chalicelib.audience import model
from chalicelib.kernel import settings
from chalicelib.kernel.colour import ink_on
from chalicelib.web import pages, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HOUR, _YEAR = 3600, 31_536_000


def embed_script(request: Request) -> Response:
    return _asset(request, _script(), "text/javascript")


def style(request: Request) -> Response:
    return _asset(request, _coloured("public/style.css", settings.current().site_color), "text/css")


def icon(request: Request) -> Response:
    return _asset(request, _coloured("public/icon.svg", settings.current().site_color), "image/svg+xml")


def subscribe_page(request: Request) -> Response:
    """The form as a page of its own: to link to, or to frame on the sites that may use this deployment."""
    source = model.parse_capture(request.query.get("source") or None, None, None, None).source_raw
    page = pages.page("public/subscribe.html", source=source if request.query.get("source") else None)
    return responses.framed_by(page, settings.current().allowed_origins)


def _asset(request: Request, body: str, content_type: str) -> Response:
    """A URL that names a version may be kept for a year; the plain one is asked about again after an hour."""
    tag = f'"{sha256(body.encode()).hexdigest()[:16]}"'
    answer = responses.asset(body, content_type, _YEAR if request.query.get("v") else _HOUR).with_headers(ETag=tag)
    if request.headers.get("if-none-match") == tag:
        return Response(304, "", answer.headers)
    return answer


@lru_cache(maxsize=1)
def _script() -> str:
    return pages.text("public/embed.js")


@lru_cache(maxsize=2)
def _coloured(template: str, colour: str) -> str:
    return pages.text(template, accent=colour, ink=ink_on(colour))
