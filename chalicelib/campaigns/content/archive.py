"""The public archive: campaigns that were sent to everybody. What was sent to some, or is hidden, stays private."""

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.campaigns.content import catalogue, corrections, excerpts, extracts, renderer, words
from chalicelib.campaigns.content.catalogue import Issue
from chalicelib.campaigns.content.renderer import Article
from chalicelib.campaigns.model import State
from chalicelib.kernel import publication, settings
from chalicelib.kernel.errors import NotFound

PER_PAGE = 20
LATEST = 5
_SENT = (State.PUBLISHING, State.PUBLISHED)
_HEADING = re.compile(r"<(/?)h1\b")


class Listed(Struct, frozen=True):
    """An issue in a list, with what it begins with."""

    issue: Issue
    excerpt: str


class IssuePage(Struct, frozen=True):
    """`total` is how many there are on all pages. `is_complete`: no text had to be left out of a search."""

    issues: list[Listed]
    page: int
    total: int
    is_complete: bool = True

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PER_PAGE))

    @property
    def has_older(self) -> bool:
        return self.page < self.pages


class IssueView(Struct, frozen=True):
    """One issue as a page shows it. `picture` is the address of its first picture of ours, or empty."""

    issue: Issue
    article: Article
    excerpt: str
    picture: str
    newer: Issue | None
    older: Issue | None


def list_issues(number: int) -> IssuePage:
    """A page of what was sent, newest first."""
    return _page(list_all(), number)


def list_latest() -> list[Listed]:
    """The newest few; none while the archive is off."""
    return _with_excerpts(catalogue.current()[:LATEST]) if publication.current().archive else []


def list_all() -> Sequence[Issue]:
    _check_open()
    return catalogue.current()


def search(wanted: tuple[str, ...], number: int) -> IssuePage:
    """A page of the issues in which all of these words occur: in the subject, the preheader or the text."""
    issues = list_all()
    searched = issues[: extracts.MOST]
    read = extracts.find(searched)
    found = [
        issue
        for issue in issues
        if words.matches(wanted, read[issue.id].words if issue.id in read else _outside(issue))
    ]
    return replace(_page(found, number), is_complete=len(read) == len(issues))


def read_issue(campaign_id: str) -> IssueView:
    """What was mailed, without anything personal, from the moment sending starts; or as it was corrected."""
    _check_open()
    detail = corrections.view_web_version(campaign_id)
    campaign = detail.campaign
    if campaign.state not in _SENT or not catalogue.is_public(campaign):
        raise NotFound("Page not found")
    web_version = replace(detail, campaign=corrections.as_corrected(campaign))
    article = with_one_title(renderer.render_article(web_version, campaign.correction))
    issue = catalogue.describe(campaign)
    newer, older = _neighbours(issue)
    excerpt = issue.preheader or excerpts.shorten(article.text, issue.subject, article.has_title)
    return IssueView(issue, article, excerpt, find_picture(article.html), newer, older)


def with_one_title(article: Article) -> Article:
    """The first heading is the page's title if the text begins with it. Others of its rank become one of the next."""
    head, start, rest = article.html.partition("</h1>") if article.has_title else ("", "", article.html)
    return replace(article, html=head + start + _HEADING.sub(r"<\1h2", rest))


def find_picture(html: str) -> str:
    """The address of the first picture that is served from here: of others nobody knows how long they stay."""
    own = re.escape(settings.current().url("/media/"))
    found = re.search(rf'<img\b[^<>]*\ssrc="({own}[\w.-]+)"', html)
    return found[1] if found else ""


def _page(issues: Sequence[Issue], number: int) -> IssuePage:
    shown = issues[(number - 1) * PER_PAGE : number * PER_PAGE]
    return IssuePage(_with_excerpts(shown), number, len(issues))


def _with_excerpts(issues: Sequence[Issue]) -> list[Listed]:
    """What the author wrote to be read beside the subject comes first."""
    read = extracts.find([issue for issue in issues if not issue.preheader])
    return [
        Listed(issue, issue.preheader or (read[issue.id].excerpt if issue.id in read else "")) for issue in issues
    ]


def _outside(issue: Issue) -> str:
    return words.collect(issue.subject, issue.preheader)


def _neighbours(issue: Issue) -> tuple[Issue | None, Issue | None]:
    """The next newer and the next older. What an editor has changed a moment ago may be in no list yet."""
    issues = catalogue.current()
    at = next((position for position, other in enumerate(issues) if other.id == issue.id), None)
    if at is None:
        return None, None
    return issues[at - 1] if at else None, issues[at + 1] if at + 1 < len(issues) else None


def _check_open() -> None:
    if not publication.current().archive:
        raise NotFound("Page not found")
