"""Bounces for editors to look through; removing somebody is the audience's business."""

from chalicelib.bounces import bodies, service
from chalicelib.bounces.service import KnownBounce
from chalicelib.web import paging, responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.paging import PageQuery
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


@operation(
    "Mails of the last seven days that could not be delivered for good, newest first",
    tag="bounces",
    query=PageQuery,
    answers={200: Answer("A page of them", bodies.BouncePage)},
    refuses=(400,),
)
def list_bounces(request: Request) -> Response:
    number, size = paging.requested(request)
    found = service.page(number, size)
    return responses.json(bodies.BouncePage(number, size, found.total, [_bounce(one) for one in found.items]))


def _bounce(one: KnownBounce) -> bodies.Bounce:
    given = {"email": one.person.email, "nickname": one.person.nickname, "created_at": one.bounce.at}
    return schemas.build(bodies.Bounce, one.bounce, **given)
