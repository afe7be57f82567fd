"""From a draft to the letterbox, as pages: looked over, tried, timed, sent, and tried again."""

from typing import Any

from chalicelib.access import audit
from chalicelib.access.door import door
from chalicelib.campaigns import deliveries, fields, preflight, proofs, service
from chalicelib.campaigns.model import Deed, Whole, permit, permitted
from chalicelib.desk import frame, letters
from chalicelib.desk.campaign_routes import HERE
from chalicelib.kernel import addresses, settings
from chalicelib.kernel.errors import Conflict, GnaError, Invalid
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.routing import Routes

routes = Routes(__name__, errors=frame.problem, authorizer=door)

_ONE = HERE + "/{campaign_id}"


@routes.get(_ONE + "/review")
def review_letter(request: Request) -> Response:
    return _review(request, _sendable(request))


@routes.post(_ONE + "/test", accepts=frame.ANY_FORM)
def try_letter(request: Request) -> Response:
    whole = service.view(request.path["campaign_id"])
    typed = request.text("email") or ""
    try:
        proofs.send_test(whole, addresses.parse(typed))
    except GnaError as failure:
        return _review(request, whole, 400, problem=f"Test email not sent: {failure.reason}", tester=typed[:500])
    audit.record(request, "campaign.test", campaign_id=whole.campaign.id)
    return frame.back(f"{HERE}/{whole.campaign.id}/review", "tested")


@routes.post(_ONE + "/schedule", accepts=frame.ANY_FORM)
def time_letter(request: Request) -> Response:
    campaign_id = request.path["campaign_id"]
    at, zone = request.text("scheduled_at") or "", (request.text("time_zone") or "UTC").strip()
    try:
        if not at:
            raise Invalid("Choose a date and time")
        service.schedule(campaign_id, at, fields.time_zone(zone))
    except Invalid as failure:
        return _review(request, _sendable(request), 400, problem=failure.reason, at=at[:64], zone=zone[:64])
    audit.record(request, "campaign.schedule", campaign_id=campaign_id)
    return frame.back(f"{HERE}/{campaign_id}/review", "scheduled")


@routes.post(_ONE + "/cancel", accepts=frame.ANY_FORM)
def untime_letter(request: Request) -> Response:
    cancelled = service.cancel(request.path["campaign_id"])
    audit.record(request, "campaign.cancel", campaign_id=cancelled.campaign.id)
    return frame.back(f"{HERE}/{cancelled.campaign.id}/review", "cancelled")


@routes.get(_ONE + "/send")
def ask_sending(request: Request) -> Response:
    whole = _sendable(request)
    return frame.page(request, "admin/send.html", here=HERE, whole=whole, report=preflight.check(whole, visit=True))


@routes.post(_ONE + "/send", accepts=frame.ANY_FORM)
def send_letter(request: Request) -> Response:
    whole = service.view(request.path["campaign_id"])
    # What was agreed to is what was looked at.
    if request.text("version") != str(whole.campaign.version):
        raise Conflict("The campaign has changed since you reviewed it")
    sent = service.send_now(whole.campaign.id)
    audit.record(request, "campaign.send", campaign_id=sent.campaign.id)
    return frame.back(f"{HERE}/{sent.campaign.id}", "sending")


@routes.post(_ONE + "/retry", accepts=frame.ANY_FORM)
def retry_letter(request: Request) -> Response:
    campaign_id, delivery_id = request.path["campaign_id"], request.text("delivery_id") or ""
    deliveries.retry(campaign_id, delivery_id)
    audit.record(request, "delivery.retry", campaign_id=campaign_id, delivery_id=delivery_id)
    return frame.back(f"{HERE}/{campaign_id}", "retrying")


def _sendable(request: Request) -> Whole:
    whole = service.view(request.path["campaign_id"])
    permit(Deed.SEND, whole.campaign.state)
    return whole


def _review(request: Request, whole: Whole, status: int = 200, **values: Any) -> Response:
    given = {"tester": _tester(request), "at": None, "zone": None, **values}
    return frame.page(
        request,
        "admin/review.html",
        status,
        here=HERE,
        whole=whole,
        report=preflight.check(whole, visit=request.query.get("visit") == "links"),
        look=letters.look(request.query.get("look")),
        looks=letters.LOOKS,
        cancellable=Deed.CANCEL in permitted(whole.campaign.state),
        **given,
    )


def _tester(request: Request) -> str:
    """Most likely the author wants the test themselves."""
    try:
        return addresses.parse(request.identity).typed
    except Invalid:
        return settings.current().admin_email
