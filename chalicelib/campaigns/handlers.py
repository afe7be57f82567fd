"""Campaigns over HTTP, for editors."""

from typing import Any

from chalicelib.access import audit
from chalicelib.campaigns import bodies, fields, result_bodies, results, serializers, service
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.history import Saver
from chalicelib.campaigns.model import CampaignDetail, Content
from chalicelib.campaigns.sending import continuing, deliveries, progress, stopping
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid
from chalicelib.web import paging, responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.paging import PageQuery
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_TAG = "campaigns"
_CAMPAIGN = {200: Answer("The campaign", bodies.Campaign)}
_NEW_DRAFT = {201: Answer("The new draft", bodies.Campaign)}


@operation(
    "List campaigns, newest first",
    tag=_TAG,
    query=(bodies.CampaignQuery, PageQuery),
    answers={200: Answer("A page", bodies.CampaignPage)},
    refuses=(400,),
)
def list_campaigns(request: Request) -> Response:
    number, size = paging.requested(request)
    state = schemas.read(bodies.CampaignQuery, request.query).state
    page = service.list_page(state or None, number, size)
    lines = [serializers.campaign_line(campaign) for campaign in page.items]
    return responses.json(bodies.CampaignPage(number, size, page.total, lines))


@operation(
    "What became of the campaigns of the last twelve months, newest first",
    tag=_TAG,
    query=PageQuery,
    answers={200: Answer("A page", result_bodies.ResultPage)},
    refuses=(400,),
)
def list_results(request: Request) -> Response:
    number, size = paging.requested(request)
    year = results.list_year()
    page = results.look_up(year[(number - 1) * size : number * size])
    return responses.json(
        result_bodies.ResultPage(number, size, len(year), [serializers.result(each) for each in page])
    )


@operation("Create a campaign", tag=_TAG, body=bodies.Draft, answers=_NEW_DRAFT, refuses=(400,))
def create_campaign(request: Request) -> Response:
    if request.fields.get("scheduled_at") is not None:
        raise Invalid("A campaign starts as a draft: create it, then schedule it")
    return _edited(service.create(schemas.read(bodies.Draft, request.fields), by=request.identity), 201)


@operation("Get a campaign with its deliveries", tag=_TAG, answers=_CAMPAIGN, refuses=(404,))
def view_campaign(request: Request) -> Response:
    return _answer(progress.with_live_counts(service.view(request.path["campaign_id"])))


@operation(
    "Deliveries with live counts; may be polled every few seconds",
    tag=_TAG,
    answers={200: Answer("The progress", bodies.Progress)},
    refuses=(404,),
)
def watch_campaign(request: Request) -> Response:
    current = progress.read_progress(request.path["campaign_id"])
    found = [serializers.delivery_body(delivery) for delivery in results.tally_deliveries(current.deliveries)]
    return responses.json(bodies.Progress(current.state, current.expected, found))


@operation(
    "Change a draft or a scheduled campaign; `scheduled_at` sets, moves or (null) cancels its schedule. "
    "`hidden` alone may be changed in every state",
    tag=_TAG,
    body=bodies.CampaignEdits,
    answers={200: Answer("The campaign", bodies.EditedCampaign)},
    refuses=(400, 404, 409),
)
def update_campaign(request: Request) -> Response:
    sent = schemas.read(bodies.CampaignEdits, request.fields)
    edits, content = _edits(sent)
    saver = Saver(request.identity, sent.autosave)
    changed = service.update(request.path["campaign_id"], edits, content, sent.version, saver)
    if edits.get("scheduled_at"):
        audit.record(request, "campaign.schedule", campaign_id=changed.campaign.id)
    if "hidden" in edits:
        audit.record(
            request, "campaign.hide" if edits["hidden"] else "campaign.show", campaign_id=changed.campaign.id
        )
    if set(edits) == {"hidden"} and not content:
        return _answer(changed)
    removed = renderer.removed_markup(changed.campaign.format, changed.content.body)
    return responses.json(serializers.edited_campaign(changed, removed))


@operation("Delete a draft", tag=_TAG, answers={204: Answer("Deleted")}, refuses=(404, 409))
def delete_campaign(request: Request) -> Response:
    service.delete(request.path["campaign_id"])
    audit.record(request, "campaign.delete", campaign_id=request.path["campaign_id"])
    return responses.no_content()


@operation("Send now", tag=_TAG, body=bodies.Send, answers=_CAMPAIGN, refuses=(400, 404, 409))
def send_campaign(request: Request) -> Response:
    asked = schemas.read(bodies.Send, request.fields)
    sent = service.send_now(request.path["campaign_id"], version=asked.version, waves=asked.waves)
    audit.record(request, "campaign.send", campaign_id=sent.campaign.id)
    return _answer(sent)


@operation("Schedule for later", tag=_TAG, body=bodies.Schedule, answers=_CAMPAIGN, refuses=(400, 404, 409))
def schedule_campaign(request: Request) -> Response:
    asked = schemas.read(bodies.Schedule, request.fields)
    scheduled = service.schedule(request.path["campaign_id"], asked.scheduled_at, asked.time_zone, asked.waves)
    audit.record(request, "campaign.schedule", campaign_id=scheduled.campaign.id)
    return _answer(scheduled)


@operation("Cancel the schedule; the campaign becomes a draft again", tag=_TAG, answers=_CAMPAIGN, refuses=(404, 409))
def cancel_campaign(request: Request) -> Response:
    cancelled = service.cancel(request.path["campaign_id"])
    audit.record(request, "campaign.cancel", campaign_id=cancelled.campaign.id)
    return _answer(cancelled)


@operation("Duplicate as a new draft", tag=_TAG, answers=_NEW_DRAFT, refuses=(404,))
def duplicate_campaign(request: Request) -> Response:
    return _answer(service.duplicate(request.path["campaign_id"], request.identity), 201)


@operation(
    "Retry a failed delivery: send only what is still owed",
    tag=_TAG,
    answers={200: Answer("The delivery", bodies.Delivery)},
    refuses=(404, 409),
)
def retry_delivery(request: Request) -> Response:
    campaign_id, delivery_id = request.path["campaign_id"], request.path["delivery_id"]
    detail = deliveries.retry(campaign_id, delivery_id)
    audit.record(request, "delivery.retry", campaign_id=campaign_id, delivery_id=delivery_id)
    return _delivery(detail, delivery_id)


@operation(
    "Stop a delivery that is being sent; a retry continues it",
    tag=_TAG,
    answers={
        200: Answer(
            "The delivery: `failed` with the reason, or `sending` while the batches at hand are being finished",
            bodies.Delivery,
        )
    },
    refuses=(404, 409),
)
def stop_delivery(request: Request) -> Response:
    campaign_id, delivery_id = request.path["campaign_id"], request.path["delivery_id"]
    detail = stopping.stop(campaign_id, delivery_id)
    audit.record(request, "delivery.stop", campaign_id=campaign_id, delivery_id=delivery_id)
    return _delivery(progress.with_live_counts(detail), delivery_id)


@operation(
    "Start the next wave now, also after the numbers of a wave have stopped the delivery",
    tag=_TAG,
    body=bodies.Continue,
    answers={200: Answer("The delivery", bodies.Delivery)},
    refuses=(400, 404, 409),
)
def continue_delivery(request: Request) -> Response:
    campaign_id, delivery_id = request.path["campaign_id"], request.path["delivery_id"]
    asked = schemas.read(bodies.Continue, request.fields)
    detail = continuing.go_on(campaign_id, delivery_id, asked.wave)
    audit.record(request, "delivery.continue", campaign_id=campaign_id, delivery_id=delivery_id)
    return _delivery(progress.with_live_counts(detail), delivery_id)


def _edits(sent: bodies.CampaignEdits) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is to be changed: fields of the campaign, and fields of its content."""
    edits = sent.sent()
    content = {name: edits.pop(name) for name in Content.__struct_fields__ if name in edits}
    if edits.get("time_zone", ...) is None:
        del edits["time_zone"]
    if edits.get("scheduled_at") is not None:
        edits["scheduled_at"] = fields.moment(edits["scheduled_at"], edits.get("time_zone"), clock.now())
    return edits, content


def _edited(detail: CampaignDetail, status: int = 200) -> Response:
    """With what no reader will see of the body, for whoever just wrote it."""
    removed = renderer.removed_markup(detail.campaign.format, detail.content.body)
    return responses.json(serializers.campaign_detail(results.with_tallies(detail), removed), status)


def _delivery(detail: CampaignDetail, delivery_id: str) -> Response:
    found = results.with_tallies(detail).delivery(delivery_id)
    assert found
    return responses.json(serializers.delivery_body(found))


def _answer(detail: CampaignDetail, status: int = 200) -> Response:
    return responses.json(serializers.campaign_detail(results.with_tallies(detail)), status)
