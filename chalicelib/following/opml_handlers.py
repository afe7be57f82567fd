"""What is followed, as a file that other programs read, and the other way round."""

from chalicelib.following import bodies, opml_import
from chalicelib.following.opml_import import Imported
from chalicelib.inbox.owners import owner_of
from chalicelib.kernel.errors import Invalid
from chalicelib.web import downloads, responses, schemas
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import JSON, Request
from chalicelib.web.responses import Response

_OPML = "text/x-opml"


@operation(
    "Export followed feeds and channels as OPML",
    tag="following",
    answers={200: Answer("The file", content=_OPML)},
)
def export_follows(request: Request) -> Response:
    parts = opml_import.export_file(owner_of(request))
    return downloads.answer(parts, f"{_OPML}; charset=utf-8", "follows.opml")


@operation(
    "Follow every feed that an OPML file names; what takes long is followed in the next minutes",
    tag="following",
    body=bodies.OpmlFile,
    answers={200: Answer("What happened to each", bodies.ImportResults)},
    refuses=(400, 429),
    because={403: "Members: the address is not verified"},
)
def import_follows(request: Request) -> Response:
    if request.member:
        request.member.member.require_verified()
    imported = opml_import.import_file(owner_of(request), _document(request))
    return responses.json(bodies.ImportResults([_result(one) for one in imported]))


def _document(request: Request) -> bytes:
    if request.content_type not in (JSON, ""):
        return request.body
    text = schemas.read(bodies.OpmlFile, request.fields).opml
    if not text:
        raise Invalid("opml is required")
    return text.encode()


def _result(imported: Imported) -> bodies.ImportResult:
    return bodies.ImportResult(
        imported.url, not imported.error, imported.follow_id or None, imported.error or None, imported.is_queued
    )
