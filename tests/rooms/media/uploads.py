"""Pictures in each of their states, and every step of what is done to them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest import mock

from chalicelib.kernel import clock
from chalicelib.kernel.aws import objects, tables
from chalicelib.media import places, service, store
from chalicelib.media.model import Picture, State
from chalicelib.media.store import PictureRow
from tests.rooms.media.pictures import encode, grid

OWNER, OTHER = "0193a5c4-9e2d-7f10-a3b4-c5d6e7f80910", "0193a5c4-9e2d-7f10-a3b4-c5d6e7f80911"

# Everything that leaves the process while a picture is prepared, erased or cleaned up.
_STEPS = [(objects, name) for name in ("get", "put", "delete")] + [
    (store, name)
    for name in ("find", "mark_ready", "mark_refused", "mark_cleared", "mark_erased", "postpone", "forget")
]


def received(content: bytes | None = None, owner: str = OWNER) -> str:
    return service.receive(owner, encode(grid()) if content is None else content)


def attached(content: bytes | None = None) -> str:
    """Being processed."""
    picture = service.check_attachable(OWNER, received(content))
    tables.transact(service.attach_write(picture))
    return picture.id


def deleted(id: str) -> str:
    tables.transact(service.delete_write(id))
    return id


def found(id: str) -> Picture:
    return service.find_many([id])[id]


def state(id: str) -> State | None:
    picture = service.find_many([id]).get(id)
    return picture.state if picture else None


def files(id: str) -> tuple[bool, bool]:
    """Whether there is the upload, and anything of the photo."""
    made = any(objects.get(place, 1) for place in (places.photo(id), places.small(id)))
    return objects.get(places.incoming(id), 1) is not None, made


def due(id: str) -> tuple[str, str] | None:
    row = tables.get(PictureRow, id)
    return (row.todo, row.due_at) if row and row.todo else None


def clearing(id: str) -> tuple[str, str]:
    """What is due of a picture that is settled: ten minutes after nobody can upload to its place any more."""
    return "clear", clock.text(found(id).until + timedelta(minutes=10))


class Died(BaseException):
    """As a process does: nothing catches it."""


@contextmanager
def interrupted(at: int, act: Callable[[], Any], after: bool = False) -> Iterator[list[str]]:
    """Calls `act` before the step with this number, or after it. Gives the steps that were taken."""
    taken: list[str] = []
    patches = []

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any, **named: Any) -> Any:
            taken.append(name)
            mine = len(taken) - 1 == at
            if mine and not after:
                act()
            result = real(*given, **named)
            if mine and after:
                act()
            return result

        return step

    for module, name in _STEPS:
        patches.append(mock.patch.object(module, name, counted(name, getattr(module, name))))
    for patch in patches:
        patch.start()
    try:
        yield taken
    finally:
        for patch in patches:
            patch.stop()


def die() -> None:
    raise Died
