"""Pictures that editors upload for everybody to see: made while they wait or, if large, by a worker; listed with all
other public copies, and deleted when nothing shows them.

A large one is known by the id of its upload, any other by the beginning of its name. The same picture twice is one
copy, and keeps the id it had first.
"""

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.errors import Conflict, Invalid, NotFound, TooLarge, Unavailable
from chalicelib.media import copy_store, model, service, store
from chalicelib.media.model import DESK, Announced, Kept, Picture, State


class Upload(Struct, frozen=True):
    """`kept` is there when it is ready, `error` when it is refused."""

    id: str
    state: State
    kept: Kept | None = None
    error: str = ""


class Page(Struct, frozen=True):
    items: list[Kept]
    next_place: str | None


def receive(content: bytes) -> Upload:
    """A file that came with a form."""
    if len(content) > model.LARGEST_FORM:
        raise TooLarge(model.TOO_LARGE_FOR_FORM)
    if not _is_small(content, service.check_form(DESK, content)):
        picture = _attach(service.receive(DESK, content))
        service.prepare_soon(picture.id, DESK)
        return Upload(picture.id, picture.state)
    service.count_upload(DESK)
    return retry_stale(lambda: _keep(content), busy="The picture is being deleted by someone else")


def announce(content_type: str, size: int) -> Announced:
    """A form to upload a larger file with; `confirm` when that is done."""
    if size > model.LARGEST:
        raise TooLarge(model.TOO_LARGE)
    return service.announce(DESK, content_type, size)


def confirm(upload_id: str) -> Upload:
    """The file is uploaded: make the picture. Asking twice makes no difference."""
    if _find_upload(upload_id).state is not State.WAITING:
        return find(upload_id)
    try:
        picture = _attach(upload_id)
    except Stale:
        return find(upload_id)
    content = _read(picture)
    if content is not None and not _is_small(content, model.sniff_for(DESK, content)):
        service.prepare_soon(upload_id, DESK)
    elif content is not None:
        _publish(picture, content)
    return find(upload_id)


def make(picture: Picture) -> None:
    """The public copy of an upload, if it is a picture. Whoever dies in between leaves what can be done again."""
    content = _read(picture)
    if content is not None:
        _publish(picture, content)


def is_known_by(picture: Picture) -> bool:
    """Whether the copy has the id of this upload."""
    found = copy_store.find(picture.copy) if picture.copy else None
    return found is not None and found.id == picture.id


def find(media_id: str) -> Upload:
    if not ids.is_id(media_id):
        return _find_by_stem(media_id)
    picture = _find_upload(media_id)
    if picture.state is State.READY and picture.copy:
        return _find_copy(picture.copy)
    if picture.state not in (State.PROCESSING, State.REFUSED):
        raise NotFound(model.NO_MEDIA)
    return Upload(picture.id, picture.state, error=picture.error or "")


def list_page(limit: int, place: str | None, uploaded_only: bool) -> Page:
    """All public copies, newest first."""
    shelves = (copy_store.UPLOADED,) if uploaded_only else (copy_store.UPLOADED, copy_store.COPIED)
    found = sorted(
        (each for shelf in shelves for each in copy_store.list_page(shelf, limit + 1, place)), reverse=True
    )
    page = found[:limit]
    known = copy_store.find_many(name for _, name in page)
    items = [known[name] for _, name in page if name in known]
    return Page(items, page[-1][0] if len(found) > limit else None)


def delete(media_id: str) -> None:
    """Raises `Conflict` if anything uses it, also if that begins at this moment."""
    found = find(media_id)
    if found.state is State.PROCESSING:
        raise Conflict(model.NOT_READY)
    if not found.kept:
        store.forget(media_id, State.REFUSED)
        return
    if not service.unpublish(found.kept.copy.name):
        find(media_id)
        raise Conflict(model.IN_USE)


def _find_upload(id: str) -> Picture:
    picture = store.find(id) if ids.is_id(id) else None
    if picture is None or picture.owner != DESK:
        raise NotFound(model.NO_MEDIA)
    return picture


def _find_by_stem(stem: str) -> Upload:
    found = copy_store.find_many(model.names_of(stem))
    if not found:
        raise NotFound(model.NO_MEDIA)
    return _ready(next(iter(found.values())))


def _find_copy(name: str) -> Upload:
    found = copy_store.find(name)
    if found is None:
        raise NotFound(model.NO_MEDIA)
    return _ready(found)


def _ready(kept: Kept) -> Upload:
    return Upload(kept.id, State.READY, kept)


def _keep(content: bytes) -> Upload:
    """Raises `Stale` if it is deleted at this moment: then it has to be stored again."""
    copy = service.publish(content)
    tables.transact(copy_store.keep_write(copy.name, model.stem(copy.name), clock.now()))
    return _find_copy(copy.name)


def _attach(upload_id: str) -> Picture:
    """Raises `Stale` if somebody else did."""
    picture = service.check_attachable(DESK, upload_id)
    tables.transact(service.attach_write(picture))
    return replace(picture, state=State.PROCESSING)


def _read(picture: Picture) -> bytes | None:
    """None if it is refused."""
    try:
        content = service.read_upload(picture)
        _is_small(content, model.sniff_for(DESK, content))
    except Invalid as refusal:
        service.refuse(picture, refusal)
        return None
    return content


def _publish(picture: Picture, content: bytes) -> None:
    """Of two at a time, one finds that it is done."""
    try:
        copy = service.publish(content)
    except Invalid as refusal:
        service.refuse(picture, refusal)
        return
    now = clock.now()
    try:
        tables.transact(copy_store.keep_write(copy.name, picture.id, now), store.ready_write(picture, copy, now))
    except Stale:
        after = store.find(picture.id)
        if after and after.state is State.PROCESSING:
            raise Unavailable("This picture was just removed") from None
    service.discard_upload(picture.id)


def _is_small(content: bytes, format: str) -> bool:
    """Whether it can be made at once. Raises `Invalid` if nobody has the memory for it."""
    from chalicelib.media import bounds, images

    pixels = images.count_pixels(content, format)
    if format == model.WEBP:
        bounds.check_pixels(pixels, 1, model.MOST_PIXELS_OF_WEBP)
    return pixels <= model.MOST_PIXELS_AT_ONCE
