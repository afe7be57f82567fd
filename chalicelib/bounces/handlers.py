"""Bounces for the admin to look through; removing somebody is the audience's business."""

from chalicelib.bounces import service
from chalicelib.bounces.service import Shown
from chalicelib.kernel import clock
from chalicelib.web import paging, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def list_bounces(request: Request) -> Response:
    number, size = paging.requested(request)
    found = service.page(number, size)
    return responses.json(paging.page_body([_shown(one) for one in found.items], number, size, found.total))


def _shown(one: Shown) -> dict[str, str | None]:
    return {
        "subscriber_id": one.person.id,
        "email": one.person.email,
        "nickname": one.person.nickname,
        "reason": one.bounce.reason,
        "created_at": clock.text(one.bounce.at),
        "delivery_id": one.bounce.delivery_id,
    }
