"""Campaigns over HTTP, for the admin."""

from typing import Any

from chalicelib.access import audit
from chalicelib.campaigns import fields, serializers, service
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import CampaignDetail, Format, State
from chalicelib.campaigns.review import previews
from chalicelib.campaigns.sending import deliveries, progress
from chalicelib.campaigns.service import Draft
from chalicelib.kernel import addresses, clock
from chalicelib.kernel.errors import Invalid
from chalicelib.web import paging, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_CAMPAIGNS = "/admin/api/campaigns"
_CAMPAIGN = _CAMPAIGNS + "/{campaign_id}"


def list_campaigns(request: Request) -> Response:
    number, size = paging.requested(request)
    state = request.query.get("state") or None
    page = service.list_page(fields.choice(State, state, "state") if state else None, number, size)
    return responses.json(
        paging.page_body([serializers.campaign_line(one) for one in page.items], number, size, page.total)
    )


def create_campaign(request: Request) -> Response:
    if request.fields.get("scheduled_at") is not None:
        raise Invalid("A campaign starts as a draft: create it, then schedule it")
    made = service.create(draft(request))
    return _answer(made, 201, removed=renderer.removed_markup(made.campaign.format, made.content.body))


def view_campaign(request: Request) -> Response:
    return _answer(progress.with_live_counts(service.view(request.path["campaign_id"])))


def watch_campaign(request: Request) -> Response:
    look = progress.read_progress(request.path["campaign_id"])
    found = [serializers.delivery(one) for one in look.deliveries]
    return responses.json({"state": look.state.value, "expected": look.expected, "deliveries": found})


def update_campaign(request: Request) -> Response:
    edits, content = _edits(request), _content_edits(request)
    changed = service.update(request.path["campaign_id"], edits, content, _version(request))
    if edits.get("scheduled_at"):
        audit.record(request, "campaign.schedule", campaign_id=changed.campaign.id)
    return _answer(changed, removed=renderer.removed_markup(changed.campaign.format, changed.content.body))


def delete_campaign(request: Request) -> Response:
    service.delete(request.path["campaign_id"])
    audit.record(request, "campaign.delete", campaign_id=request.path["campaign_id"])
    return responses.no_content()


def send_campaign(request: Request) -> Response:
    sent = service.send_now(request.path["campaign_id"])
    audit.record(request, "campaign.send", campaign_id=sent.campaign.id)
    return _answer(sent)


def schedule_campaign(request: Request) -> Response:
    if request.fields.get("scheduled_at") is None:
        raise Invalid("scheduled_at is required")
    zone = request.fields.get("time_zone")
    zone = fields.time_zone(zone) if zone is not None else None
    scheduled = service.schedule(request.path["campaign_id"], request.fields["scheduled_at"], zone)
    audit.record(request, "campaign.schedule", campaign_id=scheduled.campaign.id)
    return _answer(scheduled)


def cancel_campaign(request: Request) -> Response:
    cancelled = service.cancel(request.path["campaign_id"])
    audit.record(request, "campaign.cancel", campaign_id=cancelled.campaign.id)
    return _answer(cancelled)


def duplicate_campaign(request: Request) -> Response:
    return _answer(service.duplicate(request.path["campaign_id"]), 201)


def test_campaign(request: Request) -> Response:
    address = addresses.parse(request.text("email"))
    detail = service.view(request.path["campaign_id"])
    previews.send_test(detail, address, previews.parse_nickname(request.fields.get("nickname")))
    audit.record(request, "campaign.test", campaign_id=detail.campaign.id)
    return _answer(detail)


def retry_delivery(request: Request) -> Response:
    campaign_id, delivery_id = request.path["campaign_id"], request.path["delivery_id"]
    detail = deliveries.retry(campaign_id, delivery_id)
    audit.record(request, "delivery.retry", campaign_id=campaign_id, delivery_id=delivery_id)
    return responses.json(next(serializers.delivery(one) for one in detail.deliveries if one.id == delivery_id))


def draft(request: Request) -> Draft:
    """What the body composes, all of it checked."""
    given = request.fields
    return Draft(
        subject=fields.subject(given.get("subject")),
        body=fields.body(given.get("body")),
        text=fields.text(given.get("text")),
        preheader=fields.preheader(given.get("preheader")),
        format=_format(given),
        targeting=fields.targeting(given.get("aim")),
    )


def _edits(request: Request) -> dict[str, Any]:
    """Only what was sent: what is left out stays as it is."""
    given = request.fields
    edits: dict[str, Any] = {}
    if "subject" in given:
        edits["subject"] = fields.subject(given["subject"])
    if "preheader" in given:
        edits["preheader"] = fields.preheader(given["preheader"])
    if "format" in given:
        edits["format"] = _format(given)
    if "aim" in given:
        edits["targeting"] = fields.targeting(given["aim"])
    if given.get("time_zone") is not None:
        edits["time_zone"] = fields.time_zone(given["time_zone"])
    if "scheduled_at" in given:
        at = given["scheduled_at"]
        edits["scheduled_at"] = fields.moment(at, edits.get("time_zone"), clock.now()) if at is not None else None
    return edits


def _content_edits(request: Request) -> dict[str, Any]:
    given = request.fields
    edits: dict[str, Any] = {}
    if "body" in given:
        edits["body"] = fields.body(given["body"])
    if "text" in given:
        edits["text"] = fields.text(given["text"])
    return edits


def _format(given: dict[str, Any]) -> Format:
    format = given.get("format")
    return Format.HTML if format is None else fields.choice(Format, format, "format")


def _version(request: Request) -> int | None:
    version = request.fields.get("version")
    if version is not None and (not isinstance(version, int) or isinstance(version, bool)):
        raise Invalid("version must be a whole number")
    return version


def _answer(detail: CampaignDetail, status: int = 200, **more: Any) -> Response:
    return responses.json({**serializers.campaign_detail(detail), **more}, status)
