"""Segments over HTTP, for editors."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from chalicelib.access import audit
from chalicelib.campaigns import fields, model, segments
from chalicelib.campaigns import segment_bodies as bodies
from chalicelib.campaigns.model import Segment
from chalicelib.web import responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_TAG = "segments"
_TAKEN = {409: "Another segment has this name, or there are 50"}


@operation(
    "List segments by name, with how many people each reaches now",
    tag=_TAG,
    query=bodies.SegmentQuery,
    answers={200: Answer("All segments", bodies.SegmentList)},
    refuses=(400,),
)
def list_segments(request: Request) -> Response:
    found = segments.list_by_name()
    is_counted = schemas.read(bodies.SegmentQuery, request.query).count
    counts: Sequence[int | UnsetType] = segments.count(found) if is_counted else [UNSET] * len(found)
    items = [_body(segment, count) for segment, count in zip(found, counts, strict=True)]
    return responses.json(bodies.SegmentList(items))


@operation(
    "Save a segment",
    tag=_TAG,
    body=bodies.NewSegment,
    answers={201: Answer("The segment", bodies.Segment)},
    refuses=(400,),
    because=_TAKEN,
)
def create_segment(request: Request) -> Response:
    body = schemas.read(bodies.NewSegment, request.fields)
    segment = segments.create(body.name, fields.check_targeting(model.Targeting(**body.sent())))
    return responses.json(_counted(segment), 201)


@operation(
    "Change a segment; campaigns that used it stay as they are",
    tag=_TAG,
    body=bodies.SegmentEdits,
    answers={200: Answer("The segment", bodies.Segment)},
    refuses=(400, 404),
    because=_TAKEN,
)
def change_segment(request: Request) -> Response:
    body = schemas.read(bodies.SegmentEdits, request.fields)
    name = None if body.name is UNSET else body.name
    return responses.json(_counted(segments.change(request.path["segment_id"], name, body.sent())))


@operation(
    "Delete a segment; campaigns that used it stay as they are",
    tag=_TAG,
    answers={204: Answer("Deleted")},
    refuses=(404,),
)
def delete_segment(request: Request) -> Response:
    segments.delete(request.path["segment_id"])
    audit.record(request, "segment.delete", segment_id=request.path["segment_id"])
    return responses.no_content()


def _counted(segment: Segment) -> bodies.Segment:
    return _body(segment, segments.count([segment])[0])


def _body(segment: Segment, count: int | UnsetType) -> bodies.Segment:
    aim = segment.targeting
    return schemas.build(
        bodies.Segment,
        segment,
        sources=aim.sources,
        tags=aim.tags,
        joined_after=aim.joined_after,
        joined_before=aim.joined_before,
        count=count,
    )
