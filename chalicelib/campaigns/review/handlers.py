"""Looking at a campaign before it is sent: as readers would see it, what would hurt, how many it reaches."""

from typing import Any

from chalicelib.campaigns import fields, service
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.handlers import draft
from chalicelib.campaigns.model import CampaignDetail
from chalicelib.campaigns.review import preflight, previews
from chalicelib.campaigns.review.preflight import Report
from chalicelib.kernel import clock
from chalicelib.kernel.findings import Finding
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def preview_campaign(request: Request) -> Response:
    """The very HTML that is sent, to somebody called `?nickname=`."""
    name = previews.parse_nickname(request.query.get("nickname"))
    return responses.email_page(previews.preview(service.view(request.path["campaign_id"]), name).html)


def preview_draft(request: Request) -> Response:
    """Both parts of what is being composed, before it is saved."""
    name = previews.parse_nickname(request.fields.get("nickname"))
    return responses.json(_preview(service.preview_detail(draft(request)), name))


def preflight_campaign(request: Request) -> Response:
    """With `?visit=links` the links are visited too."""
    detail = service.view(request.path["campaign_id"])
    return responses.json(_report(preflight.check(detail, visit=request.query.get("visit") == "links")))


def count_audience(request: Request) -> Response:
    return responses.json({"recipients": preflight.count_recipients(fields.targeting(request.fields.get("aim")))})


def _preview(detail: CampaignDetail, name: str | None) -> dict[str, Any]:
    message = previews.preview(detail, name)
    removed = renderer.removed_markup(detail.campaign.format, detail.content.body)
    return {"subject": message.subject, "html": message.html, "text": message.text, "removed": removed}


def _report(report: Report) -> dict[str, Any]:
    return {
        "ready": report.ready,
        "recipients": report.recipients,
        "cost_usd": report.cost,
        "finishes_at": clock.text(report.finishes_at) if report.finishes_at else None,
        "size": report.size,
        "findings": [_finding(finding) for finding in report.findings],
    }


def _finding(finding: Finding) -> dict[str, str]:
    return {"level": finding.level.value, "code": finding.code, "message": finding.text}
