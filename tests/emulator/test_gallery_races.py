"""Pictures of the desk on a real table and bucket: two of everything, a deletion beside a use, and workers that die
at every step."""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any
from unittest import mock

import pytest
from PIL import Image

from chalicelib.campaigns import service as campaigns
from chalicelib.campaigns.service import Draft
from chalicelib.kernel.aws import objects, session, tables
from chalicelib.kernel.errors import Conflict, NotFound, Unavailable
from chalicelib.media import copy_store, jobs, library, model, places, store
from chalicelib.media import service as media
from chalicelib.media.copy_store import CopyRow
from chalicelib.media.library import Upload
from chalicelib.media.model import State
from chalicelib.site import service as site
from tests.rooms.media.pictures import encode, grid
from tests.rooms.media.uploads import Died, die

SMALL = encode(grid())
LARGE = encode(Image.new("RGB", (3000, 2000), "teal"))


@pytest.fixture(autouse=True)
def _clients(emulator: Any) -> None:
    session.client("s3")  # before any thread runs


def copies() -> list[CopyRow]:
    return [row for row in CopyRow.scan() if model.is_name(row.id)]


def is_stored(name: str) -> bool:
    return objects.get(places.public(name), 1) is not None


def drafted(url: str) -> Any:
    return campaigns.create(Draft("Issue", f'<p><img src="{url}" alt="x"></p>'))


@pytest.mark.parametrize("attempt", range(6))
def test_a_deletion_beside_a_draft_that_is_saved(together: Any, attempt: int) -> None:
    made = library.receive(SMALL)
    assert made.kept
    name = made.kept.copy.name
    saved, deleted = together(partial(drafted, media.copy_url(name)), partial(library.delete, made.id))
    assert not isinstance(saved, Exception), saved
    if isinstance(deleted, Conflict):
        assert saved.content.pictures == {name}
        assert is_stored(name)
        assert [(row.uses, set(row.used_in)) for row in copies()] == [(1, {saved.campaign.id})]
    else:
        assert deleted is None
        assert saved.content.pictures == frozenset()
        assert not copies()
        assert not is_stored(name)


@pytest.mark.parametrize("attempt", range(3))
def test_a_deletion_beside_the_welcome_email(together: Any, attempt: int) -> None:
    made = library.receive(SMALL)
    assert made.kept
    name = made.kept.copy.name
    change = partial(site.change, {"welcome.body": f"![x]({media.copy_url(name)}) {attempt}"}, "ada@example.org")
    saved, deleted = together(change, partial(library.delete, made.id))
    assert not isinstance(saved, Exception), saved
    assert is_stored(name) is isinstance(deleted, Conflict)


@pytest.mark.parametrize("attempt", range(3))
def test_the_same_picture_uploaded_by_many_at_once_is_one(together: Any, attempt: int) -> None:
    results = together(*[partial(library.receive, SMALL)] * 6)
    assert all(isinstance(result, Upload) for result in results), results
    assert len({result.id for result in results}) == 1
    assert [(row.kept, row.uses, row.shelf) for row in copies()] == [(True, 0, copy_store.UPLOADED)]
    assert len(library.list_page(10, None, uploaded_only=False).items) == 1


@pytest.mark.parametrize("attempt", range(3))
def test_workers_at_the_same_time_make_one_copy(together: Any, attempt: int) -> None:
    first, second = (library.receive(LARGE).id for _ in range(2))
    workers = [partial(jobs.prepare, id) for id in (first, second, first, second)]
    assert together(*workers) == [None] * 4
    one, other = library.find(first), library.find(second)
    assert one == other
    assert one.state is State.READY
    assert one.id in (first, second)
    assert len(copies()) == 1
    assert not any(objects.get(places.incoming(id), 1) for id in (first, second))


@pytest.mark.parametrize("attempt", range(3))
def test_confirming_twice_at_once_is_one_upload(together: Any, attempt: int) -> None:
    announced = library.announce("image/jpeg", len(SMALL))
    objects.put(places.incoming(announced.id), SMALL, "image/jpeg")
    results = together(*[partial(library.confirm, announced.id)] * 4)
    assert all(isinstance(result, Upload) for result in results), results
    assert {result.state for result in results} <= {State.PROCESSING, State.READY}
    assert library.find(announced.id).state is State.READY
    assert len(copies()) == 1


@pytest.mark.parametrize("attempt", range(6))
def test_a_deletion_beside_an_upload_of_the_same_leaves_no_row_without_its_file(together: Any, attempt: int) -> None:
    made = library.receive(SMALL)
    assert made.kept
    again, deleted = together(partial(library.receive, SMALL), partial(library.delete, made.id))
    assert deleted is None
    assert isinstance(again, Upload | Unavailable | NotFound), again
    assert all(is_stored(row.id) for row in copies())
    assert library.receive(SMALL).id == made.id, "whoever is told to come again can"


@pytest.mark.parametrize("attempt", range(3))
def test_a_large_one_goes_all_the_way_over_the_queue(work: Any, attempt: int) -> None:
    id = library.receive(LARGE).id
    assert work("feed") == 1
    assert library.find(id).state is State.READY
    library.delete(id)
    with pytest.raises(NotFound):
        library.find(id)


_STEPS = [(objects, name) for name in ("get", "put", "delete")]
_STEPS += [(store, "find"), (copy_store, "announce"), (tables, "transact")]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(12))
def test_a_worker_that_dies_is_made_up_for(at: int, after: bool) -> None:
    id = library.receive(LARGE).id
    taken: list[str] = []

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any, **named: Any) -> Any:
            taken.append(name)
            mine = len(taken) - 1 == at
            if mine and not after:
                die()
            result = real(*given, **named)
            if mine and after:
                die()
            return result

        return step

    with ExitStack() as patched, suppress(Died):
        for module, name in _STEPS:
            patched.enter_context(mock.patch.object(module, name, counted(name, getattr(module, name))))
        jobs.prepare(id)
    assert len(taken) <= at + 1, "it died where it was told to"
    jobs.prepare(id)
    found = library.find(id)
    assert (found.state, found.id) == (State.READY, id)
    assert [(row.kept, row.media_id, row.todo) for row in copies()] == [(True, id, None)]
    assert is_stored(copies()[0].id)
    assert objects.get(places.incoming(id), 1) is None
