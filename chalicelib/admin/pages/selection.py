"""Removing the people selected in the list, once an editor has seen who they are."""

from chalicelib.access import audit
from chalicelib.admin import shell
from chalicelib.audience import editing, listing
from chalicelib.audience.listing import Entry
from chalicelib.kernel.errors import NotFound
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_HERE = "/admin/subscribers"


def show_selection(request: Request) -> Response:
    """Opened by its URL, which does not say who was selected."""
    return _page(request, [])


def confirm_removal(request: Request) -> Response:
    return _page(request, [entry for id in _selected(request) if (entry := _find(id))])


def remove_selected(request: Request) -> Response:
    selected = _selected(request)
    if not selected:
        return _page(request, [])
    for subscriber_id in selected:
        audit.record(request, "subscriber.remove", subscriber_id=subscriber_id)
    removal = editing.remove_many(selected)
    return shell.back(_HERE, "removal-selected-pending" if removal.pending else "removed-selected")


def _page(request: Request, people: list[Entry]) -> Response:
    return shell.page(request, "admin/selection_remove.html", here=_HERE, people=people)


def _selected(request: Request) -> list[str]:
    chosen = request.texts("id", editing.MOST_AT_ONCE)
    return editing.parse_selection(chosen) if chosen else []


def _find(subscriber_id: str) -> Entry | None:
    try:
        return listing.find_entry(subscriber_id)
    except NotFound:
        return None  # gone since the list was opened
