"""The two buttons of the editor that are about segments, for browsers without scripts: use one, and save one. Neither
saves the campaign."""

from msgspec import Struct

from chalicelib.admin import campaign_form
from chalicelib.admin.campaign_form import Form, fit_targeting, with_targeting
from chalicelib.campaigns import fields, segments
from chalicelib.kernel.errors import Conflict, Invalid, NotFound
from chalicelib.web.request import Request

SAVED = "Segment saved. The campaign is not saved yet."


class Choice(Struct, frozen=True):
    """The form as it is shown again, and what is said about it. Lists that are too long for the page are taken from
    this `segment` when the form is sent."""

    form: Form
    segment: str = ""
    said: str = ""
    problem: str = ""


def start_with(segment_id: str) -> Choice:
    """A new campaign for the people of this segment."""
    form = with_targeting(Form(), segments.view(segment_id).targeting)
    return Choice(fit_targeting(form), segment_id)


def parse_form(request: Request, stored: Form | None = None) -> tuple[Form, Choice | None]:
    """The form, and what to show again instead of saving it. Fields that were too long for the page stand for what is
    stored, or for the segment that was used."""
    kept, segment_id = stored, request.text("from_segment")
    try:
        if segment_id:
            kept = with_targeting(stored or Form(), segments.view(segment_id).targeting)
    except NotFound:
        form = campaign_form.parse_form(request, stored)
        return form, Choice(form, problem="The segment was deleted meanwhile: choose the recipients again")
    form = campaign_form.parse_form(request, kept)
    return form, _choose(request, form)


def _choose(request: Request, form: Form) -> Choice | None:
    """None if another button was pressed. Return in a field presses the first one of a form: without a segment, it
    means to save."""
    button, segment_id = request.text("next"), request.text("segment") or ""
    if button == "save-segment":
        return _save(request, form)
    return _use(segment_id, form) if button == "segment" and segment_id else None


def _use(segment_id: str, form: Form) -> Choice:
    try:
        used = with_targeting(form, segments.view(segment_id).targeting)
        return Choice(fit_targeting(used), segment_id)
    except NotFound as failure:
        return Choice(form, problem=failure.reason)


def _save(request: Request, form: Form) -> Choice:
    try:
        segments.create(fields.segment_name(request.text("segment_name")), form.targeting())
    except (Invalid, Conflict) as failure:
        return Choice(form, problem=failure.reason)
    return Choice(form, said=SAVED)
