"""The page of segments and tags: saved, changed, deleted, renamed, all on one path."""

from typing import Any

from msgspec.structs import asdict

from chalicelib.access import audit
from chalicelib.admin import campaign_form, shell, tag_words
from chalicelib.admin.campaign_form import Form
from chalicelib.admin.truncate import take_within
from chalicelib.audience import counts, survey
from chalicelib.audience.tags import model as tag_model
from chalicelib.audience.tags import service as tags
from chalicelib.audience.tags.model import Change, State
from chalicelib.campaigns import fields, segments
from chalicelib.campaigns.model import Segment
from chalicelib.kernel.errors import Conflict, Invalid
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.text_size import html_size

HERE = "/admin/segments"
_SUBSCRIBERS = "/admin/subscribers"
# So many are counted whenever the page is opened; more than that when somebody asks.
_COUNTED_AT_ONCE = 100_000
# A form has at most fifty fields.
_MOST_TAGS = 40
_BYTES_FOR_TAGS = 9_000
_MARKUP_OF_A_TAG = 110
_LONGEST = 4_000


def show_segments(request: Request) -> Response:
    if segment_id := request.query.get("edit"):
        segment = segments.view(segment_id)
        return _edit(request, segment, segment.name, campaign_form.form_for(segment))
    if segment_id := request.query.get("delete"):
        segment = segments.view(segment_id)
        return shell.page(request, "admin/segment_delete.html", here=_SUBSCRIBERS, segment=segment)
    return _list(request)


def act(request: Request) -> Response:
    action = request.text("action")
    if action == "save":
        return _save(request)
    if action == "delete":
        return _delete(request)
    if action in ("merge", "remove"):
        return _confirm_change(request, action)
    if action == "change":
        return _change(request)
    return _create(request)


def _create(request: Request) -> Response:
    form, name = campaign_form.parse_form(request), request.text("name") or ""
    try:
        segments.create(fields.segment_name(name), form.targeting())
    except (Invalid, Conflict) as failure:
        return _list(request, 400, name=name[:_LONGEST], form=form, problem=failure.reason)
    return shell.back(HERE, "segment-saved")


def _save(request: Request) -> Response:
    segment = segments.view(request.text("segment") or "")
    form = campaign_form.parse_form(request, campaign_form.form_for(segment))
    name = request.text("name") or ""
    try:
        targeting = asdict(form.targeting())
        segments.change(segment.id, fields.segment_name(name), targeting, form.version)
    except (Invalid, Conflict) as failure:
        return _edit(request, segment, name[:_LONGEST], form, 400, failure.reason)
    return shell.back(HERE, "segment-saved")


def _delete(request: Request) -> Response:
    segment_id = request.text("segment") or ""
    segments.delete(segment_id)
    audit.record(request, "segment.delete", segment_id=segment_id)
    return shell.back(HERE, "segment-deleted")


def _confirm_change(request: Request, action: str) -> Response:
    """How many people it concerns; nothing is changed."""
    wanted = [*request.texts("tag", _MOST_TAGS), *_split(request.text("others"))]
    to = (request.text("to") or "").strip()
    try:
        change = _read_change("rename" if action == "merge" and len(wanted) == 1 else action, wanted, to)
        people = survey.count_tagged(change.old)
    except Invalid as failure:
        typed = {"to": to[:_LONGEST], "others": (request.text("others") or "")[:_LONGEST]}
        return _list(request, 400, chosen=wanted, problem=failure.reason, **typed)
    return shell.page(
        request, "admin/tags_change.html", here=_SUBSCRIBERS, change=change, people=people, words=tag_words
    )


def _change(request: Request) -> Response:
    try:
        wanted = (request.text("tags") or "").splitlines()
        change = _read_change(request.text("change") or "", wanted, request.text("to") or "")
        job = tags.start(change)
    except (Invalid, Conflict) as failure:
        return _list(request, 400, problem=failure.reason)
    audit.record(request, f"tags.{change.action}", job_id=job.id)
    return shell.back(HERE, "tags-changing")


def _read_change(action: str, wanted: list[str], to: str) -> Change:
    if not wanted:
        raise Invalid("Choose at least one tag")
    if action != "remove" and not to:
        raise Invalid("Say what the tag is called from now on")
    return tag_model.check_change(action, wanted, None if action == "remove" else to)


def _split(typed: str | None) -> list[str]:
    return [word for word in (typed or "").split(",") if word.strip()]


def _edit(
    request: Request, segment: Segment, name: str, form: Form, status: int = 200, problem: str | None = None
) -> Response:
    shown = campaign_form.fit_to_page(form)
    given: dict[str, Any] = {"edited": segment, "form": shown, "name": name, "problem": problem, "running": None}
    return shell.page(request, "admin/segments.html", status, here=_SUBSCRIBERS, **given)


def _list(request: Request, status: int = 200, **typed: Any) -> Response:
    """One reading counts all segments and all tags."""
    found = segments.list_by_name()
    counted = counts.total() <= _COUNTED_AT_ONCE or request.query.get("count") == "yes"
    taken = segments.take_survey(found) if counted else None
    jobs = tags.list_recent()
    common = taken.most_common_tags() if taken else []
    given = {
        "edited": None,
        "items": list(zip(found, taken.reached if taken else [None] * len(found), strict=True)),
        "most": segments.MOST,
        "counted": counted,
        "tags": _fitting(common[:_MOST_TAGS]),
        "total_tags": len(common),
        "running": next((job for job in jobs if job.state is State.RUNNING), None),
        "jobs": [job for job in jobs if job.state is not State.RUNNING],
        "words": tag_words,
        "form": Form(everybody=False),
        "name": "",
        "to": "",
        "others": "",
        "chosen": (),
        **typed,
    }
    return shell.page(request, "admin/segments.html", status, here=_SUBSCRIBERS, **given)


def _fitting(common: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Each is on the page twice, in its field and beside it."""
    sizes = [2 * html_size(tag) + _MARKUP_OF_A_TAG for tag, _ in common]
    return take_within(common, sizes, _BYTES_FOR_TAGS)
