"""What other rooms do with pictures: let them be uploaded, attach one to what it shows, show it, delete it.

    picture = service.check_attachable(owner, upload_id)
    tables.transact(…, service.attach_write(picture))
    service.prepare_soon(picture.id)

A picture belongs to `owner`, whatever id that is, and can be attached once.

What goes into a mail, an archive or a page that others see is a public copy:

    copy = service.publish(content)
    tables.transact(…, service.use_write(copy.name))
    service.copy_url(copy.name)

One that nobody uses is removed after a day, unless an editor uploaded it (`library`). What uses it may be named: `by`
is an id, or words of another room.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from chalicelib.kernel import clock, ids, limits, log, settings
from chalicelib.kernel.aws import failures, objects, queues, tables
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Invalid, TooLarge, Unavailable
from chalicelib.media import copy_store, model, places, postponed_store, shown_store, store
from chalicelib.media.model import Announced, Picture, PublicCopy, State

QUEUE, DESK_QUEUE = "media", "feed"
PREPARE, ERASE = "prepare", "erase"
_ATTEMPTS, _REST = 5, 0.1


def announce(owner: str, content_type: str, size: int) -> Announced:
    """A form that a browser posts the file with, directly to the bucket."""
    if content_type not in (model.DESK_TYPES if owner == model.DESK else model.TYPES):
        raise Invalid(model.NOT_FOR_DESK if owner == model.DESK else model.WRONG_TYPE)
    _check_size(size)
    id, until = _expect(owner)
    seconds = int(model.UPLOAD_LIFE.total_seconds())
    url, fields = objects.sign_post(places.incoming(id), content_type, model.LARGEST, seconds)
    return Announced(id, url, fields, until)


def receive(owner: str, content: bytes) -> str:
    """A file that came with a form; the id to attach it by."""
    content_type = check_form(owner, content)
    id, _ = _expect(
        owner
    )  # before the file is stored: without its row, nothing but the bucket's rule would remove it
    objects.put(places.incoming(id), content, content_type)
    return id


def check_form(owner: str, content: bytes) -> str:
    """The type of a file that came with a form, if it may be a picture at all."""
    _check_size(len(content), model.LARGEST_FORM)
    return model.sniff_for(owner, content)


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
    model.check_content(found.size, found.content, owner)
    return replace(picture, fingerprint=found.fingerprint)


def read_upload(picture: Picture) -> bytes:
    """The bytes that were checked when it was attached. The upload's form works for minutes after that, so there may
    be others in their place, and two workers must not prepare different ones."""
    found = objects.get(places.incoming(picture.id), most=model.LARGEST + 1)
    if found is None or found.fingerprint != picture.fingerprint:
        raise Invalid(model.NOT_PREPARED)
    model.check_content(found.size, found.content, picture.owner)
    return found.content


def discard_upload(picture_id: str) -> None:
    """As it was uploaded, with everything a camera wrote into it."""
    objects.delete(places.incoming(picture_id))


def refuse(picture: Picture, refusal: Invalid) -> None:
    store.mark_refused(picture, refusal.reason)
    log.info("photo.refused", picture_id=picture.id, reason=refusal.reason)


def attach_write(picture: Picture) -> Write:
    """For the transaction that stores what the picture shows. When it fails because of this, somebody else attached
    it first or its time is over: `check_attachable` says which."""
    return store.attach_write(picture, clock.now())


def prepare_soon(picture_id: str, owner: str = "") -> None:
    """After the transaction that attached it. If this is lost, the clean-up makes up for it. Without members, nobody
    listens to the queue of their photos, so pictures of the desk go to the one that everybody has."""
    queues.send(DESK_QUEUE if owner == model.DESK else QUEUE, {"kind": PREPARE, "id": picture_id})


def delete_write(picture_id: str) -> Write:
    """Whatever its state: it is not shown from this moment on, and its files are gone within the hour."""
    return store.delete_write(picture_id, clock.now())


def erase_soon(picture_id: str) -> None:
    """After the transaction that deleted it. If this is lost, the clean-up makes up for it."""
    queues.send(QUEUE, {"kind": ERASE, "id": picture_id})


def find_many(picture_ids: Iterable[str]) -> dict[str, Picture]:
    """By id, in one request; those that do not exist are left out."""
    return store.find_many(picture_ids)


def show_write(name: str, picture_id: str | None) -> Write:
    """For the transaction that shows the picture to others, who know it by this name only: from its id one could read
    when it was uploaded. None: there is no picture by this name any more."""
    return shown_store.show_write(name, picture_id) if picture_id else shown_store.hide_write(name)


def find_shown(names: Iterable[str]) -> dict[str, Picture]:
    """By the names they are shown under, in two requests; one if there are none."""
    ids_by_name = shown_store.find_many(names)
    pictures = store.find_many(set(ids_by_name.values()))
    return {name: pictures[id] for name, id in ids_by_name.items() if id in pictures}


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


def publish(
    content: bytes,
    width: int = model.MAIL_WIDTH,
    height: int = model.MAIL_HEIGHT,
    most_pixels: int = model.MOST_PIXELS,
) -> PublicCopy:
    """A copy that everybody may see, at most as wide and high as that. The same picture twice is one copy. Refuses as
    `Invalid` what is no picture."""
    from chalicelib.media import images, public_images

    made = public_images.make(content, images.Box(width, height), most_pixels)
    copy = PublicCopy(public_images.name(made), made.width, made.height, len(made.content))
    if copy_store.announce(copy, clock.now()):
        _store(copy, made.content, made.format)
    return copy


def _store(copy: PublicCopy, content: bytes, format: str) -> None:
    """Whoever deletes the copy between its row and its file would leave a file that no row knows of, and nobody ever
    removes: so its row is made again."""
    objects.put(places.public(copy.name), content, format)
    for attempt in range(_ATTEMPTS):
        if copy_store.find(copy.name):
            return
        failures.rest(attempt, _REST)
        with suppress(Unavailable):  # the other one has not finished; if it never does, the clean-up does
            copy_store.announce(copy, clock.now())
            objects.put(places.public(copy.name), content, format)
    raise Unavailable(copy_store.BEING_REMOVED)


def publish_photo(picture_id: str) -> PublicCopy | None:
    """Of a picture that only its owner could see before; None if it is not ready."""
    found = objects.get(places.photo(picture_id), most=model.LARGEST)
    return publish(found.content) if found else None


def find_copies(names: Iterable[str]) -> frozenset[str]:
    """Those that are public, a hundred a request."""
    return copy_store.find_public(names)


def find_copy(name: str) -> PublicCopy | None:
    """One that is public, and how large it is."""
    found = copy_store.find(name)
    return found.copy if found else None


def find_crowded(names: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Those that are public, and those of them that can name no more of what uses them: that is only counted."""
    found = copy_store.find_many(names)
    crowded = (name for name, kept in found.items() if len(kept.used_in) >= copy_store.MOST_NAMED)
    return frozenset(found), frozenset(crowded)


def read_copy(name: str) -> bytes | None:
    found = objects.get(places.public(name), most=model.LARGEST_COPY)
    return found.content if found else None


def copy_url(name: str) -> str:
    """Where everybody finds the copy, for ever."""
    return f"{settings.current().site_url}/media/{name}"


def use_write(name: str, by: str | None = None) -> Write:
    """For the transaction that stores what shows the copy. It fails if the copy is gone: then publish it again."""
    return copy_store.use_write(name, clock.now(), by)


def release_write(name: str, by: str | None = None) -> Write:
    """For the transaction that deletes what showed the copy, named as it was when it began."""
    return copy_store.release_write(name, clock.now(), by)


def unpublish(name: str) -> bool:
    """Remove a copy at once. False if there is none, or somebody uses it."""
    if not model.is_name(name) or not copy_store.mark_removed(name, clock.now(), due_only=False):
        return False
    remove_copy(name)
    return True


def remove_copy(name: str) -> None:
    """Of one that is marked as removed: its file, the upload it came from, and then its row, so that whoever dies in
    between is made up for by the clean-up."""
    objects.delete(places.public(name))
    media_id = copy_store.find_media_id(name)
    if media_id and ids.is_id(media_id):
        tables.transact(store.delete_write(media_id, clock.now()))
    copy_store.forget(name)


def postpone(queue: str, message: Mapping[str, Any], until: datetime) -> None:
    """Put the message on the queue within the hour after that moment."""
    postponed_store.add(postponed_store.Postponed(queue, message), until)


def _check_size(size: int, most: int = model.LARGEST) -> None:
    if size < 1:
        raise Invalid(model.EMPTY)
    if size > model.LARGEST:
        raise Invalid(model.TOO_LARGE)
    if size > most:
        raise TooLarge(model.TOO_LARGE_FOR_FORM)


def count_upload(owner: str) -> None:
    """Raises `TooMany` when it is one too many in this hour."""
    limits.spend("uploads", owner, model.UPLOADS_PER_HOUR, 3600)


def _expect(owner: str) -> tuple[str, datetime]:
    """The id of an upload to come, and until when it may be attached."""
    count_upload(owner)
    id, now = ids.new(), clock.now()
    until = now + model.UPLOAD_LIFE
    store.add(id, owner, now, until)
    return id, until
