"""The publication's public pages: its first page, the archive, and the campaigns themselves."""

from urllib.parse import quote, urlencode

from chalicelib.campaigns.content import archive, words
from chalicelib.campaigns.content.archive import IssueView, Listed
from chalicelib.kernel import log, settings
from chalicelib.kernel.errors import Invalid, NotFound, Unavailable
from chalicelib.kernel.wording import for_readers
from chalicelib.web import pages, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

# Short, and never used past its time: what an editor hides or corrects, or a new name, is everywhere a minute later.
# Half of that is what a process remembers of the publication.
KEEP = "public, max-age=30, must-revalidate"
_LAST_PAGE = 10_000
# Bluesky takes 300 characters, and the address needs its share of them.
_LONGEST_SHARED = 150
_BY_EMAIL = for_readers("Email")


def home(request: Request) -> Response:
    """Where the site's name in every mail leads: the form, and what was sent last. It is never missing: without a
    database it is the form alone, and nobody keeps that."""
    try:
        latest = archive.list_latest()
    except Unavailable as failure:
        log.exception("archive.not_read", failure)
        return _home([])
    return _home(latest).with_headers(Cache_Control=KEEP)


def list_archive(request: Request) -> Response:
    asked = request.query.get("q", "")
    wanted = words.read_search(asked)
    number = _number(request)
    found = archive.search(wanted, number) if wanted else archive.list_issues(number)
    page = pages.page(
        "public/archive.html",
        found=found,
        asked=asked if wanted else "",
        link=lambda page: _list_url(asked if wanted else "", page),
        longest_search=words.LONGEST_SEARCH,
    )
    return page.with_headers(Cache_Control=KEEP)


def read_archive(request: Request) -> Response:
    try:
        view = archive.read_issue(request.path["campaign_id"])
    except NotFound:
        return pages.page("public/not_in_archive.html", 404)
    page = pages.page("public/issue.html", view=view, share=_share_links(view), source=None, tags="")
    return responses.with_written(page).with_headers(Cache_Control=KEEP)


def _home(latest: list[Listed]) -> Response:
    return pages.page("public/home.html", latest=latest, source=None, tags="")


def _list_url(asked: str, number: int) -> str:
    query = ({"q": asked} if asked else {}) | ({"page": str(number)} if number > 1 else {})
    return settings.current().url("/archive") + (f"?{urlencode(query)}" if query else "")


def _share_links(view: IssueView) -> list[tuple[str, str]]:
    """Links and nothing else: who is at the other end learns of it when somebody clicks. The text for Mastodon is in
    the fragment, which browsers do not send."""
    issue = view.issue
    text = quote(f"{issue.subject[:_LONGEST_SHARED]} {issue.url}", safe="")
    return [
        (
            pages.translate(_BY_EMAIL),
            f"mailto:?subject={quote(issue.subject, safe='')}&body={quote(issue.url, safe='')}",
        ),
        ("Mastodon", f"https://share.joinmastodon.org/#text={text}"),
        ("Bluesky", f"https://bsky.app/intent/compose?text={text}"),
    ]


def _number(request: Request) -> int:
    text = request.query.get("page") or "1"
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= _LAST_PAGE):
        raise Invalid("Page not found")
    return int(text)
