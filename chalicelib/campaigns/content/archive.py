"""The public archive: campaigns that were sent to everybody. What was sent to some stays private."""

import re
from datetime import datetime

from msgspec import Struct

from chalicelib.campaigns import service
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import Campaign, State
from chalicelib.kernel import settings
from chalicelib.kernel.errors import NotFound

_BODY, _END_OF_BODY = re.compile(r"<body\b[^>]*>"), re.compile(r"</body>")
PER_PAGE = 20
LATEST = 5
_SENT = (State.PUBLISHING, State.PUBLISHED)


class Issue(Struct, frozen=True):
    id: str
    subject: str
    preheader: str
    published_at: datetime

    @property
    def url(self) -> str:
        return settings.current().url(f"/archive/{self.id}")


class IssuePage(Struct, frozen=True):
    issues: list[Issue]
    page: int
    has_older: bool


def list_issues(number: int) -> IssuePage:
    """A page of what was sent, newest first."""
    _check_open()
    page = service.list_page(State.PUBLISHED, number, PER_PAGE)
    issues = [_issue(campaign) for campaign in page.items if campaign.targeting.everybody]
    return IssuePage(issues, number, page.total > number * PER_PAGE)


def list_latest() -> list[Issue]:
    """The newest of the archive's first page; none while the archive is off."""
    return list_issues(1).issues[:LATEST] if settings.current().archive else []


def render_issue(campaign_id: str) -> str:
    """The email's own HTML without anything personal, from the moment sending starts."""
    _check_open()
    detail = service.view(campaign_id)
    if detail.campaign.state not in _SENT or not detail.campaign.targeting.everybody:
        raise NotFound("Page not found")
    return _with_landmark(renderer.render(detail).archived())


def _with_landmark(page: str) -> str:
    """A mail has no landmarks; on the web, readers who cannot see the page find its content by them."""
    if "<main" in page:
        return page
    return _END_OF_BODY.sub(r"</main>\g<0>", _BODY.sub(r"\g<0><main>", page, count=1), count=1)


def _check_open() -> None:
    if not settings.current().archive:
        raise NotFound("Page not found")


def _issue(campaign: Campaign) -> Issue:
    return Issue(
        campaign.id,
        renderer.without_names(campaign.subject),
        renderer.without_names(campaign.preheader),
        campaign.published_at or campaign.updated_at,
    )
