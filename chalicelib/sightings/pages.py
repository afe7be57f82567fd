"""The pages of a member's sightings: all of them, one, deleting it, and sharing it with the publication."""

from typing import Any

from msgspec.structs import replace

from chalicelib.kernel import pseudonyms
from chalicelib.kernel.errors import GnaError, Unauthenticated
from chalicelib.members import shell
from chalicelib.sightings import model, service, views
from chalicelib.sightings.model import Seen
from chalicelib.web import cursors
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

# Twelve fill rows of one, two and three; with the longest texts and links they stay below 60 KB.
_ON_A_PAGE = 12
_FIELDS = {"Shown location": "shown_location", "Credit": "credit"}


def list_sightings(request: Request) -> Response:
    """Newest first. Whoever was searching when the session ended finds what they searched for."""
    return _list(request, request.kept.get("q", ""))


def search_sightings(request: Request) -> Response:
    """A form that is posted: what somebody searches for may be a place, which must not be in a URL."""
    asked = {name: request.text(name) or "" for name in ("q", "cursor")}
    return _list(replace(request, query={"cursor": asked["cursor"]}), asked["q"])


def show_sighting(request: Request) -> Response:
    return _page(request, "member/sighting.html", sighting=views.view(_find(request), large=True))


def confirm_deletion(request: Request) -> Response:
    return _page(request, "member/delete_sighting.html", sighting=views.view(_find(request)))


def delete_sighting(request: Request) -> Response:
    service.delete(request.member.id, _id(request))
    return shell.back(shell.HOME, "deleted")


def show_share(request: Request) -> Response:
    """Empty at first: which place and which name the world sees is chosen, never assumed."""
    seen = _find(request)
    chosen = seen.sighting.shared
    stored = {"shown_location": chosen.shown_location, "credit": chosen.credit} if chosen else {}
    return _page(request, "member/share.html", **_share_values(request, seen, stored | dict(request.kept)))


def share_sighting(request: Request) -> Response:
    typed = {name: request.text(name) or "" for name in ("shown_location", "credit")}
    id = _id(request)
    try:
        shown_location = model.check_shown_location(typed["shown_location"])
        service.share(request.member.member, id, shown_location, model.check_credit(typed["credit"]))
    except GnaError as failure:
        if isinstance(failure, Unauthenticated):
            raise
        seen = service.find(request.member.id, id)
        answer = shell.refuse(
            request, "member/share.html", failure, _FIELDS, here=shell.HOME, **_share_values(request, seen, typed)
        )
        return views.with_photos(answer)
    return shell.back(views.path_to(id), "shared")


def withdraw_sighting(request: Request) -> Response:
    service.withdraw(request.member.id, _id(request))
    return shell.back(views.path_to(_id(request)), "withdrawn")


def _list(request: Request, typed: str) -> Response:
    search = model.check_search(typed)
    scope = model.list_scope(request.member.id, search)
    place = cursors.read(request, scope)
    found = service.list_page(request.member.id, _ON_A_PAGE, place, search)
    return _page(
        request,
        "member/sightings.html",
        sightings=[views.view(seen) for seen in found.items],
        search=search,
        searcher=pseudonyms.derive("searches", request.member.id)[:16],
        first=place is None,
        next_cursor=cursors.sign(found.next_place, scope),
        shorten_name=views.shorten_name,
        shorten_place=views.shorten_place,
    )


def _share_values(request: Request, seen: Seen, values: dict[str, str]) -> dict[str, Any]:
    return {
        "sighting": views.view(seen),
        "verified": request.member.member.verified,
        "shown_location": views.show_again(values.get("shown_location", "")),
        "credit": views.show_again(values.get("credit", "")),
    }


def _find(request: Request) -> Seen:
    return service.find(request.member.id, _id(request))


def _id(request: Request) -> str:
    return model.parse_id(request.path["sighting_id"])


def _page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    return views.with_photos(shell.page(request, template, status, here=shell.HOME, **values))
