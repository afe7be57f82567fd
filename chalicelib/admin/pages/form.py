"""The page that writes the sign-up form for somebody's site, and shows it at work. What was chosen is in the query:
nothing is stored, and nothing of it is about anybody."""

from collections.abc import Mapping

from chalicelib.admin import form_snippets, shell, site_origins
from chalicelib.admin.form_snippets import Options
from chalicelib.kernel import languages, settings
from chalicelib.kernel.errors import Invalid
from chalicelib.web import pages, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_LONGEST_ECHO = 500


def show_form(request: Request) -> Response:
    if "live" in request.query:
        return _show_live(form_snippets.parse(request.query))
    try:
        return _page(request, form_snippets.parse(request.query))
    except Invalid as failure:
        return _page(request, Options(kind=form_snippets.parse_kind(request.query)), failure.reason)


def _page(request: Request, options: Options, problem: str | None = None) -> Response:
    return shell.page(
        request,
        "admin/form.html",
        400 if problem else 200,
        here="/admin/subscribers",
        problem=problem,
        options=options,
        typed=_typed(request.query),
        kinds=form_snippets.KINDS,
        words=form_snippets.WORDS,
        languages=languages.names(),
        usual_language=languages.names()[languages.choose()],
        longest_words=form_snippets.LONGEST_WORDS,
        snippet=form_snippets.write(options, settings.current().site_url),
        live=form_snippets.encode(options),
        allowed=site_origins.is_allowed(options.site),
        relative=site_origins.find_relative(options.site),
        origins=settings.current().allowed_origins,
    )


def _typed(query: Mapping[str, str]) -> dict[str, str]:
    """The fields as they were filled in, also if they were refused."""
    names = ("source", "tags", "site", *(f"text_{name}" for name, _, _ in form_snippets.WORDS))
    return {name: query.get(name, "")[:_LONGEST_ECHO] for name in names}


def _show_live(options: Options) -> Response:
    """The snippet itself, in a frame on our own page: with paths instead of URLs, because browsers take another name
    of this machine for another site."""
    snippet = form_snippets.write(options, "", inline_style=False)
    page = pages.page("admin/form_live.html", snippet=snippet, style=shell.asset_url("style.css"))
    return responses.framed_by(page, ())
