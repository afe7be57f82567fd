"""The publication's own settings over HTTP, for editors."""

from typing import Any

from chalicelib.access import audit
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid
from chalicelib.site import bodies, fields, model, service
from chalicelib.site.model import Site
from chalicelib.web import responses
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_TAG = "site"
_SITE = {200: Answer("The publication", bodies.Site)}
# What is told beside the fields: who sends back what they were answered does not mean to change it.
_TOLD = ("environment", "notes")
_STALE = {409: "Somebody else has changed it since that version"}


@operation("Get the publication: name, look, words, feed", tag=_TAG, answers=_SITE)
def view_site(request: Request) -> Response:
    return _answer(service.view())


@operation(
    "Change the publication; readers see it within a minute",
    tag=_TAG,
    body=bodies.SiteEdits,
    answers=_SITE,
    refuses=(400,),
    because=_STALE,
)
def change_site(request: Request) -> Response:
    sent = {name: value for name, value in request.fields.items() if name not in _TOLD}
    version = _version(sent.pop("version", None))
    site = service.change(fields.read(sent), request.identity, version)
    audit.record(request, "site.change", version=site.publication.version)
    return _answer(site)


@operation("Who changed what, newest first", tag=_TAG, answers={200: Answer("The last changes", bodies.History)})
def list_history(request: Request) -> Response:
    entries = [
        bodies.Entry(
            entry.version,
            clock.text(entry.at),
            entry.by,
            [bodies.Change(change.field, change.before, change.after) for change in entry.changes],
            entry.restored,
        )
        for entry in service.list_history()
    ]
    return responses.json(bodies.History(entries))


@operation(
    "Bring back an earlier version, as a new one",
    tag=_TAG,
    body=bodies.Restore,
    answers=_SITE,
    refuses=(400,),
    because=_STALE | {404: "No such version, or it was replaced more than a year ago"},
)
def restore_site(request: Request) -> Response:
    sent: dict[str, Any] = dict(request.fields)
    if not sent.keys() <= {"restore", "version"} or "restore" not in sent:
        raise Invalid("Send the version to bring back as restore")
    site = service.restore(fields.version(sent["restore"]), request.identity, _version(sent.get("version")))
    audit.record(request, "site.restore", version=site.publication.version)
    return _answer(site)


def _version(sent: Any) -> int | None:
    return None if sent is None else fields.version(sent)


def _answer(site: Site) -> Response:
    body = model.as_body(site.publication)
    return responses.json(body | {"environment": list(site.environment), "notes": list(site.notes)})
