"""Looking at a campaign before it is sent. Nothing here changes anything."""

from typing import Any

from chalicelib.access.door import door
from chalicelib.campaigns import service
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import CampaignDetail
from chalicelib.campaigns.review import previews
from chalicelib.campaigns.routes import draft
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.routing import Routes

routes = Routes(__name__, authorizer=door)


@routes.get("/admin/api/campaigns/{campaign_id}/preview")
def preview_campaign(request: Request) -> Response:
    """The very HTML that is sent, to somebody called `?nickname=`."""
    name = previews.parse_nickname(request.query.get("nickname"))
    return responses.email_page(previews.preview(service.view(request.path["campaign_id"]), name).html)


@routes.post("/admin/api/campaigns/preview")
def preview_draft(request: Request) -> Response:
    """Both parts of what is being composed, before it is saved."""
    name = previews.parse_nickname(request.fields.get("nickname"))
    return responses.json(_proof(service.preview_detail(draft(request)), name))


def _proof(detail: CampaignDetail, name: str | None) -> dict[str, Any]:
    message = previews.preview(detail, name)
    removed = renderer.removed_markup(detail.campaign.format, detail.content.body)
    return {"subject": message.subject, "html": message.html, "text": message.text, "removed": removed}
