"""HTML pages, and failures as pages."""

from functools import cache
from pathlib import Path
from typing import Any

from chalicelib.kernel import languages, publication, settings, speaking
from chalicelib.kernel.errors import GnaError, Misconfigured, NotFound
from chalicelib.kernel.version import VERSION
from chalicelib.kernel.wording import for_readers
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

# The deployed package has the contents of `vendor` in its root, so this path is right there as well.
_TEMPLATES = Path(__file__).parents[2] / "templates"
_MISCONFIGURED = for_readers("This site is not configured correctly")
_PAGE_NOT_FOUND = for_readers("Page not found")


def page(template: str, status: int = 200, *, lang: str | None = None, **values: Any) -> Response:
    """In the publication's language, unless there is a catalogue for `lang`."""
    return responses.html(text(template, lang=lang, **values), status)


def error(failure: GnaError, lang: str | None = None) -> Response:
    """A failure as a page; `responses.error` is the same as JSON."""
    status = responses.status_of(failure)
    answer = page("public/error.html", status, lang=lang, reason=explain(failure, lang), code=status)
    return responses.with_retry_after(failure, answer)


def explain(failure: GnaError, lang: str | None = None) -> str:
    """The reason in the language of the page that shows it."""
    shown = Misconfigured(_MISCONFIGURED) if isinstance(failure, Misconfigured) else failure
    return languages.explain(shown, languages.choose(lang))


def translate(sentence: str, lang: str | None = None) -> str:
    """A sentence that is marked `for_readers`."""
    return languages.catalogue(languages.choose(lang)).gettext(sentence)


def not_found(request: Request) -> Response:
    """There is nothing here: a page for a person, JSON for a program."""
    return error(NotFound(_PAGE_NOT_FOUND)) if request.from_browser else responses.error(NotFound("Not found"))


def text(template: str, *, lang: str | None = None, **values: Any) -> str:
    return str(_environment(languages.choose(lang)).get_template(template).render(**values))


def absolute(address: str) -> str:
    """For readers elsewhere, who do not know where a path begins."""
    return settings.current().url(address) if address.startswith("/") else address


@cache
def _environment(code: str) -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals["site"] = settings.current
    environment.globals["publication"] = publication.at_hand
    environment.globals["absolute"] = absolute
    environment.globals["version"] = VERSION
    speaking.speak(environment, code)
    return environment
