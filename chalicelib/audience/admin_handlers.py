"""Subscribers for editors: list, read, change, export, remove, do-not-contact."""

from msgspec import UNSET

from chalicelib.access import audit
from chalicelib.audience import bodies, editing, erasure, export, listing, pausing
from chalicelib.audience.editing import Edits
from chalicelib.audience.listing import Entry, Filter
from chalicelib.audience.model import StoredCapture
from chalicelib.kernel import addresses, ids
from chalicelib.kernel.errors import NotFound
from chalicelib.web import downloads, paging, responses, schemas
from chalicelib.web.operations import CSV, Answer, operation
from chalicelib.web.paging import PageQuery
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_NOT_FOUND = {404: "No such subscriber"}


@operation(
    "List subscribers, newest first",
    tag="subscribers",
    query=(Filter, PageQuery),
    answers={200: Answer("A page", bodies.SubscriberPage)},
    refuses=(400,),
)
def list_subscribers(request: Request) -> Response:
    number, per_page = paging.requested(request)
    page = listing.page(listing.parse_filter(request.query), number, per_page)
    items = [_subscriber(entry) for entry in page.items]
    return responses.json(bodies.SubscriberPage(number, per_page, page.total, items))


@operation(
    "List sources and tags of the last thousand subscribers, most frequent first",
    tag="subscribers",
    answers={200: Answer("For filters and audiences", listing.Words)},
)
def list_words(request: Request) -> Response:
    return responses.json(listing.list_words())


@operation(
    "Export subscribers as CSV (UTF-8 with BOM)",
    tag="subscribers",
    query=(Filter, bodies.ExportQuery),
    answers={
        200: Answer("The file", content=CSV),
        303: Answer("Large exports: redirect to a signed link that works for five minutes"),
    },
    refuses=(400,),
)
def export_subscribers(request: Request) -> Response:
    audit.record(request, "subscribers.export")
    full = schemas.read(bodies.ExportQuery, request.query).full
    parts = export.csv_parts(listing.parse_filter(request.query), full)
    return downloads.answer(parts, "text/csv; charset=utf-8", "subscribers.csv")


@operation(
    "Read a subscriber with what came with each sign-up",
    tag="subscribers",
    answers={200: Answer("The subscriber", bodies.SubscriberDetail)},
    because=_NOT_FOUND,
)
def get_subscriber(request: Request) -> Response:
    return responses.json(_detail(editing.view(request.path["subscriber_id"])))


@operation(
    "Change a subscriber's nickname or tags; tags replace the stored ones",
    tag="subscribers",
    body=bodies.SubscriberEdits,
    answers={200: Answer("The subscriber", bodies.SubscriberDetail)},
    refuses=(400,),
    because=_NOT_FOUND,
)
def change_subscriber(request: Request) -> Response:
    body = schemas.read(bodies.SubscriberEdits, request.fields)
    tags = UNSET if body.tags is UNSET else frozenset(body.tags)
    detail = editing.change(request.path["subscriber_id"], Edits(body.nickname, tags))
    audit.record(request, "subscriber.change", subscriber_id=detail.entry.id)
    return responses.json(_detail(detail))


@operation(
    "Send a pending subscriber a new confirmation link, which replaces the one before",
    tag="subscribers",
    answers={
        202: Answer(
            "It is sent in the background or, beyond `MAILS_PER_HOUR`, held and sent in its turn",
            bodies.ConfirmationSent | bodies.ConfirmationHeld,
        )
    },
    because=_NOT_FOUND | {409: "Already confirmed", 429: "Too many confirmation emails to this address this hour"},
)
def resend_confirmation(request: Request) -> Response:
    is_sent_now = editing.resend_confirmation(request.path["subscriber_id"])
    audit.record(request, "subscriber.resend", subscriber_id=request.path["subscriber_id"])
    return responses.json(bodies.ConfirmationSent() if is_sent_now else bodies.ConfirmationHeld(), 202)


@operation(
    "Delete everything stored about up to 100 subscribers",
    tag="subscribers",
    body=bodies.Selection,
    answers={200: Answer("What became of each", bodies.Removal)},
    refuses=(400,),
)
def remove_subscribers(request: Request) -> Response:
    selected = editing.parse_selection(schemas.read(bodies.Selection, request.fields).ids)
    for subscriber_id in selected:
        audit.record(request, "subscriber.remove", subscriber_id=subscriber_id)
    return responses.json(schemas.build(bodies.Removal, editing.remove_many(selected)))


@operation(
    "Delete everything stored about a subscriber",
    tag="subscribers",
    answers={
        204: Answer("Deleted"),
        202: Answer("Finishes once pending events about them have been sent", bodies.RemovalPending),
    },
    because=_NOT_FOUND,
)
def remove_subscriber(request: Request) -> Response:
    subscriber_id = request.path["subscriber_id"]
    if not ids.is_id(subscriber_id):
        raise NotFound("No such subscriber")
    audit.record(request, "subscriber.remove", subscriber_id=subscriber_id)
    if erasure.remove(subscriber_id):
        return responses.no_content()
    return responses.json(bodies.RemovalPending(), 202)


@operation(
    "Send no more campaigns to a subscriber, until they or an editor resume",
    tag="subscribers",
    answers={200: Answer("The subscriber, paused", bodies.Subscriber)},
    because={404: "No such subscriber", 409: "Only activated subscribers can be paused"},
)
def pause_subscriber(request: Request) -> Response:
    subscriber_id = listing.find_entry(request.path["subscriber_id"]).id
    audit.record(request, "subscriber.pause", subscriber_id=subscriber_id)
    pausing.pause(subscriber_id)
    return responses.json(_subscriber(listing.find_entry(subscriber_id)))


@operation(
    "Send campaigns to a paused subscriber again",
    tag="subscribers",
    answers={200: Answer("The subscriber, no longer paused", bodies.Subscriber)},
    because={404: "No such subscriber"},
)
def resume_subscriber(request: Request) -> Response:
    subscriber_id = listing.find_entry(request.path["subscriber_id"]).id
    audit.record(request, "subscriber.resume", subscriber_id=subscriber_id)
    pausing.resume(subscriber_id, pausing.BY_EDITOR)
    return responses.json(_subscriber(listing.find_entry(subscriber_id)))


@operation(
    "Never email an address again",
    tag="subscribers",
    body=bodies.EmailOnly,
    answers={200: Answer("The address will not be emailed again", bodies.DoNotContactSet)},
    refuses=(400,),
)
def set_do_not_contact(request: Request) -> Response:
    body = schemas.read(bodies.EmailOnly, request.fields)
    audit.record(request, "do_not_contact.set")
    erasure.suppress(addresses.key(body.email), "admin")
    return responses.json(bodies.DoNotContactSet())


@operation(
    "Allow an address to sign up again",
    tag="subscribers",
    body=bodies.EmailOnly,
    answers={200: Answer("The address can sign up again", bodies.DoNotContactLifted)},
    refuses=(400,),
)
def lift_do_not_contact(request: Request) -> Response:
    body = schemas.read(bodies.EmailOnly, request.fields)
    audit.record(request, "do_not_contact.lift")
    erasure.lift(addresses.key(body.email), "admin")
    return responses.json(bodies.DoNotContactLifted())


def _detail(detail: editing.Detail) -> bodies.SubscriberDetail:
    return schemas.build(
        bodies.SubscriberDetail,
        detail.entry,
        status=detail.entry.label,
        confirmation_expires_at=detail.confirmation_expires_at,
        captures=[_capture(capture) for capture in detail.captures],
    )


def _capture(stored: StoredCapture) -> bodies.Capture:
    request = stored.request
    waiting = request and schemas.build(
        bodies.WaitingCapture,
        request,
        tags=sorted(request.capture.tags),
        metadata=request.capture.metadata,
        expires_at=request.ends_at,
    )
    return schemas.build(bodies.Capture, stored, tags=sorted(stored.tags), waits_for_confirmation=waiting)


def _subscriber(entry: Entry) -> bodies.Subscriber:
    return schemas.build(bodies.Subscriber, entry, status=entry.label)
