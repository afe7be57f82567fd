"""Campaigns, as pages: the list, writing one, and what became of it."""

from urllib.parse import urlencode

from chalicelib.access import audit
from chalicelib.access.door import door
from chalicelib.campaigns import fields, service, watching
from chalicelib.campaigns.model import Deed, State, Whole, permitted
from chalicelib.desk import composing, frame, letters
from chalicelib.desk.composing import Form
from chalicelib.kernel.errors import Conflict, Invalid, NotFound
from chalicelib.web import paging, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.routing import Routes

routes = Routes(__name__, errors=frame.problem, authorizer=door)

HERE = "/admin/campaigns"
_ONE = HERE + "/{campaign_id}"
_OVERTAKEN = (
    "Someone else changed this campaign while you were editing. Your version is below and not saved yet: "
    "saving now overwrites theirs."
)


@routes.get(HERE)
def list_letters(request: Request) -> Response:
    number, size = paging.asked(request)
    state = request.query.get("state") or ""
    page = service.page(fields.choice(State, state, "state") if state else None, number, size)
    query = {name: request.query[name] for name in ("state", "per_page") if request.query.get(name)}
    return frame.page(
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


@routes.get(HERE + "/new")
def begin_letter(request: Request) -> Response:
    return _editor(request, Form(), None)


@routes.post(HERE + "/new", accepts=frame.ANY_FORM)
def keep_new_letter(request: Request) -> Response:
    form = composing.typed(request)
    try:
        made = service.create(form.draft())
    except Invalid as failure:
        return _editor(request, form, None, 400, failure.reason)
    return _onward(request, made)


@routes.get(_ONE)
def open_letter(request: Request) -> Response:
    whole = service.view(request.path["campaign_id"])
    if Deed.UPDATE in permitted(whole.campaign.state):
        return _editor(request, composing.fitted(composing.of(whole)), whole)
    look = letters.look(request.query.get("look"))
    seen = watching.live(whole)
    expected = watching.look(whole.campaign.id).expected if whole.campaign.state is State.PUBLISHING else None
    return frame.page(
        request, "admin/report.html", here=HERE, whole=seen, look=look, looks=letters.LOOKS, expected=expected
    )


@routes.post(_ONE, accepts=frame.ANY_FORM)
def keep_letter(request: Request) -> Response:
    whole = service.view(request.path["campaign_id"])
    form = composing.typed(request, composing.of(whole))
    try:
        edits, content = form.edits()
        return _onward(request, service.update(whole.campaign.id, edits, content, form.version))
    except Invalid as failure:
        return _editor(request, form, whole, 400, failure.reason)
    except Conflict as failure:
        if Deed.UPDATE not in permitted(whole.campaign.state):
            raise
        reason = _OVERTAKEN if form.version != whole.campaign.version else failure.reason
        return _editor(request, form, whole, 409, reason)


@routes.post(HERE + "/preview", accepts=frame.ANY_FORM)
def preview_letter(request: Request) -> Response:
    """Into the frame beside the form; nothing is kept."""
    campaign_id = request.text("campaign_id")
    stored = composing.of(service.view(campaign_id)) if campaign_id else None
    try:
        draft = composing.typed(request, stored).sketch()
        return letters.shown(service.imagine(draft), letters.look(request.text("look")))
    except Invalid as failure:
        return letters.refused(failure)


@routes.get(_ONE + "/words/{field}")
def read_words(request: Request) -> Response:
    """What was too long for the form, as it was written."""
    whole, name = service.view(request.path["campaign_id"]), request.path["field"]
    if name not in composing.LONG:
        raise NotFound("No such field")
    return responses.html(composing.of(whole).long(name)).having(Content_Type="text/plain; charset=utf-8")


@routes.get(_ONE + "/letter")
def show_letter(request: Request) -> Response:
    return letters.shown(service.view(request.path["campaign_id"]), letters.look(request.query.get("look")))


@routes.post(_ONE + "/duplicate", accepts=frame.ANY_FORM)
def copy_letter(request: Request) -> Response:
    made = service.duplicate(request.path["campaign_id"])
    return frame.back(f"{HERE}/{made.campaign.id}", "duplicated")


@routes.get(_ONE + "/delete")
def ask_deletion(request: Request) -> Response:
    whole = service.view(request.path["campaign_id"])
    return frame.page(request, "admin/campaign_delete.html", here=HERE, campaign=whole.campaign)


@routes.post(_ONE + "/delete", accepts=frame.ANY_FORM)
def delete_letter(request: Request) -> Response:
    service.delete(request.path["campaign_id"])
    audit.record(request, "campaign.delete", campaign_id=request.path["campaign_id"])
    return frame.back(HERE, "deleted")


def _onward(request: Request, whole: Whole) -> Response:
    path = f"{HERE}/{whole.campaign.id}"
    return frame.back(path + "/review") if request.text("next") == "review" else frame.back(path, "saved")


def _editor(request: Request, form: Form, whole: Whole | None, status: int = 200, problem: str = "") -> Response:
    return frame.page(
        request,
        "admin/compose.html",
        status,
        here=HERE,
        form=form,
        opened_version=whole.campaign.version if whole else "",
        campaign=whole.campaign if whole else None,
        looks=letters.LOOKS,
        problem=problem or None,
    )
