"""Corrections of the web version over HTTP, for editors."""

from chalicelib.access import audit
from chalicelib.campaigns import bodies, results, serializers
from chalicelib.campaigns.content import corrections, renderer
from chalicelib.web import responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_TAG = "campaigns"
_CAMPAIGN = {200: Answer("The campaign", bodies.Campaign)}


@operation(
    "Get the corrected web version of a sent campaign",
    tag=_TAG,
    answers={200: Answer("The correction", bodies.Correction)},
    refuses=(404,),
)
def view_correction(request: Request) -> Response:
    return responses.json(serializers.correction_body(corrections.get(request.path["campaign_id"])))


@operation(
    "Correct the web version of a sent campaign, with a note for its readers; emails stay as they were sent",
    tag=_TAG,
    body=bodies.NewCorrection,
    answers=_CAMPAIGN,
    refuses=(400, 404, 409),
)
def correct_campaign(request: Request) -> Response:
    new = schemas.read(bodies.NewCorrection, request.fields)
    detail = corrections.correct(request.path["campaign_id"], new)
    audit.record(request, "campaign.correct", campaign_id=detail.campaign.id)
    removed = renderer.removed_markup(detail.campaign.format, new.body)
    return responses.json(serializers.campaign_detail(results.with_tallies(detail), removed))


@operation(
    "Withdraw a correction: the web version is what was sent again",
    tag=_TAG,
    answers=_CAMPAIGN,
    refuses=(404, 409),
)
def withdraw_correction(request: Request) -> Response:
    detail = corrections.withdraw(request.path["campaign_id"])
    audit.record(request, "campaign.withdraw", campaign_id=detail.campaign.id)
    return responses.json(serializers.campaign_detail(results.with_tallies(detail)))
