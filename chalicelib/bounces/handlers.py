"""The list of bounces for editors, and what to do with everybody on it; single people are up to the audience."""

from chalicelib.access import audit
from chalicelib.bounces import bodies, failing, service
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


@operation(
    "Pause everybody whose email bounced permanently this week",
    tag="bounces",
    answers={202: Answer("Started; takes minutes for thousands of people", bodies.SettlingStarted)},
)
def pause_bounced(request: Request) -> Response:
    return _settle(request, failing.PAUSE)


@operation(
    "Delete everything stored about everybody whose email bounced permanently this week",
    tag="bounces",
    answers={202: Answer("Started; takes minutes for thousands of people", bodies.SettlingStarted)},
)
def remove_bounced(request: Request) -> Response:
    return _settle(request, failing.REMOVE)


def _settle(request: Request, action: str) -> Response:
    audit.record(request, f"bounces.{action}")
    people = failing.count(paused=action == failing.REMOVE).people
    failing.start(action)
    return responses.json(bodies.SettlingStarted(people), 202)


def _bounce(known: KnownBounce) -> bodies.Bounce:
    bounce, person = known.bounce, known.person
    theirs = {"email": person.email, "nickname": person.nickname, "paused_at": person.paused_at}
    return schemas.build(bodies.Bounce, bounce, created_at=bounce.at, **theirs)
