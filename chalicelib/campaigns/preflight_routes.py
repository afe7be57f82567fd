"""Before the button: what would hurt, and how many people it reaches."""

from dataclasses import asdict
from typing import Any

from chalicelib.access.door import door
from chalicelib.campaigns import fields, service
from chalicelib.campaigns.review import preflight
from chalicelib.campaigns.review.preflight import Report
from chalicelib.kernel import clock
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.routing import Routes

routes = Routes(__name__, authorizer=door)


@routes.get("/admin/api/campaigns/{campaign_id}/preflight")
def preflight_campaign(request: Request) -> Response:
    """With `?visit=links` the links are visited too."""
    detail = service.view(request.path["campaign_id"])
    return responses.json(_report(preflight.check(detail, visit=request.query.get("visit") == "links")))


@routes.post("/admin/api/campaigns/audience")
def count_audience(request: Request) -> Response:
    return responses.json({"recipients": preflight.count_recipients(fields.targeting(request.fields.get("aim")))})


def _report(report: Report) -> dict[str, Any]:
    return {
        "ready": report.ready,
        "recipients": report.recipients,
        "cost_usd": report.cost,
        "finishes_at": clock.text(report.finishes_at) if report.finishes_at else None,
        "size": report.size,
        "findings": [asdict(finding) for finding in report.findings],
    }
