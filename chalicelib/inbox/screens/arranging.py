"""Composing a campaign from chosen entries: in order, under headings, each with its note."""

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.model import Format, State
from chalicelib.inbox import composing, entry_store, frames, issues, model, service, triage, uses
from chalicelib.inbox.composing import MOST_ITEMS, MOST_SECTIONS, Section
from chalicelib.inbox.frames import Frame
from chalicelib.inbox.model import DESK, EntryDetail
from chalicelib.inbox.screens import grouping, views
from chalicelib.inbox.screens.grouping import Arranged, Piece
from chalicelib.inbox.suggestions import mark_of
from chalicelib.kernel import ids as new_ids
from chalicelib.kernel import limits
from chalicelib.kernel.errors import Conflict, GnaError, Invalid, NotFound, TooMany
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.text_size import html_size, shorten

# Of a page that has at most 60 KB: for pieces, headings and drafts, and what each has beside its texts.
_BYTES, _MARKUP, _OPTION = 48_000, 1_000, 70
_SUBJECT = 100
_DRAFTS = 30
_DAY = 86_400
_BUSY = "This was sent already and is being composed: look among the campaigns"


def show(frame: Frame, request: Request) -> Response:
    asked = list(dict.fromkeys(id for id in request.query.get("ids", "").split(".") if id))[: model.MOST_AT_ONCE]
    return _page(frame, request, asked)


def save(frame: Frame, request: Request) -> tuple[Response, str]:
    """Also the id of the campaign, if there is one."""
    rows = _parse(request)
    headings = [triage.check_section(text) for text in request.texts("heading", _fields())][:MOST_SECTIONS]
    campaign_id = next(iter(request.texts("campaign_id", _fields())), "") or None
    try:
        _spend(request, rows)
        _save_notes(rows)
        composed = composing.compose(_sections(rows, headings), campaign_id, request.identity)
    except _Repeated as repeated:
        return frames.back(f"{frame.prefix}/campaigns/{repeated.campaign_id}", "composed"), ""
    except (Invalid, NotFound, Conflict) as failure:
        return _page(frame, request, [row.id for row in rows], failure, (rows, headings)), ""
    id = composed.detail.campaign.id
    return frames.back(f"{frame.prefix}/campaigns/{id}", _describe(composed)), id


def _describe(composed: composing.Composed) -> str:
    """The key of a notice."""
    if not composed.repeated:
        return "composed"
    return "composed-nothing" if len(composed.repeated) == composed.asked else "composed-some"


class _Repeated(Exception):
    def __init__(self, campaign_id: str) -> None:
        super().__init__("composed before")
        self.campaign_id = campaign_id


def _spend(request: Request, rows: Sequence[Arranged]) -> None:
    """A form is good for one campaign: a second click leads to what the first one made."""
    form_id = next(iter(request.texts("form", _fields())), "")[:64]
    if not form_id:
        raise Invalid("The form could not be read")
    try:
        limits.spend("compose form", form_id, 1, _DAY)
    except TooMany:
        used = uses.find_uses([row.id for row in rows])
        made = next((use for row in rows for use in used.get(row.id, ()) if use.sent_at is None), None)
        if made:
            raise _Repeated(made.campaign_id) from None
        raise Conflict(_BUSY) from None


def _page(
    frame: Frame,
    request: Request,
    asked: list[str],
    failure: GnaError | None = None,
    typed: tuple[Sequence[Arranged], Sequence[str]] | None = None,
) -> Response:
    """`typed` is a form that was refused, to be shown as it was sent."""
    there, drafts = _find(asked), _list_drafts()
    planned = issues.read_outline()[0].sections
    left = _BYTES - sum(_OPTION + html_size(subject) for _, subject in drafts)
    pieces = _view_pieces(there, typed[1] if typed else [section.heading for section in planned], left)
    entries = [detail.entry for detail in there[: len(pieces)]]
    groups = grouping.keep(pieces, *typed) if typed else grouping.group(pieces, entries, planned)
    rest = [detail.entry.id for detail in there[len(pieces) :]]
    answer = frame.page(
        request,
        "inbox/compose.html",
        "Compose",
        {},
        responses.status_of(failure) if failure else 200,
        here=f"{frame.prefix}/inbox",
        shape="wide broad",
        groups=groups if pieces else (),
        drafts=drafts,
        missing=len(asked) - len(there),
        rest=f"{frame.prefix}/inbox/compose?{urlencode({'ids': '.'.join(rest)})}" if rest else "",
        left=len(rest),
        form_id=new_ids.new(),
        wrong=failure.reason if failure else "",
    )
    return views.with_photos(answer, [piece.one for piece in pieces])


def _find(asked: Sequence[str]) -> list[EntryDetail]:
    """Those that are still there."""
    entries = entry_store.find_many(DESK, [id for id in asked if _is_id(id)])
    found = {detail.entry.id: detail for detail in service.with_items(list(entries.values()))}
    return [found[id] for id in asked if id in found]


def _view_pieces(details: Sequence[EntryDetail], headings: Sequence[str], left: int) -> list[Piece]:
    """As many as there is room for below these headings and their own, with their notes whole."""
    left -= sum(map(grouping.size_of, headings))
    known = {"", *headings}
    pieces: list[Piece] = []
    fitting = details[:MOST_ITEMS]
    for detail, one in zip(fitting, views.view_all(DESK, fitting), strict=True):
        left -= _MARKUP + one.size + html_size(detail.entry.note)
        left -= sum(map(grouping.size_of, {detail.entry.section} - known))
        if left < 0 and pieces:
            break
        known.add(detail.entry.section)
        pieces.append(Piece(one, detail.entry.note, mark_of(detail.entry.note)))
    return pieces


def _list_drafts() -> list[tuple[str, str]]:
    """The id and subject of each."""
    found = campaigns.list_page(State.DRAFT, 1, _DRAFTS).items
    return [(draft.id, shorten(draft.subject, _SUBJECT)) for draft in found if draft.format is Format.MARKDOWN]


def _parse(request: Request) -> list[Arranged]:
    """The rows as they were sent, in the order they are to have."""
    names = ("entry", "note", "was", "at", "place")
    entries, notes, was, at, places = (request.texts(name, _fields()) for name in names)
    if not len(entries) == len(notes) == len(was) == len(at) == len(places) or len(entries) > MOST_ITEMS:
        raise Invalid("The form could not be read")
    rows = [
        Arranged(id, model.check_note(note), mark, _number(section), _number(place))
        for id, note, mark, section, place in zip(entries, notes, was, at, places, strict=True)
    ]
    return sorted(rows, key=lambda row: (row.at, row.place))


def _sections(rows: Iterable[Arranged], headings: Sequence[str]) -> list[Section]:
    by_section: dict[int, list[str]] = {}
    for row in rows:
        by_section.setdefault(row.at, []).append(row.id)
    return [
        Section(tuple(ids), headings[at - 1] if 0 < at <= len(headings) else "") for at, ids in by_section.items()
    ]


def _save_notes(rows: Sequence[Arranged]) -> None:
    """What was typed is the entry's note from now on. What somebody else has written meanwhile stays above it, also
    in the moment between reading and writing."""
    entries = entry_store.find_many(DESK, [row.id for row in rows if _is_id(row.id)])
    for row in rows:
        entry = entries.get(row.id)
        if not entry or entry.note == row.note:
            continue
        is_as_shown = mark_of(entry.note) == row.was
        if is_as_shown and entry_store.set_note_as(entry, row.note):
            continue
        if mark_of(row.note) != row.was:
            triage.annotate(DESK, row.id, row.note, "")


def _is_id(text: str) -> bool:
    try:
        return bool(model.parse_id(text))
    except NotFound:
        return False


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0


def _fields() -> int:
    """How many the form may have."""
    return MOST_ITEMS * 5 + MOST_SECTIONS
