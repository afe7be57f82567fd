"""The list of bounces for editors; removing a subscriber is up to the audience."""

from chalicelib.bounces import bodies, service
from chalicelib.bounces.service import KnownBounce
from chalicelib.web import paging, responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.paging import PageQuery
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


@operation(
    "List permanent bounces of the last seven days, newest first",
    tag="bounces",
    query=PageQuery,
    answers={200: Answer("A page of them", bodies.BouncePage)},
    refuses=(400,),
)
def list_bounces(request: Request) -> Response:
    number, size = paging.requested(request)
    page = service.list_page(number, size)
    return responses.json(bodies.BouncePage(number, size, page.total, [_bounce(known) for known in page.items]))


def _bounce(known: KnownBounce) -> bodies.Bounce:
    bounce, person = known.bounce, known.person
    return schemas.build(bodies.Bounce, bounce, email=person.email, nickname=person.nickname, created_at=bounce.at)
