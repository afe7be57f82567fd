"""Imports for editors and their programs."""

from typing import Any

from chalicelib.access import audit
from chalicelib.audience import editing
from chalicelib.audience.imports import bodies, by_hand, model, service
from chalicelib.audience.imports.model import Import, State
from chalicelib.audience.imports.service import Shown, Start
from chalicelib.kernel import addresses
from chalicelib.web import downloads, responses, schemas
from chalicelib.web.operations import CSV, Answer, operation
from chalicelib.web.request import JSON, Request
from chalicelib.web.responses import Response

_BY_HAND = "by hand"
_NOT_FOUND = {404: "No such import"}
# Of each cell in the preview: a row may be larger than what Lambda can answer.
_LONGEST_CELL = 500
_GOING_ON = Answer("A large file: the worker goes on, and the state is `read` when it is done", bodies.ImportBody)


@operation(
    "Upload a list (CSV or zip, up to 4 MB as body; larger ones: send the size as JSON, post the file, then read it)",
    tag="imports",
    body=bodies.NewUpload,
    answers={201: Answer("What was recognised, and a full dry run", bodies.ImportBody), 202: _GOING_ON},
    refuses=(400, 429),
    because={413: "More than 4 MB as body, or 100 MB uploaded"},
)
def create_import(request: Request) -> Response:
    if request.content_type in (JSON, ""):
        body = schemas.read(bodies.NewUpload, request.fields)
        shown = service.announce(body.size or 0, body.content_type, body.name)
    else:
        shown = service.create(request.body, request.content_type)
    audit.record(request, "import.create", import_id=shown.found.id)
    return responses.json(_body(shown), 202 if shown.found.task else 201)


@operation("List imports, newest first", tag="imports", answers={200: Answer("Imports", bodies.ImportList)})
def list_imports(request: Request) -> Response:
    return responses.json(bodies.ImportList([_summary(found) for found in service.list_imports()]))


@operation(
    "Read an import: how far it is, and what became of its rows",
    tag="imports",
    answers={200: Answer("The import", bodies.ImportBody)},
    because=_NOT_FOUND,
)
def get_import(request: Request) -> Response:
    return responses.json(_body(service.view(request.path["import_id"])))


@operation(
    "Read an uploaded file, or read it again in another way; makes a dry run",
    tag="imports",
    body=bodies.ReadImport,
    answers={
        200: Answer("Read again", bodies.ImportBody),
        201: Answer("What was recognised, and a full dry run", bodies.ImportBody),
        202: _GOING_ON,
    },
    refuses=(400, 409),
    because=_NOT_FOUND,
)
def read_import(request: Request) -> Response:
    body = schemas.read(bodies.ReadImport, _fields(request))
    is_again = service.view(request.path["import_id"]).found.state is State.READ
    shown = service.read(request.path["import_id"], body.wanted(), model.check_day("exported_on", body.exported_on))
    return responses.json(_body(shown), 202 if shown.found.task else 200 if is_again else 201)


@operation(
    "Start an import",
    tag="imports",
    body=bodies.StartImport,
    answers={202: Answer("It runs in the background", bodies.ImportBody)},
    refuses=(400, 409),
    because=_NOT_FOUND,
)
def start_import(request: Request) -> Response:
    body = schemas.read(bodies.StartImport, request.fields)
    source, tags = model.check_capture(body.source, body.tags)
    exported_on = model.check_day("exported_on", body.exported_on)
    consent: Any = body.consent
    shown = service.start(request.path["import_id"], Start(consent, source, tags, body.wanted(), exported_on))
    audit.record(request, "import.start", import_id=shown.found.id)
    return responses.json(_body(shown), 202)


@operation(
    "Cancel an import: it stops where it is",
    tag="imports",
    answers={200: Answer("The import", bodies.ImportBody)},
    refuses=(409,),
    because=_NOT_FOUND,
)
def cancel_import(request: Request) -> Response:
    found = service.cancel(request.path["import_id"])
    audit.record(request, "import.cancel", import_id=found.id)
    return responses.json(_body(service.view(found.id)))


@operation(
    "Undo an import, for 30 days: removes those it added who have done nothing since",
    tag="imports",
    answers={
        200: Answer("Undone", bodies.ImportBody),
        202: Answer("It goes on in the background; the state is `undone` when it is done", bodies.ImportBody),
    },
    refuses=(409,),
    because=_NOT_FOUND,
)
def undo_import(request: Request) -> Response:
    found = service.undo(request.path["import_id"])
    audit.record(request, "import.undo", import_id=found.id)
    return responses.json(_body(service.view(found.id)), 202 if found.undoing else 200)


@operation(
    "Download every row that was not imported, with line and reason; it can be imported again",
    tag="imports",
    answers={
        200: Answer("The file", content=CSV),
        303: Answer("Large reports: redirect to a signed link that works for five minutes"),
    },
    refuses=(409,),
    because={404: "No such import, or the report was deleted, a day after the import ended"},
)
def download_report(request: Request) -> Response:
    parts = service.report(request.path["import_id"])
    audit.record(request, "import.report", import_id=request.path["import_id"])
    return downloads.answer(parts, "text/csv; charset=utf-8", "not-imported.csv")


@operation(
    "Add one subscriber by hand, with the same question about consent as an import",
    tag="subscribers",
    body=bodies.NewSubscriber,
    answers={201: Answer("Active at once, or asked to confirm", bodies.AddedSubscriber)},
    refuses=(400,),
    because={409: "Known here already, left or bounced before, must not be contacted, or consent is unsure"},
)
def add_subscriber(request: Request) -> Response:
    body = schemas.read(bodies.NewSubscriber, request.fields)
    source, tags = model.check_capture(body.source or _BY_HAND, body.tags)
    consent: Any = body.consent
    wanted = by_hand.NewSubscriber(addresses.parse(body.email), body.nickname, source, tags, consent)
    subscriber_id = by_hand.add(wanted)
    audit.record(request, "subscriber.add", subscriber_id=subscriber_id)
    entry = editing.view(subscriber_id).entry
    return responses.json(
        schemas.build(
            bodies.AddedSubscriber, entry, status=entry.label, sources=list(entry.sources), tags=list(entry.tags)
        ),
        201,
    )


def _fields(request: Request) -> dict[str, Any]:
    """An empty body asks for what is guessed."""
    return request.fields if request.body else {}


def _summary(found: Import) -> bodies.ImportSummary:
    return schemas.build(bodies.ImportSummary, found, counts=bodies.Results(**found.counts))


def _body(shown: Shown) -> bodies.ImportBody:
    found, columns = shown.found, shown.columns
    return schemas.build(
        bodies.ImportBody,
        found,
        counts=bodies.Results(**found.counts),
        format=columns and columns.format,
        delimiter=columns.delimiter if columns else None,
        encoding=columns and columns.encoding,
        header=columns.header if columns else None,
        date_format=columns and columns.date_format,
        columns=list(columns.columns) if columns else [],
        ignored=list(columns.ignored) if columns else [],
        mapping=columns.mapping if columns else {},
        preview=[[cell[:_LONGEST_CELL] for cell in row.cells] for row in shown.preview],
        consent=_consent(found),
        source=found.source if found.consent else None,
        tags=list(found.tags),
        exported_on=found.exported_on and found.exported_on.isoformat(),
        left_since=shown.left_since,
        upload=bodies.Upload(*shown.upload) if shown.upload else None,
    )


def _consent(found: Import) -> bodies.ConsentBody | None:
    given = found.consent
    last = given.last_mailed.isoformat() if given and given.last_mailed else None
    return bodies.ConsentBody(str(given.joined), given.statement, last) if given else None  # type: ignore[arg-type]
