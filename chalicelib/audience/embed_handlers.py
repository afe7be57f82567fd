"""What a site embeds: the form as a script or as a page without one, its style sheet and icon."""

from functools import lru_cache
from hashlib import sha256
from typing import Any

from chalicelib.audience import model
from chalicelib.kernel import languages, publication, settings
from chalicelib.kernel.colour import shades
from chalicelib.kernel.version import VERSION
from chalicelib.kernel.wording import for_readers
from chalicelib.web import pages, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_TEXTS = {
    "email": for_readers("Email address"),
    "name": for_readers("Name"),
    "button": for_readers("Subscribe"),
    "success": for_readers("Almost done: check your inbox for a link, and open it to confirm."),
    "invalid": for_readers("Please check the email address."),
    "limit": for_readers("Too many attempts. Please wait a minute."),
    "failure": for_readers("Something went wrong. Please try again in a moment."),
    "trap": for_readers("Leave this empty"),
}
_BRIEFLY, _YEAR = 30, 31_536_000


def embed_script(request: Request) -> Response:
    return _asset(request, _script(), "text/javascript", _YEAR if request.query.get("v") else _BRIEFLY)


def style(request: Request) -> Response:
    return _coloured(request, "public/style.css", "text/css")


def icon(request: Request) -> Response:
    return _coloured(request, "public/icon.svg", "image/svg+xml")


def subscribe_page(request: Request) -> Response:
    """The form as a page: to link to, or to show in a frame on the allowed sites."""
    given = model.parse_capture(request.query.get("source") or None, request.query.get("tags"), None, None)
    source = given.source_raw if request.query.get("source") else None
    tags = ",".join(sorted(given.tags))
    page = pages.page("public/subscribe.html", lang=request.lang, source=source, tags=tags)
    return responses.framed_by(page, settings.current().allowed_origins)


def _coloured(request: Request, template: str, content_type: str) -> Response:
    """A URL that names the version and the colour may be cached for a year. Not if this process does not know the
    colour yet: another one would be kept under its name."""
    accent = publication.at_hand().colours.accent
    named = request.query.get("v") == f"{VERSION}-{accent[1:]}"
    return _asset(request, _render_coloured(template, accent), content_type, _YEAR if named else _BRIEFLY)


def _asset(request: Request, body: str, content_type: str, seconds: int) -> Response:
    tag = f'"{sha256(body.encode()).hexdigest()[:16]}"'
    answer = responses.asset(body, content_type, seconds).with_headers(ETag=tag)
    if request.headers.get("if-none-match") == tag:
        return Response(304, "", answer.headers)
    return answer


def _script() -> str:
    return _script_in(languages.choose())


@lru_cache(maxsize=4)
def _script_in(lang: str) -> str:
    """With the texts of every language: which one a form speaks is said where it stands."""
    texts = {code: {name: pages.translate(text, code) for name, text in _TEXTS.items()} for code in languages.names()}
    return pages.text("public/embed.js", lang=lang, languages=_literal(texts))


def _literal(value: Any) -> Any:
    """As JavaScript that is safe in any page."""
    from jinja2.utils import htmlsafe_json_dumps

    return htmlsafe_json_dumps(value, ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=2)
def _render_coloured(template: str, colour: str) -> str:
    return pages.text(template, **shades(colour))
