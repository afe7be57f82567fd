"""The versions of a campaign over HTTP, for editors."""

from chalicelib.access import audit
from chalicelib.campaigns import bodies, serializers, versions
from chalicelib.web import responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_TAG = "campaigns"


@operation(
    "List the versions of the last 30 days, newest first, at most 50",
    tag=_TAG,
    answers={200: Answer("The versions", bodies.Versions)},
    refuses=(404,),
)
def list_versions(request: Request) -> Response:
    found = versions.list_versions(request.path["campaign_id"])
    return responses.json(bodies.Versions([serializers.version_line(one) for one in found.items]))


@operation(
    "Get what was written in a version",
    tag=_TAG,
    answers={200: Answer("The version", bodies.VersionContent)},
    refuses=(404,),
)
def view_version(request: Request) -> Response:
    found = versions.view(request.path["campaign_id"], _number(request))
    return responses.json(serializers.version_content(found))


@operation(
    "Bring back a version, as a new one",
    tag=_TAG,
    body=bodies.Restore,
    answers={200: Answer("The campaign", bodies.Campaign)},
    refuses=(400, 404, 409),
)
def restore_version(request: Request) -> Response:
    campaign_id, number = request.path["campaign_id"], _number(request)
    asked = schemas.read(bodies.Restore, request.fields)
    restored = versions.restore(campaign_id, number, request.identity, asked.version)
    audit.record(request, "campaign.restore", campaign_id=campaign_id, version=number)
    return responses.json(serializers.campaign_detail(restored))


def _number(request: Request) -> int:
    return versions.parse_number(request.path["version"])
