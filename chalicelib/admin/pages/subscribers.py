"""The pages of subscribers: search, removal, and do not contact."""

from urllib.parse import urlencode

from chalicelib.access import audit
from chalicelib.admin import shell
from chalicelib.audience import erasure, listing, pausing
from chalicelib.audience.listing import Filter
from chalicelib.kernel import addresses
from chalicelib.kernel.errors import Invalid
from chalicelib.web import cursors, paging
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/subscribers"
_LONGEST_ECHO = 500


def list_subscribers(request: Request) -> Response:
    number, per_page = paging.requested(request)
    wanted = listing.parse_filter(request.query)
    query = _query(wanted) | ({"per_page": str(per_page)} if "per_page" in request.query else {})
    scope = f"subscribers {sorted(query.items())}"
    place = cursors.read(request, scope)
    found = listing.look(wanted, number, per_page, place)
    rest = cursors.sign(found.rest, scope)
    return shell.page(
        request,
        "admin/subscribers.html",
        here=_HERE,
        found=found,
        wanted=wanted,
        filtered=bool(_query(wanted)),
        query=_query(wanted),
        goes_on=place is not None,
        shown_before=found.total - len(found.items) if found.rest or place else 0,
        rest_url=f"{_HERE}?{urlencode({**query, 'cursor': rest})}" if rest else None,
        page_url=lambda page: f"{_HERE}?{urlencode({**query, 'page': page})}",
    )


def confirm_removal(request: Request) -> Response:
    person = listing.find_entry(request.path["subscriber_id"])
    return shell.page(request, "admin/subscriber_remove.html", here=_HERE, person=person, origin=_origin(request))


def remove_subscriber(request: Request) -> Response:
    subscriber_id = listing.find_entry(request.path["subscriber_id"]).id
    audit.record(request, "subscriber.remove", subscriber_id=subscriber_id)
    done = erasure.remove(subscriber_id)
    return shell.back(_origin(request), "removed" if done else "removal-pending")


def pause_subscriber(request: Request) -> Response:
    subscriber_id = listing.find_entry(request.path["subscriber_id"]).id
    audit.record(request, "subscriber.pause", subscriber_id=subscriber_id)
    pausing.pause(subscriber_id)
    return shell.back(f"{_HERE}/{subscriber_id}", "subscriber-paused")


def resume_subscriber(request: Request) -> Response:
    subscriber_id = listing.find_entry(request.path["subscriber_id"]).id
    audit.record(request, "subscriber.resume", subscriber_id=subscriber_id)
    pausing.resume(subscriber_id, pausing.BY_EDITOR)
    return shell.back(f"{_HERE}/{subscriber_id}", "subscriber-resumed")


def show_do_not_contact(request: Request) -> Response:
    return shell.page(request, "admin/do_not_contact.html", here=_HERE, email="")


def change_do_not_contact(request: Request) -> Response:
    typed = request.text("email") or ""
    try:
        key = addresses.parse(typed).key
    except Invalid as failure:
        return shell.page(
            request,
            "admin/do_not_contact.html",
            400,
            here=_HERE,
            email=typed[:_LONGEST_ECHO],
            problem=failure.reason,
        )
    if request.text("action") == "lift":
        audit.record(request, "do_not_contact.lift")
        lifted = erasure.lift(key, "admin")
        return shell.back("/admin/do-not-contact", "lifted" if lifted else "not-on-list")
    audit.record(request, "do_not_contact.set")
    erasure.suppress(key, "admin")
    return shell.back("/admin/do-not-contact", "do-not-contact")


def _origin(request: Request) -> str:
    """The page the removal was started from: the list of subscribers, or the bounces."""
    origin = request.query.get("from") or (request.text("from") if request.method == "POST" else None)
    return "/admin/bounces" if origin == "bounces" else _HERE


def _query(wanted: Filter) -> dict[str, str]:
    given = {"q": wanted.text, "status": wanted.status, "source": wanted.source, "tag": wanted.tag}
    return {name: value for name, value in given.items() if value}
