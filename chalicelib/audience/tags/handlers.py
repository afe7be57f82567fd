"""Tags over HTTP, for editors."""

from chalicelib.access import audit
from chalicelib.audience import survey
from chalicelib.audience.tags import bodies, model, service
from chalicelib.audience.tags.model import Job
from chalicelib.web import responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_TAG = "tags"
_MOST_LISTED = 1_000


@operation(
    "List tags with how many people have each, and the last changes of them",
    tag=_TAG,
    answers={200: Answer("Tags", bodies.TagList)},
)
def list_tags(request: Request) -> Response:
    tags = survey.take().most_common_tags()
    items = [bodies.Tag(tag, people) for tag, people in tags[:_MOST_LISTED]]
    return responses.json(bodies.TagList(items, len(tags), [_body(job) for job in service.list_recent()]))


@operation(
    "Rename, merge or remove tags on everybody; drafts, scheduled campaigns and segments follow",
    tag=_TAG,
    body=bodies.TagChange,
    answers={202: Answer("It runs in the background", bodies.TagJob)},
    refuses=(400,),
    because={409: "Tags are being changed already, or a campaign needs these as they are; see `error`"},
)
def change_tags(request: Request) -> Response:
    body = schemas.read(bodies.TagChange, request.fields)
    job = service.start(model.check_change(body.action, body.tags, body.to))
    audit.record(request, f"tags.{job.change.action}", job_id=job.id)
    return responses.json(_body(job), 202)


@operation(
    "How far a change of tags is",
    tag=_TAG,
    answers={200: Answer("The job", bodies.TagJob)},
    because={404: "No such job, or it is older than 90 days"},
)
def get_job(request: Request) -> Response:
    return responses.json(_body(service.view(request.path["job_id"])))


def _body(job: Job) -> bodies.TagJob:
    change = job.change
    return schemas.build(bodies.TagJob, job, action=change.action, tags=list(change.tags), to=change.to)
