"""What every issue looks like: its subject, its sections, how often it comes; and opening the next one."""

from calendar import day_name

from chalicelib.inbox import compose_bodies, frames, issues
from chalicelib.inbox.composing import MOST_ITEMS, MOST_SECTIONS
from chalicelib.inbox.frames import Frame, Notice
from chalicelib.inbox.outline import Every, Outline, Section, check_subject
from chalicelib.kernel.errors import GnaError, Invalid
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_NOTICES = {"saved": Notice("Saved. It holds for issues that are opened from now on.")}
_SPARE = 3
EVERY = {"": "Whenever it is ready", "week": "Every week", "fortnight": "Every two weeks", "month": "Every month"}
_FIELDS = 2 * MOST_SECTIONS


def show(frame: Frame, request: Request) -> Response:
    return _page(frame, request, issues.read_outline()[0])


def save(frame: Frame, request: Request) -> Response:
    wanted = Outline()
    try:
        wanted = _parse(request)
        issues.save_outline(wanted)
    except Invalid as failure:
        return _page(frame, request, wanted if wanted.sections else issues.read_outline()[0], failure)
    return frames.back(f"{frame.prefix}/inbox/outline", "saved")


def open_next(frame: Frame, request: Request) -> tuple[Response, str]:
    """Also the id of the draft, if it is new: a second press leads to what the first one opened."""
    version = _field(request, "version")
    if not (version.isascii() and version.isdigit() and len(version) < 10):
        raise Invalid("The form could not be read")
    issue, is_new = issues.open_shown(int(version), request.identity)
    return frames.back(f"{frame.prefix}/campaigns/{issue.id}", "opened"), issue.id if is_new else ""


def _parse(request: Request) -> Outline:
    """A row without a heading is none. Rows are in the order of their places."""
    headings, wanted = request.texts("heading", _FIELDS), request.texts("wanted", _FIELDS)
    if len(headings) != len(wanted) or len(headings) > MOST_SECTIONS + _SPARE:
        raise Invalid("The form could not be read")
    sections = [
        Section(compose_bodies.check_heading(heading), _wanted(number))
        for heading, number in zip(headings, wanted, strict=True)
        if heading.strip()
    ]
    if len(sections) > MOST_SECTIONS:
        raise Invalid(f"An issue has at most {MOST_SECTIONS} sections")
    every = _field(request, "every")
    if every not in EVERY:
        raise Invalid("Choose how often it comes")
    subject = check_subject(_field(request, "subject"))
    return Outline(subject, tuple(sections), Every(every) if every else None, _day(request, every))


def _day(request: Request, every: str) -> int:
    name, least, most = ("month_day", 1, 28) if every == Every.MONTH else ("week_day", 0, 6)
    text = _field(request, name) or str(least)
    if not (text.isascii() and text.isdigit() and least <= int(text[:3]) <= most):
        raise Invalid("Choose the day from the list")
    return int(text)


def _wanted(text: str) -> int:
    if not text.strip():
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= MOST_ITEMS):
        raise Invalid(f"A section can wish for 0 to {MOST_ITEMS} items")
    return int(text)


def _field(request: Request, name: str) -> str:
    return next(iter(request.texts(name, _FIELDS)), "")


def _page(frame: Frame, request: Request, outline: Outline, failure: GnaError | None = None) -> Response:
    stored, next_date = issues.read_outline()
    blank = min(_SPARE, MOST_SECTIONS - len(outline.sections)) or 0
    return frame.page(
        request,
        "inbox/outline.html",
        "Outline",
        _NOTICES,
        responses.status_of(failure) if failure else 200,
        here=f"{frame.prefix}/inbox",
        outline=outline,
        shown=stored.version,
        open_issue=issues.find_open(stored),
        rows=[*outline.sections, *[Section("")] * blank],
        every=EVERY,
        week_days=list(enumerate(day_name)),
        next_date=next_date,
        wrong=failure.reason if failure else "",
    )
