"""Campaigns, as pages: the list, writing one, and what became of it."""

from urllib.parse import urlencode

from chalicelib.access import audit
from chalicelib.admin import campaign_form, preview_frames, shell
from chalicelib.admin.campaign_form import Form
from chalicelib.campaigns import fields, service
from chalicelib.campaigns.model import Action, CampaignDetail, State, permitted_actions
from chalicelib.campaigns.sending import progress
from chalicelib.kernel.errors import Conflict, Invalid, NotFound
from chalicelib.web import paging, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

HERE = "/admin/campaigns"
_ONE = HERE + "/{campaign_id}"
_OVERTAKEN = (
    "Someone else changed this campaign while you were editing. Your version is below and not saved yet: "
    "saving now overwrites theirs."
)


def list_letters(request: Request) -> Response:
    number, size = paging.requested(request)
    state = request.query.get("state") or ""
    page = service.list_page(fields.choice(State, state, "state") if state else None, number, size)
    query = {name: request.query[name] for name in ("state", "per_page") if request.query.get(name)}
    return shell.page(
        request,
        "admin/campaigns.html",
        here=HERE,
        found=page,
        number=number,
        pages=max(1, -(-page.total // size)),
        state=state,
        states=list(State),
        turn=lambda to: f"{HERE}?{urlencode({**query, 'page': to})}",
    )


def begin_letter(request: Request) -> Response:
    return _editor(request, Form(), None)


def keep_new_letter(request: Request) -> Response:
    form = campaign_form.parse_form(request)
    try:
        made = service.create(form.draft())
    except Invalid as failure:
        return _editor(request, form, None, 400, failure.reason)
    return _onward(request, made)


def open_letter(request: Request) -> Response:
    detail = service.view(request.path["campaign_id"])
    if Action.UPDATE in permitted_actions(detail.campaign.state):
        return _editor(request, campaign_form.fit_to_page(campaign_form.form_from(detail)), detail)
    look = preview_frames.parse_look(request.query.get("look"))
    seen = progress.with_live_counts(detail)
    expected = (
        progress.read_progress(detail.campaign.id).expected if detail.campaign.state is State.PUBLISHING else None
    )
    return shell.page(
        request, "admin/report.html", here=HERE, detail=seen, look=look, looks=preview_frames.LOOKS, expected=expected
    )


def keep_letter(request: Request) -> Response:
    detail = service.view(request.path["campaign_id"])
    form = campaign_form.parse_form(request, campaign_form.form_from(detail))
    try:
        edits, content = form.edits()
        return _onward(request, service.update(detail.campaign.id, edits, content, form.version))
    except Invalid as failure:
        return _editor(request, form, detail, 400, failure.reason)
    except Conflict as failure:
        if Action.UPDATE not in permitted_actions(detail.campaign.state):
            raise
        reason = _OVERTAKEN if form.version != detail.campaign.version else failure.reason
        return _editor(request, form, detail, 409, reason)


def preview_letter(request: Request) -> Response:
    """Into the frame beside the form; nothing is kept."""
    campaign_id = request.text("campaign_id")
    stored = campaign_form.form_from(service.view(campaign_id)) if campaign_id else None
    try:
        draft = campaign_form.parse_form(request, stored).sketch()
        return preview_frames.preview_response(
            service.preview_detail(draft), preview_frames.parse_look(request.text("look"))
        )
    except Invalid as failure:
        return preview_frames.refusal_response(failure)


def read_words(request: Request) -> Response:
    """What was too long for the form, as it was written."""
    detail, name = service.view(request.path["campaign_id"]), request.path["field"]
    if name not in campaign_form.LONG:
        raise NotFound("No such field")
    return responses.html(campaign_form.form_from(detail).long(name)).with_headers(
        Content_Type="text/plain; charset=utf-8"
    )


def show_letter(request: Request) -> Response:
    return preview_frames.preview_response(
        service.view(request.path["campaign_id"]), preview_frames.parse_look(request.query.get("look"))
    )


def copy_letter(request: Request) -> Response:
    made = service.duplicate(request.path["campaign_id"])
    return shell.back(f"{HERE}/{made.campaign.id}", "duplicated")


def ask_deletion(request: Request) -> Response:
    detail = service.view(request.path["campaign_id"])
    return shell.page(request, "admin/campaign_delete.html", here=HERE, campaign=detail.campaign)


def delete_letter(request: Request) -> Response:
    service.delete(request.path["campaign_id"])
    audit.record(request, "campaign.delete", campaign_id=request.path["campaign_id"])
    return shell.back(HERE, "deleted")


def _onward(request: Request, detail: CampaignDetail) -> Response:
    path = f"{HERE}/{detail.campaign.id}"
    return shell.back(path + "/review") if request.text("next") == "review" else shell.back(path, "saved")


def _editor(
    request: Request, form: Form, detail: CampaignDetail | None, status: int = 200, problem: str = ""
) -> Response:
    return shell.page(
        request,
        "admin/compose.html",
        status,
        here=HERE,
        form=form,
        opened_version=detail.campaign.version if detail else "",
        campaign=detail.campaign if detail else None,
        looks=preview_frames.LOOKS,
        problem=problem or None,
    )
