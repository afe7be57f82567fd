"""The inbox of whoever asks: editors have that of the publication's desk, members their own."""

from typing import Any

from chalicelib.access import audit
from chalicelib.inbox import bodies, export, model, photos, search, serializers, service, suggestions
from chalicelib.inbox.export import Format
from chalicelib.inbox.model import Act, ContentType, EntryDetail, Page, Provider, State, WholePage
from chalicelib.inbox.owners import owner_of
from chalicelib.kernel.errors import Invalid
from chalicelib.web import cursors, downloads, responses, schemas
from chalicelib.web.cursors import CursorQuery
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_NOT_FOUND = {404: "No such entry, or dismissed"}
_FILES = {
    Format.JSON: ("application/json", "inbox.json"),
    Format.CSV: ("text/csv; charset=utf-8", "inbox.csv"),
    Format.MARKDOWN: ("text/markdown; charset=utf-8", "inbox.md"),
}
_ENTRY = Answer("The entry", bodies.InboxEntry)


@operation(
    "List what is in the inbox, bookmarked or archived, newest first",
    tag="inbox",
    query=(CursorQuery, bodies.InboxQuery),
    answers={200: Answer("A page", bodies.InboxPage)},
    refuses=(400,),
)
def list_entries(request: Request) -> Response:
    owner, query = owner_of(request), _query(request)
    state = None if query.state == bodies.ALL else State(query.state)
    provider = Provider(query.provider) if query.provider else None
    content_type = ContentType(query.type) if query.type else None
    words = search.parse_words(query.q)
    scope = model.list_scope(owner, state, provider, content_type, words)
    limit, place = cursors.requested_limit(request), cursors.read(request, scope)
    page: Page | WholePage
    if state is None:
        page = service.list_whole_page(owner, provider, content_type, limit, place, words)
    else:
        page = service.list_page(owner, state, provider, content_type, limit, place, words)
    used = service.find_uses(owner, [detail.item.id for detail in page.entries])
    shown = photos.sign_all(detail.item for detail in page.entries)
    items = [
        serializers.any_body(detail, used.get(detail.item.id, ()), shown.get(detail.item.id))
        for detail in page.entries
    ]
    return responses.json(bodies.InboxPage(cursors.sign(page.next_place, scope), page.next_place is not None, items))


@operation(
    "Export what is in the inbox, bookmarked or archived: as JSON, as CSV (UTF-8 with BOM), or as Markdown",
    tag="inbox",
    query=bodies.ExportQuery,
    answers={
        200: Answer("The file; as JSON, with `items` as in the list", Any, "*/*"),
        303: Answer("Large exports: redirect to a signed link that works for five minutes"),
    },
    refuses=(400,),
)
def export_entries(request: Request) -> Response:
    query = schemas.read(bodies.ExportQuery, _filled(request))
    states = (State(query.state),) if query.state else tuple(State)
    if request.member is None:
        audit.record(request, "inbox.export")
    kind, filename = _FILES[Format(query.format)]
    return downloads.answer(export.write(owner_of(request), Format(query.format), states), kind, filename)


@operation(
    "Save a page by its link; its title, description and picture are read from it",
    tag="inbox",
    body=bodies.NewClip,
    answers={
        201: Answer("The new entry; `problem` says why a page could not be read", bodies.InboxEntry),
        200: Answer("It is there already; the note is added to it", bodies.InboxEntry),
    },
    refuses=(400, 429),
)
def clip_link(request: Request) -> Response:
    body = schemas.read(bodies.NewClip, request.fields)
    detail, is_new = service.clip(owner_of(request), body.url, body.note or "")
    return _answer(detail, 201 if is_new else 200)


@operation(
    "Save every page that a text has a link to",
    tag="inbox",
    body=bodies.NewLines,
    answers={200: Answer("What happened to each", bodies.PasteResults)},
    refuses=(400, 429),
)
def paste_lines(request: Request) -> Response:
    body = schemas.read(bodies.NewLines, request.fields)
    pasted = service.paste(owner_of(request), body.text)
    return responses.json(bodies.PasteResults([serializers.pasted_body(one) for one in pasted]))


@operation(
    "Hand an entry to the publication, with a note if you like; it is not told whose it is",
    tag="inbox",
    body=bodies.Suggestion,
    answers={204: Answer("Handed over")},
    refuses=(400, 429),
    because=_NOT_FOUND | {403: "Verify your email address first"},
)
def suggest_entry(request: Request) -> Response:
    id = _id(request)
    note = schemas.read(bodies.Suggestion, request.fields).note or ""
    service.suggest(request.member.member, id, note)
    return responses.no_content()


@operation("Bookmark an entry", tag="inbox", answers={200: _ENTRY}, because=_NOT_FOUND)
def bookmark_entry(request: Request) -> Response:
    return _answer(service.bookmark(owner_of(request), _id(request)))


@operation("Archive an entry", tag="inbox", answers={200: _ENTRY}, because=_NOT_FOUND)
def archive_entry(request: Request) -> Response:
    return _answer(service.archive(owner_of(request), _id(request)))


@operation("Put an entry back into the inbox", tag="inbox", answers={200: _ENTRY}, because=_NOT_FOUND)
def restore_entry(request: Request) -> Response:
    return _answer(service.restore(owner_of(request), _id(request)))


@operation(
    "Write a note on an entry",
    tag="inbox",
    body=bodies.NoteChange,
    answers={200: _ENTRY},
    refuses=(400,),
    because=_NOT_FOUND,
)
def change_entry(request: Request) -> Response:
    owner, id = owner_of(request), _id(request)
    try:
        note = _note(request)
    except Invalid:
        service.check_exists(owner, id)  # not yours is not found, whatever was sent
        raise
    return _answer(suggestions.set_words(owner, id, note))


@operation(
    "Dismiss an entry; the item does not come back by itself",
    tag="inbox",
    answers={204: Answer("Dismissed")},
    because=_NOT_FOUND,
)
def dismiss_entry(request: Request) -> Response:
    service.dismiss(owner_of(request), _id(request))
    return responses.no_content()


@operation(
    "Do the same with up to 100 entries",
    tag="inbox",
    body=bodies.BulkAct,
    answers={200: Answer("What happened to each", bodies.ActResults)},
    refuses=(400,),
)
def act_on_entries(request: Request) -> Response:
    body = schemas.read(bodies.BulkAct, request.fields)
    outcomes = service.bulk(owner_of(request), body.ids, Act(body.action))
    return responses.json(bodies.ActResults([serializers.outcome_body(outcome) for outcome in outcomes]))


def _query(request: Request) -> bodies.InboxQuery:
    return schemas.read(bodies.InboxQuery, _filled(request))


def _filled(request: Request) -> dict[str, str]:
    """A parameter that is empty is as good as none."""
    return {name: value for name, value in request.query.items() if value}


def _note(request: Request) -> str:
    if "note" not in request.fields:
        raise Invalid("note is required")
    return schemas.read(bodies.NoteChange, request.fields).note or ""


def _id(request: Request) -> str:
    return model.parse_id(request.path["entry_id"])


def _answer(detail: EntryDetail, status: int = 200) -> Response:
    id = detail.entry.id
    used, shown = service.find_uses(detail.entry.owner, [id]), photos.sign_all([detail.item])
    return responses.json(serializers.entry_body(detail, used.get(id, ()), shown.get(id)), status)
