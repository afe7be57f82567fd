"""The worker's side of pictures: preparing what was attached, erasing what was deleted, and the hourly clean-up,
which also removes public copies that nobody uses.

Files and rows cannot change together, so the order matters. A picture is `ready` only after its file is there. What
happens to the files is decided by the row as it is after that: whoever comes late, twice or after a crash reads the
same row and does the same.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from chalicelib.kernel import clock, log, sweeping
from chalicelib.kernel.aws import objects, queues
from chalicelib.kernel.errors import Invalid
from chalicelib.media import copy_store, images, library, model, places, postponed_store, service, store
from chalicelib.media.model import Picture, State

# The bucket's rule removes an upload after a day, so there is no use in trying longer.
_TRIED_FOR = timedelta(days=1)


def handle(message: Mapping[str, Any]) -> None:
    """One message of the queue `media`."""
    {service.PREPARE: prepare, service.ERASE: erase}[str(message["kind"])](str(message["id"]))


def prepare(id: str) -> None:
    """Make the picture that is served from the one that was uploaded."""
    picture = store.find(id)
    if picture and picture.state is State.PROCESSING:
        _process(picture)
        picture = store.find(id)
    match picture.state if picture else State.DELETED:
        case State.READY:
            objects.delete(places.incoming(id))
        case State.REFUSED | State.DELETED:
            places.delete_all(id)


def erase(id: str) -> None:
    """Delete the files at once. The row stays, and with it a second deletion later: a worker that has not seen the
    first may still be writing."""
    picture = store.find(id)
    if picture and picture.state is not State.DELETED:
        log.warning("photo.not_deleted", picture_id=id)
        return
    places.delete_all(id)
    store.mark_erased(id, clock.now())


def clean_up(time_left: Callable[[], bool]) -> None:
    """Remove uploads that were never attached or came too late, queue again what the queue gave up on, and erase
    what was deleted. Each step is complete in itself and may be repeated."""
    now, sweep = clock.now(), sweeping.Sweep("media.not_cleaned_up", time_left)
    done = {todo: sweep.each(store.list_due(todo, now), act) for todo, act in _DUE.items()}
    done["unused_copy"] = sweep.each(copy_store.list_due(copy_store.UNUSED, now), _remove_unused)
    done["remove_copy"] = sweep.each(copy_store.list_due(copy_store.REMOVE, now), service.remove_copy)
    done["postponed"] = sweep.each(postponed_store.list_due(now), _send_postponed)
    log.info("media.cleaned_up", **done)
    sweep.finish()


def _process(picture: Picture) -> None:
    if picture.owner == model.DESK:
        library.make(picture)
        return
    try:
        made = images.remake(service.read_upload(picture))
    except Invalid as refusal:
        service.refuse(picture, refusal)
        return
    small = images.remake(made.content, model.SMALL_SIDE)
    objects.put(places.small(picture.id), small.content, small.format)
    objects.put(places.photo(picture.id), made.content, made.format)
    store.mark_ready(picture, made.format, len(made.content), made.width, made.height, clock.now())


def _abandon(id: str) -> None:
    picture = store.find(id)
    if picture and picture.state is State.WAITING:
        objects.delete(places.incoming(id))
        store.forget(id, State.WAITING)


def _prepare_again(id: str) -> None:
    picture = store.find(id)
    if not picture or picture.state is not State.PROCESSING:
        return
    now = clock.now()
    if picture.attached_at and picture.attached_at + _TRIED_FOR < now:
        if store.mark_refused(picture, model.NOT_PREPARED):
            places.delete_all(id)
        return
    service.prepare_soon(id, picture.owner)
    store.postpone(id, now)


def _clear(id: str) -> None:
    """Once more: the original may have been uploaded again after the picture was made, with where it was taken."""
    picture = store.find(id)
    if picture and picture.state in (State.READY, State.REFUSED):
        objects.delete(places.incoming(id))
        if picture.owner == model.DESK and not library.is_known_by(picture):
            store.forget(id, picture.state)
        else:
            store.mark_cleared(id)


def _forget(id: str) -> None:
    places.delete_all(id)
    store.forget(id, State.DELETED)


def _remove_unused(name: str) -> bool:
    """Unless somebody uses it after all. Marked first: whoever publishes the same picture now is told to wait."""
    if not copy_store.mark_removed(name, clock.now(), due_only=True):
        copy_store.settle(name)
        return False
    service.remove_copy(name)
    return True


def _send_postponed(id: str) -> None:
    """If it dies in between, the message is sent twice."""
    if postponed := postponed_store.find(id):
        queues.send(postponed.queue, postponed.message)
        postponed_store.forget(id)


_DUE = {
    store.UPLOAD: _abandon,
    store.PREPARE: _prepare_again,
    store.CLEAR: _clear,
    store.ERASE: erase,
    store.FORGET: _forget,
}
