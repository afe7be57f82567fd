"""The audience, for the operator: list, search, remove, export, do-not-contact."""

from chalicelib.access import audit
from chalicelib.audience import erasure, export, listing
from chalicelib.audience.listing import Entry, Filter
from chalicelib.audience.model import ACTIVATED, PENDING
from chalicelib.kernel import addresses, ids
from chalicelib.kernel.errors import Invalid, NotFound
from chalicelib.web import paging, responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_LONGEST_SEARCH = 254


def list_subscribers(request: Request) -> Response:
    number, per_page = paging.requested(request)
    page = listing.page(filter_of(request), number, per_page)
    return responses.json(paging.page_body([_shown(entry) for entry in page.items], number, per_page, page.total))


def list_words(request: Request) -> Response:
    words = listing.list_words()
    return responses.json({"sources": words.sources, "tags": words.tags})


def export_subscribers(request: Request) -> Response:
    audit.record(request, "subscribers.export")
    body, link = export.download(filter_of(request))
    if link:
        return responses.redirect(link)
    return responses.attachment(body or "", "text/csv; charset=utf-8", "subscribers.csv")


def remove_subscriber(request: Request) -> Response:
    subscriber_id = request.path["subscriber_id"]
    if not ids.is_id(subscriber_id):
        raise NotFound("No such subscriber")
    audit.record(request, "subscriber.remove", subscriber_id=subscriber_id)
    if erasure.remove(subscriber_id):
        return responses.no_content()
    return responses.json({"status": "removal_pending"}, 202)


def set_do_not_contact(request: Request) -> Response:
    address = addresses.parse(request.text("email"))
    audit.record(request, "do_not_contact.set")
    erasure.suppress(address.key, "admin")
    return responses.json({"status": "do_not_contact"})


def lift_do_not_contact(request: Request) -> Response:
    address = addresses.parse(request.text("email"))
    audit.record(request, "do_not_contact.lift")
    erasure.lift(address.key, "admin")
    return responses.json({"status": "lifted"})


def filter_of(request: Request) -> Filter:
    """What the query asks for; the pages ask the same way."""
    query = {name: request.query.get(name, "").strip() for name in ("q", "status", "source", "tag")}
    if any(len(value) > _LONGEST_SEARCH for value in query.values()):
        raise Invalid(f"A search may have at most {_LONGEST_SEARCH} characters")
    if query["status"].lower() not in ("", PENDING, ACTIVATED):
        raise Invalid(f"status must be {PENDING} or {ACTIVATED}")
    return Filter(query["q"], query["status"].lower(), query["source"].lower(), query["tag"].lower())


def _shown(entry: Entry) -> dict[str, object]:
    return {
        "id": entry.id,
        "email": entry.email,
        "nickname": entry.nickname,
        "status": entry.label,
        "created_at": entry.created_at,
        "activated_at": entry.activated_at,
    }
