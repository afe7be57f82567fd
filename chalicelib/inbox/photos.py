"""Photos of sightings that members share. Editors see one by a link that is made at each read and works for ten
minutes. Everybody else sees a public copy, which is made when the sighting goes into a campaign, and not before. The
campaign holds it: without one, it is removed a day later."""

from collections.abc import Iterable

from msgspec import Struct

from chalicelib.inbox import use_store
from chalicelib.inbox.model import NOT_FOUND, Item, Provider
from chalicelib.kernel.errors import Invalid, NotFound
from chalicelib.media import service as media
from chalicelib.media.model import Picture, State

# They are copied while the editor waits.
MOST_AT_ONCE = 10
NOT_READY = "Its photo is still being prepared, and is not in the draft"


class Published(Struct, frozen=True):
    """`name` is that of the copy, empty if there is no photo; `problem` says why there is none yet."""

    name: str = ""
    problem: str = ""

    @property
    def url(self) -> str:
        return media.copy_url(self.name) if self.name else ""


def sign_all(items: Iterable[Item]) -> dict[str, str]:
    """Links to small copies, by item, of those that have a photo. No request if there are no sightings."""
    links = {id: media.sign(picture, small=True) for id, picture in _find(items).items()}
    return {id: link for id, link in links.items() if link}


def publish(items: Iterable[Item]) -> dict[str, Published]:
    """By item. `NotFound` for what was withdrawn at this moment: then nothing of it is public."""
    found = _find(items)
    if len(found) > MOST_AT_ONCE:
        raise Invalid(f"At most {MOST_AT_ONCE} sightings with a photo can be added at once")
    return {id: _publish(id, picture) for id, picture in found.items()}


def _find(items: Iterable[Item]) -> dict[str, Picture]:
    ids = [item.id for item in items if item.provider is Provider.SIGHTING]
    return media.find_shown(ids) if ids else {}


def _publish(id: str, picture: Picture) -> Published:
    if picture.state is State.PROCESSING:
        return Published(problem=NOT_READY)
    copy = media.publish_photo(picture.id) if picture.state is State.READY else None
    if not copy:
        return Published()
    if not use_store.note_copy(id, copy.name):
        media.unpublish(copy.name)
        raise NotFound(NOT_FOUND)
    return Published(copy.name)
