"""Looking at a campaign before it is sent: as readers would see it, what is wrong with it, how many it reaches."""

from chalicelib.access import audit
from chalicelib.campaigns import results, serializers, service
from chalicelib.campaigns.bodies import Campaign
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.review import bodies, preflight, previews, testing
from chalicelib.kernel.findings import Finding
from chalicelib.web import responses, schemas
from chalicelib.web.operations import HTML, Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_TAG = "campaigns"


@operation(
    "Preview the HTML exactly as it is sent",
    tag=_TAG,
    query=bodies.PreviewQuery,
    answers={200: Answer("The email", content=HTML)},
    refuses=(400, 404),
)
def preview_campaign(request: Request) -> Response:
    nickname = schemas.read(bodies.PreviewQuery, request.query).nickname
    return responses.email_page(previews.preview(service.view(request.path["campaign_id"]), nickname).html)


@operation(
    "Preview HTML and plain text without saving anything",
    tag=_TAG,
    body=bodies.PreviewDraft,
    answers={200: Answer("The email", bodies.Preview)},
    refuses=(400,),
)
def preview_draft(request: Request) -> Response:
    draft = schemas.read(bodies.PreviewDraft, request.fields)
    mailing = renderer.render(service.preview_detail(draft))
    message = previews.preview_mailing(mailing, draft.nickname)
    return responses.json(schemas.build(bodies.Preview, message, removed=list(mailing.removed)))


@operation(
    f"Send a test email to up to {testing.MOST} addresses; its subject begins with `[Test] `",
    tag=_TAG,
    body=bodies.TestEmail,
    answers={200: Answer("The campaign, once every email was sent", Campaign)},
    refuses=(400, 404, 429),
)
def test_campaign(request: Request) -> Response:
    asked = schemas.read(bodies.TestEmail, request.fields)
    to = testing.parse_recipients(asked.email, asked.emails)
    detail = service.view(request.path["campaign_id"])
    nickname = testing.choose_nickname(asked.subscriber_id, asked.nickname)
    outcome = testing.send(detail, to, nickname, request.identity)
    if outcome.sent:
        audit.record(request, "campaign.test", campaign_id=detail.campaign.id)
    outcome.check()
    return responses.json(serializers.campaign_detail(results.with_tallies(detail)))


@operation(
    "Check for problems, recipients and cost before sending; `visit=links` also checks the links",
    tag=_TAG,
    query=bodies.PreflightQuery,
    answers={200: Answer("The findings", bodies.Preflight)},
    refuses=(404,),
)
def preflight_campaign(request: Request) -> Response:
    detail = service.view(request.path["campaign_id"])
    report = preflight.check(detail, visit=request.query.get("visit") == "links")
    findings = [_finding(finding) for finding in report.findings]
    return responses.json(schemas.build(bodies.Preflight, report, cost_usd=report.cost, findings=findings))


@operation(
    "Count the people an aim reaches now",
    tag=_TAG,
    body=bodies.Audience,
    answers={200: Answer("The count", bodies.AudienceCount)},
    refuses=(400,),
)
def count_audience(request: Request) -> Response:
    targeting = schemas.read(bodies.Audience, request.fields).targeting
    return responses.json(bodies.AudienceCount(preflight.count_recipients(targeting)))


def _finding(finding: Finding) -> bodies.Finding:
    return schemas.build(bodies.Finding, finding, message=finding.text)
