"""One entry: all that is known of it, its note, and for members the way to hand it to the publication."""

from collections.abc import Callable

from chalicelib.inbox import entry_store, issues, model, service, suggestions, triage, waiting
from chalicelib.inbox.frames import Frame, Notice, back
from chalicelib.inbox.model import Act, EntryDetail
from chalicelib.inbox.owners import owner_of
from chalicelib.inbox.screens import views
from chalicelib.kernel.errors import Conflict, GnaError, Invalid, NotFound, Refused, TooMany
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_LONGEST = model.LONGEST_NOTE
_NOTICES = {
    "clipped": Notice("Saved. It is in the inbox now."),
    "known": Notice("This was here already; your note was added to it.", "info"),
    "noted": Notice("Saved."),
    "forgotten": Notice("The suggestion is deleted."),
    "suggested": Notice("Handed to the publication. It is not told who you are."),
    "bookmark": Notice("Saved. It is among your bookmarks now."),
    "archive": Notice("Archived."),
    "restore": Notice("Back in the inbox."),
    "moved": Notice("Not done: it was moved meanwhile, by somebody else or in another tab.", "bad"),
}


def show(frame: Frame, request: Request) -> Response:
    return _page(frame, request, _find(request))


def save(frame: Frame, request: Request) -> Response:
    """Its buttons: for the note, the suggestion, and each of the acts."""
    detail, owner = _find(request), owner_of(request)
    act = next((act for act in Act if request.text(act)), None)
    if act:
        return _act(frame, owner, detail, act)
    try:
        notice = _choose(frame, request)(request, owner, detail)
    except (Conflict, Invalid, Refused, TooMany) as failure:
        return _page(frame, request, detail, failure)
    return back(_path(frame, detail), notice)


def _choose(frame: Frame, request: Request) -> Callable[[Request, str, EntryDetail], str]:
    """What was pressed."""
    if frame.is_desk:
        return _forget if request.text("forget") else _note
    return _suggest if request.text("suggest") else _note


def _forget(request: Request, owner: str, detail: EntryDetail) -> str:
    suggestions.forget(owner, detail.entry.id, request.text("was") or "")
    return "forgotten"


def _note(request: Request, owner: str, detail: EntryDetail) -> str:
    note = model.check_note(request.text("note") or "")
    if "section" in request.fields:
        triage.set_section(owner, detail.entry.id, triage.check_section(request.text("section")))
    service.set_note(owner, detail.entry.id, note)
    return "noted"


def _suggest(request: Request, owner: str, detail: EntryDetail) -> str:
    note = model.check_note(request.text("message") or "")
    service.suggest(request.member.member, detail.entry.id, note)
    return "suggested"


def _act(frame: Frame, owner: str, detail: EntryDetail, act: Act) -> Response:
    done = triage.act(owner, [detail.entry.id], act, detail.entry.state)[0]
    waiting.forget(owner)
    if act is Act.DISMISS and not done.error:
        return back(f"{frame.prefix}/inbox", "dismiss", items=1)
    return back(_path(frame, detail), "moved" if done.error else act.value)


def _page(frame: Frame, request: Request, detail: EntryDetail, failure: GnaError | None = None) -> Response:
    def typed(name: str, stored: str) -> str:
        return (request.text(name) or "") if failure else stored

    (one,) = views.view_all(detail.entry.owner, [detail], views.WHOLE)
    answer = frame.page(
        request,
        "inbox/entry.html",
        views.view(detail).title,
        _NOTICES,
        responses.status_of(failure) if failure else 200,
        here=f"{frame.prefix}/inbox",
        one=one,
        states=views.STATES,
        note=typed("note", detail.entry.note)[:_LONGEST],
        message=typed("message", "")[:_LONGEST],
        section=typed("section", detail.entry.section)[: triage.LONGEST_SECTION],
        headings=suggest_headings(frame),
        was=suggestions.mark_of(detail.entry.suggestion),
        wrong=failure.reason if failure else "",
    )
    return views.with_photos(answer, [one])


def suggest_headings(frame: Frame) -> list[str]:
    """Those of the outline. Members compose nothing."""
    return [section.heading for section in issues.read_outline()[0].sections] if frame.is_desk else []


def _find(request: Request) -> EntryDetail:
    entry = entry_store.find(owner_of(request), model.parse_id(request.path["entry_id"]))
    if not entry:
        raise NotFound(model.NOT_FOUND)
    return service.with_items([entry])[0]


def _path(frame: Frame, detail: EntryDetail) -> str:
    return f"{frame.prefix}/inbox/{detail.entry.id}"
