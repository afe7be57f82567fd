"""What other rooms do with pictures: let them be uploaded, attach one to what it shows, show it, delete it.

    picture = service.check_attachable(owner, upload_id)
    tables.transact(…, service.attach_write(picture))
    service.prepare_soon(picture.id)

A picture belongs to `owner`, whatever id that is, and can be attached once.
"""

from collections.abc import Iterable
from datetime import datetime
from urllib.parse import urlsplit

from msgspec.structs import replace

from chalicelib.kernel import clock, ids, limits
from chalicelib.kernel.aws import objects, queues
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Invalid, TooLarge
from chalicelib.media import model, places, store
from chalicelib.media.model import Announced, Picture, State

QUEUE = "media"
PREPARE, ERASE = "prepare", "erase"


def announce(owner: str, content_type: str, size: int) -> Announced:
    """A form that a browser posts the file with, directly to the bucket."""
    if content_type not in model.TYPES:
        raise Invalid(model.WRONG_TYPE)
    _check_size(size)
    id, until = _expect(owner)
    seconds = int(model.UPLOAD_LIFE.total_seconds())
    url, fields = objects.sign_post(places.incoming(id), content_type, model.LARGEST, seconds)
    return Announced(id, url, fields, until)


def receive(owner: str, content: bytes) -> str:
    """A file that came with a form; the id to attach it by."""
    _check_size(len(content))
    if len(content) > model.LARGEST_FORM:
        raise TooLarge(model.TOO_LARGE_FOR_FORM)
    content_type = model.sniff(content)
    if content_type is None:
        raise Invalid(model.WRONG_TYPE)
    id, _ = _expect(
        owner
    )  # before the file is stored: without its row, nothing but the bucket's rule would remove it
    objects.put(places.incoming(id), content, content_type)
    return id


def check_attachable(owner: str, upload_id: str) -> Picture:
    """The upload, if it may be attached now; it is not used up by asking."""
    picture = store.find(upload_id) if ids.is_id(upload_id) else None
    if picture is None or picture.owner != owner:
        raise Invalid(model.NOT_FOUND)
    if picture.state is not State.WAITING:
        raise Invalid(model.USED)
    if picture.until <= clock.now():
        raise Invalid(model.EXPIRED)
    found = objects.get(places.incoming(picture.id), most=model.HEAD)
    if found is None:
        raise Invalid(model.NOT_FOUND)
    model.check_content(found.size, found.content)
    return replace(picture, fingerprint=found.fingerprint)


def attach_write(picture: Picture) -> Write:
    """For the transaction that stores what the picture shows. When it fails because of this, somebody else attached
    it first or its time is over: `check_attachable` says which."""
    return store.attach_write(picture, clock.now())


def prepare_soon(picture_id: str) -> None:
    """After the transaction that attached it. If this is lost, the clean-up makes up for it."""
    queues.send(QUEUE, {"kind": PREPARE, "id": picture_id})


def delete_write(picture_id: str) -> Write:
    """Whatever its state: it is not shown from this moment on, and its files are gone within the hour."""
    return store.delete_write(picture_id, clock.now())


def erase_soon(picture_id: str) -> None:
    """After the transaction that deleted it. If this is lost, the clean-up makes up for it."""
    queues.send(QUEUE, {"kind": ERASE, "id": picture_id})


def find_many(picture_ids: Iterable[str]) -> dict[str, Picture]:
    """By id, in one request; those that do not exist are left out."""
    return store.find_many(picture_ids)


def sign(picture: Picture, small: bool = False) -> str | None:
    """A link to the picture for the next ten minutes; with `small`, to a copy for pages that show many. Whoever has
    it can see the picture: never store or log it."""
    if picture.state is not State.READY:
        return None
    place = places.small(picture.id) if small else places.photo(picture.id)
    return objects.sign_get(place, model.LINK_SECONDS)


def origin() -> str:
    """Where browsers load pictures from and post them to, for the security policy of pages."""
    parts = urlsplit(objects.sign_get(places.photo("x"), model.LINK_SECONDS))
    return f"{parts.scheme}://{parts.netloc}"


def _check_size(size: int) -> None:
    if size < 1:
        raise Invalid(model.EMPTY)
    if size > model.LARGEST:
        raise Invalid(model.TOO_LARGE)


def _expect(owner: str) -> tuple[str, datetime]:
    """The id of an upload to come, and until when it may be attached."""
    limits.spend("uploads", owner, model.UPLOADS_PER_HOUR, 3600)
    id, now = ids.new(), clock.now()
    until = now + model.UPLOAD_LIFE
    store.add(id, owner, now, until)
    return id, until
