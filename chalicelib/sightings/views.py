"""A sighting as the pages show it."""

from datetime import datetime

from msgspec import Struct

from chalicelib.media import service as media
from chalicelib.members import shell
from chalicelib.sightings import model, service
from chalicelib.sightings.model import Seen, Shared
from chalicelib.web import responses
from chalicelib.web.responses import Response

# A page has at most 60 KB, and a signed link alone may have one and a half.
_NAME_ON_CARD, _PLACE_ON_CARD = 80, 120
# Far more than any field takes, so that a text that is a little too long comes back whole.
_MOST_SHOWN_AGAIN = 5_000


class View(Struct, frozen=True):
    """`photo_url` is there when the photo is ready, and works for ten minutes."""

    path: str
    animal_name: str
    location: str
    sighted_at: datetime
    updated_at: int
    photo_state: str
    photo_url: str | None
    photo_error: str | None
    width: int | None
    height: int | None
    shared: Shared | None


def view(seen: Seen, large: bool = False) -> View:
    """With a small copy of the photo, unless the page is about it."""
    sighting, picture = seen.sighting, seen.picture
    return View(
        path=path_to(sighting.id),
        animal_name=sighting.animal_name,
        location=sighting.location,
        sighted_at=sighting.sighted_at,
        updated_at=sighting.updated_at,
        photo_state=seen.photo_state.value,
        photo_url=service.sign_photo(picture, small=not large),
        photo_error=picture.error if picture else None,
        width=picture.width if picture else None,
        height=picture.height if picture else None,
        shared=sighting.shared,
    )


def shorten_name(text: str) -> str:
    return _shorten(text, _NAME_ON_CARD)


def shorten_place(text: str) -> str:
    return _shorten(text, _PLACE_ON_CARD)


def show_again(text: str) -> str:
    """What somebody sent, on the page that says what is wrong with it: of megabytes only the beginning."""
    return text[:_MOST_SHOWN_AGAIN]


def path_to(id: str) -> str:
    return f"{shell.HOME}/{model.wire_id(id)}"


def with_photos(page: Response) -> Response:
    """Lets the page show photos from the bucket, and upload to it."""
    return responses.with_photos(page, media.origin())


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
