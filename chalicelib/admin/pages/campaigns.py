"""The pages of campaigns: the list, the editor with its preview, and the report of a sent one."""

from typing import Any
from urllib.parse import urlencode

from chalicelib.access import audit
from chalicelib.admin import campaign_form, preview_frames, segment_choice, shell
from chalicelib.admin.campaign_conflicts import explain
from chalicelib.admin.campaign_form import Form
from chalicelib.admin.segment_choice import Choice
from chalicelib.campaigns import fields, results, segments, service, versions
from chalicelib.campaigns.content import corrections
from chalicelib.campaigns.model import Action, CampaignDetail, State, is_stopped, permit, permitted_actions
from chalicelib.campaigns.sending import progress, stopping, waves
from chalicelib.kernel.errors import Conflict, Invalid, NotFound
from chalicelib.mail import templates
from chalicelib.web import paging, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

HERE = "/admin/campaigns"
_CHANGED_MEANWHILE = (
    "Someone else changed this campaign while you were editing. Your version is below and not saved yet: "
    "saving now replaces theirs, which stays in the history."
)

# These notices are in the URL of a page that reloads itself until everything is sent.
_WHILE_SENDING = ("sending", "retrying", "stopping", "continuing", "nothing-to-continue")


def list_campaigns(request: Request) -> Response:
    number, size = paging.requested(request)
    state = request.query.get("state") or ""
    found = service.list_page(fields.state(state), number, size)
    query = {name: request.query[name] for name in ("state", "per_page") if request.query.get(name)}
    return shell.page(
        request,
        "admin/campaigns.html",
        here=HERE,
        found=found,
        number=number,
        pages=max(1, -(-found.total // size)),
        state=state,
        states=list(State),
        page_url=lambda page: f"{HERE}?{urlencode({**query, 'page': page})}",
    )


def new_campaign(request: Request) -> Response:
    """With `segment`, for the people of that segment."""
    segment_id = request.query.get("segment")
    return _editor_again(request, segment_choice.start_with(segment_id) if segment_id else Choice(Form()), None)


def save_new_campaign(request: Request) -> Response:
    form, choice = segment_choice.parse_form(request)
    if choice:
        return _editor_again(request, choice, None)
    try:
        detail = service.create(form.draft(), by=request.identity)
    except Invalid as failure:
        return _editor(request, form, None, 400, failure.reason)
    return _after_saving(request, detail)


def edit_campaign(request: Request) -> Response:
    """The editor, or the report of a campaign that can no longer be changed."""
    detail = service.view(request.path["campaign_id"])
    if Action.UPDATE in permitted_actions(detail.campaign.state):
        return _editor(request, campaign_form.fit_to_page(campaign_form.form_from(detail)), detail)
    return _report(request, detail)


@explain
def save_campaign(request: Request) -> Response:
    detail = service.view(request.path["campaign_id"])
    form, choice = segment_choice.parse_form(request, campaign_form.form_from(detail))
    if choice:
        return _editor_again(request, choice, detail)
    try:
        edits, content = form.edits()
        saver = service.Saver(request.identity)
        return _after_saving(request, service.update(detail.campaign.id, edits, content, form.version, saver))
    except Invalid as failure:
        return _editor(request, form, detail, 400, failure.reason)
    except Conflict as failure:
        if Action.UPDATE not in permitted_actions(detail.campaign.state):
            raise
        reason = _CHANGED_MEANWHILE if form.version != detail.campaign.version else failure.reason
        return _editor(request, form, detail, 409, reason)


def preview_form(request: Request) -> Response:
    """What is in the form, for the frame beside it; nothing is saved."""
    campaign_id = request.text("campaign_id")
    try:
        stored = campaign_form.form_from(service.view(campaign_id)) if campaign_id else None
        draft = campaign_form.parse_form(request, stored).preview_draft()
        name = preview_frames.parse_name(request.text("reader"), request.text("nickname"))
        look = preview_frames.parse_look(request.text("look"))
        return preview_frames.preview_response(service.preview_detail(draft), look, name)
    except (Invalid, NotFound) as failure:
        return preview_frames.refusal_response(failure)


def read_long_field(request: Request) -> Response:
    """The full text of a field that was too long for the form; `web` is the body of the web version."""
    campaign_id, name = request.path["campaign_id"], request.path["field"]
    if name == "web":
        text = corrections.view_web_version(campaign_id).content.body
    elif name in campaign_form.LONG_FIELDS:
        text = campaign_form.form_from(service.view(campaign_id)).value(name)
    else:
        raise NotFound("No such field")
    return responses.html(text).with_headers(Content_Type="text/plain; charset=utf-8")


def preview_campaign(request: Request) -> Response:
    """As it is, or as it was in an older version."""
    campaign_id, wanted = request.path["campaign_id"], request.query.get("version")
    detail = versions.view(campaign_id, versions.parse_number(wanted)).detail if wanted else service.view(campaign_id)
    name = preview_frames.parse_name(request.query.get("reader"))
    return preview_frames.preview_response(detail, preview_frames.parse_look(request.query.get("look")), name)


def duplicate_campaign(request: Request) -> Response:
    copy = service.duplicate(request.path["campaign_id"], request.identity)
    return shell.back(f"{HERE}/{copy.campaign.id}", "duplicated")


@explain
def confirm_deletion(request: Request) -> Response:
    detail = service.view(request.path["campaign_id"])
    permit(Action.DELETE, detail.campaign.state)
    return shell.page(request, "admin/campaign_delete.html", here=HERE, campaign=detail.campaign)


@explain
def delete_campaign(request: Request) -> Response:
    service.delete(request.path["campaign_id"])
    audit.record(request, "campaign.delete", campaign_id=request.path["campaign_id"])
    return shell.back(HERE, "deleted")


def _after_saving(request: Request, detail: CampaignDetail) -> Response:
    path = f"{HERE}/{detail.campaign.id}"
    return shell.back(path + "/review") if request.text("next") == "review" else shell.back(path, "saved")


def _editor_again(request: Request, choice: Choice, detail: CampaignDetail | None) -> Response:
    """As it was sent, over the version that was opened."""
    given: dict[str, Any] = {"said": (choice.said, "good")} if choice.said else {}
    given |= {"opened_version": choice.form.version or "", "from_segment": choice.segment}
    return _editor(request, choice.form, detail, 400 if choice.problem else 200, choice.problem, **given)


def _editor(
    request: Request, form: Form, detail: CampaignDetail | None, status: int = 200, problem: str = "", **more: Any
) -> Response:
    given = {
        "form": form,
        "opened_version": detail.campaign.version if detail else "",
        "campaign": detail.campaign if detail else None,
        "segments": segments.list_by_name(),
        "from_segment": "",
        "looks": preview_frames.LOOKS,
        "has_own_template": templates.has_own("campaign.html"),
        "readers": preview_frames.READERS,
        "example_name": preview_frames.EXAMPLE_NAME,
        "problem": problem or None,
        **more,
    }
    return shell.page(request, "admin/compose.html", status, here=HERE, **given)


def _report(request: Request, detail: CampaignDetail) -> Response:
    under_way = detail.campaign.state is State.PUBLISHING
    return shell.page(
        request,
        "admin/report.html",
        outdated=() if under_way else _WHILE_SENDING,
        here=HERE,
        detail=results.with_tallies(progress.with_live_counts(detail)),
        look=preview_frames.parse_look(request.query.get("look")),
        looks=preview_frames.LOOKS,
        reader=preview_frames.parse_reader(request.query.get("reader")),
        readers=preview_frames.READERS,
        expected=progress.expected_recipients(detail.campaign, detail.deliveries),
        is_stopped=is_stopped,
        is_stopping=stopping.is_stopping,
        count_deferred=progress.count_deferred,
        count_not_sent=progress.count_not_sent,
        counts_until=results.counts_until,
        wave_limits=(waves.BOUNCED_PERCENT, waves.COMPLAINED_PERCENT),
    )
