"""The public archive: a list, the campaigns themselves, and a feed of them; and the site's first page."""

from chalicelib.campaigns.content import archive
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid, NotFound
from chalicelib.web import pages, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

# Short, and never used past its time: what an editor hides or corrects, or a new name, is everywhere a minute later.
# Half of that is what a process remembers of the publication.
_KEEP = "public, max-age=30, must-revalidate"
_LAST_PAGE = 10_000


def home(request: Request) -> Response:
    """Where the site's name in every mail leads: the form, and what was sent last."""
    latest = archive.list_latest()
    return pages.page("public/home.html", issues=latest, source=None).with_headers(Cache_Control=_KEEP)


def list_archive(request: Request) -> Response:
    issues = archive.list_issues(_number(request))
    return pages.page("public/archive.html", page_of_issues=issues).with_headers(Cache_Control=_KEEP)


def read_archive(request: Request) -> Response:
    try:
        body = archive.render_issue(request.path["campaign_id"])
    except NotFound:
        return pages.page("public/not_in_archive.html", 404)
    return responses.email_page(body).with_headers(Cache_Control=_KEEP)


def archive_feed(request: Request) -> Response:
    issues = archive.list_issues(1).issues
    newest = max((issue.updated_at for issue in issues), default=clock.parse("2026-01-01T00:00:00Z"))
    body = pages.text("public/archive_feed.xml", issues=issues, updated=clock.text(newest), text=clock.text)
    return responses.asset(body, "application/atom+xml", 60).with_headers(Cache_Control=_KEEP)


def _number(request: Request) -> int:
    text = request.query.get("page") or "1"
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= _LAST_PAGE):
        raise Invalid("Page not found")
    return int(text)
