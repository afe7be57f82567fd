"""The public archive: campaigns that were sent to everybody. What was sent to some, or is hidden, stays private."""

import re
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.campaigns import service
from chalicelib.campaigns.content import corrections, renderer
from chalicelib.campaigns.model import Campaign, State
from chalicelib.kernel import publication, settings
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
    updated_at: datetime

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
    issues = [_issue(campaign) for campaign in page.items if _is_public(campaign)]
    return IssuePage(issues, number, page.total > number * PER_PAGE)


def list_latest() -> list[Issue]:
    """The newest of the archive's first page; none while the archive is off."""
    return list_issues(1).issues[:LATEST] if publication.current().archive else []


def render_issue(campaign_id: str) -> str:
    """The email's own HTML without anything personal, from the moment sending starts; or as it was corrected."""
    _check_open()
    detail = corrections.view_web_version(campaign_id)
    campaign = detail.campaign
    if campaign.state not in _SENT or not _is_public(campaign):
        raise NotFound("Page not found")
    corrected = replace(detail, campaign=corrections.as_corrected(campaign))
    return _with_landmark(renderer.render(corrected, campaign.correction).archived())


def _is_public(campaign: Campaign) -> bool:
    return campaign.targeting.everybody and not campaign.hidden


def _with_landmark(page: str) -> str:
    """A mail has no landmarks; on the web, readers who cannot see the page find its content by them."""
    if "<main" in page:
        return page
    return _END_OF_BODY.sub(r"</main>\g<0>", _BODY.sub(r"\g<0><main>", page, count=1), count=1)


def _check_open() -> None:
    if not publication.current().archive:
        raise NotFound("Page not found")


def _issue(campaign: Campaign) -> Issue:
    corrected = corrections.as_corrected(campaign)
    published_at = campaign.published_at or campaign.updated_at
    return Issue(
        campaign.id,
        renderer.without_names(corrected.subject),
        renderer.without_names(corrected.preheader),
        published_at,
        campaign.correction.corrected_at if campaign.correction else published_at,
    )
