"""The form of a sighting: a new one, a change, and what to do when it was changed elsewhere meanwhile.

A photo comes with the form itself or, by the page's script, is in the bucket already, and the form names it. Either
way an upload outlives a mistake in another field, so that nobody has to choose the photo twice.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.kernel import clock, ids
from chalicelib.kernel.errors import Conflict, GnaError, NotFound, TooLarge, Unauthenticated
from chalicelib.kernel.wording import for_readers
from chalicelib.media import service as media
from chalicelib.members import shell
from chalicelib.sightings import model, service, views
from chalicelib.sightings.model import Changes, Seen
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_TEMPLATE = "member/sighting_form.html"
_GONE = for_readers(
    "This sighting does not exist any more. What you have written is here: you can save it as a new one."
)
_NEW = f"{shell.HOME}/new"
_FIELDS = {
    "Animal name": "animal_name",
    "Location": "location",
    "Only JPEG": "photo",
    "File size": "photo",
    "The file": "photo",
    "Upload": "photo",
    "This photo": "photo",
}
_FORM_LIFE = timedelta(days=1)
_TOO_LARGE = for_readers(
    "This photo has more than 4 MB, which is too much without JavaScript. Please choose a smaller one."
)


class Entry(Struct, frozen=True):
    """What is in the form. `upload_id` is a photo that has arrived and waits to be saved with the rest; `photo_lost`
    one that has to be chosen again. `once` is the id of a form for a new sighting."""

    animal_name: str = ""
    location: str = ""
    updated_at: str = ""
    upload_id: str = ""
    drops_photo: bool = False
    photo_lost: bool = False
    once: str = ""


def show_new(request: Request) -> Response:
    entry = _read(request.kept)
    return _page(request, _TEMPLATE, **_new_form(replace(entry, once=entry.once or ids.new())))


def create_sighting(request: Request) -> Response:
    entry = _read(request.form.fields)
    try:
        entry = _take_photo(request, entry)
        name, place = model.check_animal_name(entry.animal_name), model.check_location(entry.location)
        seen = service.create(request.member.id, name, place, entry.upload_id or None, _fresh(entry.once))
    except GnaError as failure:
        return _refuse(request, failure, _new_form(_without_refused_photo(request, entry, failure)))
    return shell.back(views.path_to(seen.sighting.id), "created")


def show_edit(request: Request) -> Response:
    try:
        seen = _find(request)
    except NotFound:
        if not request.kept:
            raise
        return _offer_anew(request, _read(request.kept))
    entry = _read(request.kept) if request.kept else _stored(seen)
    return _page(request, _TEMPLATE, **_edit_form(seen, entry))


def save_sighting(request: Request) -> Response:
    id, entry = _id(request), _read(request.form.fields)
    try:
        entry = _take_photo(request, entry)
        service.change(request.member.id, id, _changes(entry))
    except Conflict:
        return _compare(request, entry)
    except NotFound:
        return _offer_anew(request, entry)
    except GnaError as failure:
        entry = _without_refused_photo(request, entry, failure)
        return _refuse(request, failure, _edit_form(_find(request), entry))
    return shell.back(views.path_to(id), "saved")


def _offer_anew(request: Request, entry: Entry) -> Response:
    """What was written about a sighting that is gone, in the form of a new one."""
    anew = replace(entry, updated_at="", once=ids.new(), drops_photo=False)
    return _refuse(request, NotFound(_GONE), _new_form(anew))


def _compare(request: Request, entry: Entry) -> Response:
    """Both versions, side by side. A second click on *Save* finds what the first has saved: nothing to compare."""
    seen = _find(request)
    stored = _stored(seen)
    texts = (entry.animal_name.strip(), entry.location.strip())
    if texts == (stored.animal_name, stored.location) and not entry.upload_id and not entry.drops_photo:
        return shell.back(views.path_to(seen.sighting.id), "saved")
    mine = _show_again(replace(entry, updated_at=stored.updated_at))
    return _page(request, "member/conflict.html", 409, entry=mine, saved=views.view(seen))


def _read(fields: Mapping[str, str]) -> Entry:
    """A new photo replaces the old one, so taking that away besides means nothing."""
    upload_id = fields.get("upload_id", "")
    return Entry(
        animal_name=fields.get("animal_name", ""),
        location=fields.get("location", ""),
        updated_at=fields.get("updated_at", ""),
        upload_id=upload_id,
        drops_photo=fields.get("remove_photo") == "yes" and not upload_id,
        photo_lost=shell.PHOTO_CHOSEN in fields and not upload_id,
        once=fields.get("once", ""),
    )


def _stored(seen: Seen) -> Entry:
    sighting = seen.sighting
    return Entry(sighting.animal_name, sighting.location, str(sighting.updated_at))


def _take_photo(request: Request, entry: Entry) -> Entry:
    """A field for a file that was left empty is sent, too."""
    photo = request.form.files.get("photo")
    if not photo:
        return entry
    try:
        return replace(entry, upload_id=media.receive(request.member.id, photo), drops_photo=False)
    except TooLarge:
        raise TooLarge(_TOO_LARGE) from None


def _fresh(once: str) -> str | None:
    """What a form wrote down is remembered for a day: the id of an older form, or of none, is not used."""
    now = clock.now()
    is_ours = ids.is_id(once) and ids.since(now - _FORM_LIFE) <= once < ids.since(now + timedelta(seconds=1))
    return once if is_ours else None


def _changes(entry: Entry) -> Changes:
    """Without a version that could have been read, it conflicts with whatever is saved."""
    version = entry.updated_at
    return Changes(
        updated_at=int(version) if version.isascii() and version.isdigit() and len(version) < 16 else 0,
        animal_name=model.check_animal_name(entry.animal_name),
        location=model.check_location(entry.location),
        upload_id=entry.upload_id or None,
        drops_photo=entry.drops_photo,
    )


def _without_refused_photo(request: Request, entry: Entry, failure: GnaError) -> Entry:
    sent = bool(entry.upload_id or request.form.files.get("photo"))
    if shell.blame(failure, _FIELDS).field == "photo":
        entry = replace(entry, upload_id="")
    return replace(entry, photo_lost=sent and not entry.upload_id)


def _new_form(entry: Entry) -> dict[str, Any]:
    return {"action": _NEW, "back": shell.HOME, "entry": _show_again(entry), "sighting": None}


def _edit_form(seen: Seen, entry: Entry) -> dict[str, Any]:
    path = views.path_to(seen.sighting.id)
    return {"action": f"{path}/edit", "back": path, "entry": _show_again(entry), "sighting": views.view(seen)}


def _show_again(entry: Entry) -> Entry:
    texts = ("animal_name", "location", "updated_at", "upload_id", "once")
    return replace(entry, **{name: views.show_again(getattr(entry, name)) for name in texts})


def _refuse(request: Request, failure: GnaError, values: dict[str, Any]) -> Response:
    if isinstance(failure, Unauthenticated):
        raise failure
    return views.with_photos(shell.refuse(request, _TEMPLATE, failure, _FIELDS, here=shell.HOME, **values))


def _find(request: Request) -> Seen:
    return service.find(request.member.id, _id(request))


def _id(request: Request) -> str:
    return model.parse_id(request.path["sighting_id"])


def _page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    return views.with_photos(shell.page(request, template, status, here=shell.HOME, **values))
