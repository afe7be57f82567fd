"""Saving pages by their links: one from the bookmarklet or the phone's share sheet, or many that are pasted.

Opening the page saves nothing: another site can make a browser do that. Only the form does.
"""

from msgspec import Struct

from chalicelib.inbox import bodies, clipping, model, service, triage, waiting
from chalicelib.inbox.clipping import Pasted
from chalicelib.inbox.frames import Frame, back
from chalicelib.inbox.owners import owner_of
from chalicelib.inbox.screens.entry import suggest_headings
from chalicelib.kernel.errors import GnaError, Invalid, NotFound, TooMany
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response
from chalicelib.web.text_size import beginning, shorten

# What was refused is given back; more bytes of each than these do not fit on the page.
_LONGEST_SHOWN = (16_000, 12_000, 1_000)


class Typed(Struct, frozen=True):
    text: str = ""
    note: str = ""
    section: str = ""


def show(frame: Frame, request: Request) -> Response:
    """With a link, from `url`, or from `text`, where share sheets put it."""
    shared = [request.query.get(name, "")[: bodies.LONGEST_TEXT] for name in ("url", "text")]
    link = next((link for text in shared for link in clipping.find_links(text)), shared[0])
    return _page(frame, request, Typed(link[: bodies.LONGEST_URL]))


def save(frame: Frame, request: Request) -> Response:
    owner = owner_of(request)
    typed = Typed(*((request.text(name) or "") for name in ("text", "note", "section")))
    try:
        note, section = model.check_note(typed.note), triage.check_section(typed.section)
        links = list(dict.fromkeys(clipping.find_links(typed.text[: bodies.LONGEST_TEXT])))
        if len(links) <= 1:
            return _clip(frame, owner, links[0] if links else typed.text.strip(), note, section)
        pasted = service.paste(owner, typed.text)
        waiting.forget(owner)
    except (Invalid, TooMany) as failure:
        return _page(frame, request, typed, failure=failure)
    _annotate(owner, pasted, note, section)
    return _page(frame, request, Typed(section=section), pasted)


def _clip(frame: Frame, owner: str, url: str, note: str, section: str) -> Response:
    if not url:
        raise Invalid("Paste a link first")
    if len(url) > bodies.LONGEST_URL:
        raise Invalid(f"A link must be at most {bodies.LONGEST_URL:,} characters")
    detail, is_new = service.clip(owner, url, note)
    waiting.forget(owner)
    if section:
        triage.set_section(owner, detail.entry.id, section)
    return back(f"{frame.prefix}/inbox/{detail.entry.id}", "clipped" if is_new else "known")


def _annotate(owner: str, pasted: list[Pasted], note: str, section: str) -> None:
    for one in pasted:
        try:
            if one.id and (note or section):
                triage.annotate(owner, one.id, note, section)
        except NotFound:
            continue  # dismissed by somebody else at this moment


def _page(
    frame: Frame, request: Request, typed: Typed, pasted: list[Pasted] | None = None, failure: GnaError | None = None
) -> Response:
    saved = [one.id for one in pasted or () if one.id]
    found = service.find_items(saved)
    answer = frame.page(
        request,
        "inbox/add.html",
        "Save links",
        {},
        responses.status_of(failure) if failure else 200,
        here=f"{frame.prefix}/inbox",
        typed=Typed(*map(beginning, (typed.text, typed.note, typed.section), _LONGEST_SHOWN)),
        headings=suggest_headings(frame),
        pasted=[(one, shorten(found[one.id].title if one.id in found else one.url, 200)) for one in pasted or ()],
        saved=len(saved),
        wrong=failure.reason if failure else "",
    )
    return responses.with_retry_after(failure, answer) if failure else answer
