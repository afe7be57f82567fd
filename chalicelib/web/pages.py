"""HTML pages, and failures as pages."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from chalicelib.kernel import publication, settings
from chalicelib.kernel.errors import GnaError, Misconfigured, NotFound
from chalicelib.kernel.version import VERSION
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

# The deployed package has the contents of `vendor` in its root, so this path is right there as well.
_TEMPLATES = Path(__file__).parents[2] / "templates"


def page(template: str, status: int = 200, **values: Any) -> Response:
    return responses.html(text(template, **values), status)


def error(failure: GnaError) -> Response:
    """A failure as a page; `responses.error` is the same as JSON."""
    reason = "This site is not configured correctly" if isinstance(failure, Misconfigured) else failure.reason
    status = responses.status_of(failure)
    return responses.with_retry_after(failure, page("public/error.html", status, reason=reason, code=status))


def not_found(request: Request) -> Response:
    """There is nothing here: a page for a person, JSON for a program."""
    return error(NotFound("Page not found")) if request.from_browser else responses.error(NotFound("Not found"))


def text(template: str, **values: Any) -> str:
    return str(_environment().get_template(template).render(**values))


def absolute(address: str) -> str:
    """For readers elsewhere, who do not know where a path begins."""
    return settings.current().url(address) if address.startswith("/") else address


@lru_cache(maxsize=1)
def _environment() -> Any:
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
    return environment
