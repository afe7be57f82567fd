"""What was sent to everybody, for everybody to read. What was sent to some is nobody else's business."""

from datetime import datetime

from chalicelib.campaigns import renderer, service
from chalicelib.campaigns.model import Campaign, State
from chalicelib.kernel import settings
from chalicelib.kernel.errors import NotFound
from chalicelib.kernel.value import value

PER_PAGE = 20
_OUT = (State.PUBLISHING, State.PUBLISHED)


@value
class Issue:
    id: str
    subject: str
    preheader: str
    published_at: datetime

    @property
    def url(self) -> str:
        return settings.current().url(f"/archive/{self.id}")


@value
class Shelf:
    issues: list[Issue]
    page: int
    has_older: bool


def shelf(number: int) -> Shelf:
    """A page of what is out, newest first."""
    _check_open()
    page = service.page(State.PUBLISHED, number, PER_PAGE)
    issues = [_issue(campaign) for campaign in page.items if campaign.aim.everybody]
    return Shelf(issues, number, page.total > number * PER_PAGE)


def letter(campaign_id: str) -> str:
    """The mail's own HTML without anything that belongs to one reader; from the moment it goes out."""
    _check_open()
    whole = service.view(campaign_id)
    if whole.campaign.state not in _OUT or not whole.campaign.aim.everybody:
        raise NotFound("Page not found")
    return renderer.rendered(whole).archived()


def _check_open() -> None:
    if not settings.current().archive:
        raise NotFound("Page not found")


def _issue(campaign: Campaign) -> Issue:
    return Issue(
        campaign.id,
        renderer.impersonal(campaign.subject),
        renderer.impersonal(campaign.preheader),
        campaign.published_at or campaign.updated_at,
    )
