"""The pages of imports: bring a file, see what would become of it, say how people joined, start, follow and undo."""

from typing import Any

from chalicelib.access import audit
from chalicelib.admin import import_form, import_words, shell
from chalicelib.audience.imports import model, service
from chalicelib.audience.imports.model import Joined, State
from chalicelib.audience.imports.reading import model as reading
from chalicelib.audience.imports.service import Shown
from chalicelib.kernel import clock, settings
from chalicelib.kernel.errors import Conflict, Invalid, TooLarge
from chalicelib.media import service as media
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

HERE = "/admin/imports"
_MENU = "/admin/subscribers"
_LISTED = 50
_LONGEST_PASTED_ECHO = 8_000
_ZIP = b"PK"


def list_imports(request: Request) -> Response:
    return _list(request)


def create_import(request: Request) -> Response:
    """From a file or from pasted lines. The script uploads larger files straight to the bucket instead."""
    form = request.form
    content = form.files.get("file", b"")
    name, pasted = form.names.get("file", ""), form.fields.get("pasted", "")
    try:
        if not content and not pasted.strip():
            raise Invalid("Choose a file, or paste some addresses")
        shown = service.create(content or pasted.encode(), _type_of(content), name)
    except (Invalid, TooLarge) as failure:
        status = responses.status_of(failure)
        return _list(request, status, problem=failure.reason, pasted=pasted[:_LONGEST_PASTED_ECHO])
    audit.record(request, "import.create", import_id=shown.found.id)
    return shell.back(f"{HERE}/{shown.found.id}")


def show_import(request: Request) -> Response:
    shown = service.view(request.path["import_id"])
    if "undo" in request.query and shown.found.may_undo(clock.now()):
        return shell.page(request, "admin/import_undo.html", here=_MENU, found=shown.found)
    return _page(request, shown)


def act(request: Request) -> Response:
    """One of four forms of the page, as its button says."""
    actions = {"read": _read, "left": _count_left, "start": _start, "cancel": _cancel, "undo": _undo}
    action = actions.get(request.text("action") or "")
    if not action:
        raise Invalid("Unknown action")
    return action(request, request.path["import_id"])


def _read(request: Request, import_id: str) -> Response:
    before = service.view(import_id)
    try:
        wanted = import_form.read_wanted(request.fields, before.columns) if before.columns else None
        service.read(import_id, wanted)
    except (Invalid, Conflict) as failure:
        return _refuse(request, import_id, failure)
    return shell.back(f"{HERE}/{import_id}", "import-read")


def _count_left(request: Request, import_id: str) -> Response:
    """What was filled in is kept: this is a question on the way, not an answer."""
    try:
        shown = service.count_left(import_id, import_form.read_exported_on(request.fields))
    except (Invalid, Conflict) as failure:
        return _refuse(request, import_id, failure)
    return _page(request, shown, typed=import_form.read_typed(request.fields))


def _start(request: Request, import_id: str) -> Response:
    try:
        given = import_form.read_start(request.fields)
        if given.consent.joined is Joined.UNSURE:
            typed = import_form.read_typed(request.fields)
            return _page(request, service.view(import_id), typed=typed, unsure=True)
        service.start(import_id, given)
    except (Invalid, Conflict) as failure:
        return _refuse(request, import_id, failure)
    audit.record(request, "import.start", import_id=import_id)
    return shell.back(f"{HERE}/{import_id}", "import-started")


def _cancel(request: Request, import_id: str) -> Response:
    try:
        service.cancel(import_id)
    except Conflict as failure:
        return _refuse(request, import_id, failure)
    audit.record(request, "import.cancel", import_id=import_id)
    return shell.back(f"{HERE}/{import_id}", "import-cancelled")


def _undo(request: Request, import_id: str) -> Response:
    audit.record(request, "import.undo", import_id=import_id)
    try:
        found = service.undo(import_id)
    except Conflict as failure:
        return _refuse(request, import_id, failure)
    return shell.back(f"{HERE}/{import_id}", "import-undoing" if found.undoing else "import-undone")


def _refuse(request: Request, import_id: str, failure: Invalid | Conflict) -> Response:
    """On the page as it is now, with what was filled in."""
    typed, status = import_form.read_typed(request.fields), responses.status_of(failure)
    return _page(request, service.view(import_id), status, typed=typed, problem=failure.reason)


def _list(request: Request, status: int = 200, **values: Any) -> Response:
    given = {"pasted": "", "imports": service.list_imports(_LISTED), "most": model, "words": import_words, **values}
    page = shell.page(request, "admin/imports.html", status, here=_MENU, **given)
    return responses.with_uploads(page, media.origin()) if settings.current().media_bucket else page


def _page(request: Request, shown: Shown, status: int = 200, **values: Any) -> Response:
    found = shown.found
    columns, more = _columns(request, shown)
    given = {"typed": import_form.read_typed({}), "unsure": False, **values}
    if not given["typed"]["exported_on"] and found.exported_on:
        given["typed"]["exported_on"] = found.exported_on.isoformat()
    return shell.page(
        request,
        "admin/import.html",
        status,
        here=_MENU,
        shown=shown,
        found=found,
        is_read=found.state is State.READ,
        has_begun=found.started_at is not None,
        columns=columns,
        more=more,
        words=import_words,
        fields=reading.FIELDS,
        date_formats=reading.DATE_FORMATS,
        may_undo=found.may_undo(clock.now()) and not found.undoing,
        has_report=found.report_until is not None and clock.now() < found.report_until,
        remembers=settings.current().remember_leavers,
        share=settings.current().url("/subscribe"),
        today=clock.now().date().isoformat(),
        longest_statement=model.LONGEST_STATEMENT,
        **given,
    )


def _columns(request: Request, shown: Shown) -> tuple[list[import_form.Column], int | None]:
    if not shown.columns:
        return [], None
    return import_form.choose_columns(shown.columns, import_form.read_number(request.query.get("columns", "")) or 0)


def _type_of(content: bytes) -> str:
    """By what it begins with: browsers guess by the name, and each another type."""
    return "application/zip" if content.startswith(_ZIP) else "text/csv"
