"""The pages from a draft to its delivery: review, test email, schedule, send, stop and retry."""

from typing import Any

from chalicelib.access import audit
from chalicelib.admin import preview_frames, shell, testing_form, truncate
from chalicelib.admin.campaign_conflicts import explain
from chalicelib.admin.pages.campaigns import HERE
from chalicelib.admin.testing_form import TestForm
from chalicelib.campaigns import service
from chalicelib.campaigns.gallery import copying
from chalicelib.campaigns.model import Action, CampaignDetail, DeliveryState, permit, permitted_actions
from chalicelib.campaigns.review import preflight, testing
from chalicelib.campaigns.sending import continuing, deliveries, progress, stopping
from chalicelib.kernel import addresses, settings, zones
from chalicelib.kernel.errors import Conflict, GnaError, Invalid
from chalicelib.kernel.plurals import count_of
from chalicelib.web import whole_numbers
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_MOST_NAMED = 5


@explain
def review_campaign(request: Request) -> Response:
    return _review(request, _sendable(request))


@explain
def copy_pictures(request: Request) -> Response:
    copied = copying.copy_in(request.path["campaign_id"], request.identity)
    audit.record(request, "campaign.copy_pictures", campaign_id=copied.detail.campaign.id)
    if not copied.left:
        return shell.back(f"{HERE}/{copied.detail.campaign.id}/review", "pictures-copied")
    named = [f"{truncate.truncate_middle(left.url, 200)} ({left.reason})" for left in copied.left[:_MOST_NAMED]]
    more = len(copied.left) - len(named)
    done = f"{count_of(copied.count, 'picture was', 'pictures were')} copied. " if copied.count else ""
    problem = f"{done}Not copied: {', '.join(named)}{f' and {more} more' if more else ''}."
    return _review(request, copied.detail, problem=problem)


@explain
def send_test(request: Request) -> Response:
    detail, form = _sendable(request), testing_form.parse_form(request)
    try:
        to = form.recipients()
        outcome = testing.send(detail, to, form.chosen_nickname(), request.identity)
    except GnaError as failure:
        return _review(request, detail, 400, problem=f"Test email not sent: {failure.reason}", test=form)
    if outcome.sent:
        audit.record(request, "campaign.test", campaign_id=detail.campaign.id)
    if outcome.problem:
        problem = outcome.problem.reason if outcome.sent else f"Test email not sent: {outcome.problem.reason}"
        return _review(request, detail, 400, problem=problem, test=form)
    return shell.back(f"{HERE}/{detail.campaign.id}/review", "tested" if len(to) == 1 else "tested-many")


@explain
def schedule(request: Request) -> Response:
    campaign_id = request.path["campaign_id"]
    at, zone = request.text("scheduled_at") or "", (request.text("time_zone") or "UTC").strip()
    try:
        if not at:
            raise Invalid("Choose a date and time")
        service.schedule(campaign_id, at, zones.parse(zone), waves=_has_waves(request))
    except Invalid as failure:
        return _review(request, _sendable(request), 400, problem=failure.reason, at=at[:64], zone=zone[:64])
    audit.record(request, "campaign.schedule", campaign_id=campaign_id)
    return shell.back(f"{HERE}/{campaign_id}/review", "scheduled")


@explain
def cancel_schedule(request: Request) -> Response:
    cancelled = service.cancel(request.path["campaign_id"])
    audit.record(request, "campaign.cancel", campaign_id=cancelled.campaign.id)
    return shell.back(f"{HERE}/{cancelled.campaign.id}/review", "cancelled")


@explain
def confirm_sending(request: Request) -> Response:
    detail = _sendable(request)
    return shell.page(
        request, "admin/send.html", here=HERE, detail=detail, report=preflight.check(detail, visit=True)
    )


@explain
def send(request: Request) -> Response:
    version = _reviewed_version(request)
    sent = service.send_now(request.path["campaign_id"], version=version, waves=_has_waves(request))
    audit.record(request, "campaign.send", campaign_id=sent.campaign.id)
    return shell.back(f"{HERE}/{sent.campaign.id}", "sending")


@explain
def retry_delivery(request: Request) -> Response:
    """Also *Continue*, which is a form with the number of a wave: both go on with a delivery."""
    campaign_id, delivery_id = request.path["campaign_id"], request.text("delivery_id") or ""
    if wave := request.text("wave"):
        return _continue(request, campaign_id, delivery_id, wave)
    deliveries.retry(campaign_id, delivery_id)
    audit.record(request, "delivery.retry", campaign_id=campaign_id, delivery_id=delivery_id)
    return shell.back(f"{HERE}/{campaign_id}", "retrying")


def confirm_stop(request: Request) -> Response:
    detail = progress.with_live_counts(service.view(request.path["campaign_id"]))
    running = (delivery for delivery in detail.deliveries if delivery.state is DeliveryState.SENDING)
    return shell.page(request, "admin/stop.html", here=HERE, campaign=detail.campaign, delivery=next(running, None))


def stop_delivery(request: Request) -> Response:
    campaign_id, delivery_id = request.path["campaign_id"], request.text("delivery_id") or ""
    try:
        detail = stopping.stop(campaign_id, delivery_id)
    except Conflict:
        return shell.back(f"{HERE}/{campaign_id}", "too-late-to-stop")
    audit.record(request, "delivery.stop", campaign_id=campaign_id, delivery_id=delivery_id)
    delivery = detail.delivery(delivery_id)
    is_over = delivery is not None and delivery.state is DeliveryState.FAILED
    return shell.back(f"{HERE}/{campaign_id}", "stopped" if is_over else "stopping")


def _continue(request: Request, campaign_id: str, delivery_id: str, wave: str) -> Response:
    try:
        continuing.go_on(campaign_id, delivery_id, whole_numbers.parse(wave) or 0)
    except Conflict:
        return shell.back(f"{HERE}/{campaign_id}", "nothing-to-continue")
    audit.record(request, "delivery.continue", campaign_id=campaign_id, delivery_id=delivery_id)
    return shell.back(f"{HERE}/{campaign_id}", "continuing")


def _has_waves(request: Request) -> bool:
    return request.text("at_once") != "yes"


def _reviewed_version(request: Request) -> int:
    """What the editor agreed to send. 0, which no campaign has, if the form does not say it."""
    return whole_numbers.parse(request.text("version")) or 0


def _sendable(request: Request) -> CampaignDetail:
    detail = service.view(request.path["campaign_id"])
    permit(Action.SEND, detail.campaign.state)
    return detail


def _review(request: Request, detail: CampaignDetail, status: int = 200, **values: Any) -> Response:
    given = {"test": TestForm(emails=_tester(request)), "at": None, "zone": None, **values}
    return shell.page(
        request,
        "admin/review.html",
        status,
        here=HERE,
        detail=detail,
        report=preflight.check(detail, visit=request.query.get("visit") == "links"),
        look=preview_frames.parse_look(request.query.get("look")),
        looks=preview_frames.LOOKS,
        test_subject=testing.subject_of(detail.campaign),
        test_limits=(testing.MOST, testing_form.LONGEST_LIST),
        reader=preview_frames.parse_reader(request.query.get("reader")),
        readers=preview_frames.READERS,
        example_name=preview_frames.EXAMPLE_NAME,
        cancellable=Action.CANCEL in permitted_actions(detail.campaign.state),
        **given,
    )


def _tester(request: Request) -> str:
    """The address suggested for the test email: the editor's own."""
    try:
        return addresses.parse(request.identity).typed
    except Invalid:
        return settings.current().admin_email
