"""The worker: whatever happens when, a picture ends in one state and no file is left that nobody knows of."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.kernel import clock, ids, sweeping
from chalicelib.kernel.aws import objects, queues, tables
from chalicelib.media import images, jobs, model, places, service, store
from chalicelib.media.model import State
from tests.conftest import received as messages
from tests.rooms.media.pictures import assert_bare, claiming, decode, encode, exif, grid
from tests.rooms.media.uploads import (
    OWNER,
    Died,
    attached,
    clearing,
    deleted,
    die,
    due,
    files,
    found,
    interrupted,
    received,
    state,
)

pytestmark = pytest.mark.usefixtures("media_bucket")

BROKEN = encode(grid())[:400]
# Preparing takes seven steps, erasing five: the last of these lets it come to its end.
_MOST_STEPS = 8


def forever() -> bool:
    return True


def later(monkeypatch: pytest.MonkeyPatch, **by: float) -> None:
    moment = clock.now() + timedelta(**by)
    monkeypatch.setattr(clock, "now", lambda: moment)


def erased(id: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """After the second pass of the clean-up."""
    for _ in range(2):
        later(monkeypatch, minutes=31)
        jobs.clean_up(forever)
    return state(id) is None and files(id) == (False, False)


def test_what_is_served_is_not_what_was_uploaded() -> None:
    id = attached(encode(grid(), exif=exif(6)))
    jobs.handle({"kind": "prepare", "id": id})
    assert (state(id), files(id), due(id)) == (State.READY, (False, True), clearing(id))
    photo = objects.get(places.photo(id), model.LARGEST)
    assert photo is not None
    assert_bare(photo.content, "image/jpeg")


def test_lists_have_a_small_copy() -> None:
    id = attached(encode(grid(cell=500), exif=exif(6)))
    jobs.prepare(id)
    photo, small = (objects.get(place(id), model.LARGEST) for place in (places.photo, places.small))
    assert photo is not None
    assert small is not None
    assert_bare(small.content, "image/jpeg")
    assert (decode(photo.content).size, decode(small.content).size) == ((1000, 1500), (427, 640))
    link = service.sign(found(id), small=True)
    assert link is not None
    assert f"/{places.small(id)}?" in link
    assert places.small(id) == f"{places.photo(id)}-small"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (BROKEN, "The photo could not be read"),
        (claiming("PNG", 20_000, 20_000), "The photo has too many pixels"),
    ],
)
def test_what_cannot_be_decoded_is_refused_with_its_reason(content: bytes, error: str) -> None:
    id = attached(content)
    jobs.prepare(id)
    assert (state(id), found(id).error, files(id), due(id)) == (State.REFUSED, error, (False, False), clearing(id))
    jobs.prepare(id)
    assert state(id) is State.REFUSED


def test_bytes_that_were_exchanged_after_the_check_are_not_prepared() -> None:
    """The upload's form works for ten minutes, also after attaching."""
    id = attached()
    objects.put(places.incoming(id), encode(grid(), "PNG"), "image/jpeg")
    jobs.prepare(id)
    assert (state(id), found(id).error) == (State.REFUSED, "The photo could not be prepared")
    again = attached()
    objects.put(places.incoming(again), encode(grid()), "image/jpeg")  # the same once more, as browsers retry
    jobs.prepare(again)
    assert state(again) is State.READY


def test_an_upload_that_vanished_is_refused() -> None:
    id = attached()
    objects.delete(places.incoming(id))
    jobs.prepare(id)
    assert (state(id), found(id).error) == (State.REFUSED, "The photo could not be prepared")


def test_what_is_not_attached_is_not_prepared() -> None:
    id = received()
    jobs.prepare(id)
    assert (state(id), files(id)) == (State.WAITING, (True, False))


def test_files_of_a_picture_that_nobody_knows_are_removed() -> None:
    id = ids.new()
    objects.put(places.incoming(id), b"x", "image/png")
    objects.put(places.photo(id), b"x", "image/png")
    jobs.prepare(id)
    assert files(id) == (False, False)
    objects.put(places.photo(id), b"x", "image/png")
    jobs.erase(id)
    assert files(id) == (False, False)
    assert state(id) is None


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(_MOST_STEPS))
@pytest.mark.parametrize("content", [None, BROKEN])
def test_a_worker_that_dies_is_made_up_for_by_the_next(step: int, after: bool, content: bytes | None) -> None:
    id = attached(content)
    with interrupted(step, die, after):
        try:
            jobs.prepare(id)
        except Died:
            assert due(id) is not None
    jobs.prepare(id)
    expected = (State.REFUSED, (False, False)) if content else (State.READY, (False, True))
    assert (state(id), files(id), due(id)) == (*expected, clearing(id))


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(_MOST_STEPS))
@pytest.mark.parametrize("content", [None, BROKEN])
def test_a_deletion_at_any_moment_of_the_work_leaves_nothing(
    step: int, after: bool, content: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = attached(content)

    def delete_and_erase() -> None:
        deleted(id)
        jobs.erase(id)

    with interrupted(step, delete_and_erase, after) as taken:
        jobs.prepare(id)
    if len(taken) <= step:
        delete_and_erase()
    assert (state(id), files(id)) == (State.DELETED, (False, False))
    assert erased(id, monkeypatch)


def test_a_deletion_during_the_work_of_a_worker_that_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message may never come again: the second pass of the clean-up finds what was written too late."""
    id = attached()
    real = objects.put

    def put_too_late(*given: Any) -> None:
        deleted(id)
        jobs.erase(id)
        real(*given)
        raise Died

    monkeypatch.setattr(objects, "put", put_too_late)
    with pytest.raises(Died):
        jobs.prepare(id)
    monkeypatch.setattr(objects, "put", real)
    assert files(id)[1], "written after the files were erased"
    assert erased(id, monkeypatch)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(_MOST_STEPS))
@pytest.mark.parametrize("prepared", [False, True])
def test_erasing_that_dies_anywhere_is_made_up_for(
    step: int, after: bool, prepared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = attached()
    if prepared:
        jobs.prepare(id)
    deleted(id)
    with interrupted(step, die, after):
        try:
            jobs.erase(id)
        except Died:
            assert due(id) is not None
    jobs.clean_up(forever)  # within the hour, also if the message is lost
    assert files(id) == (False, False)
    assert erased(id, monkeypatch)


@pytest.mark.parametrize("step", range(_MOST_STEPS))
def test_a_twin_at_any_moment_changes_nothing(step: int) -> None:
    for content, expected in ((None, (State.READY, (False, True))), (BROKEN, (State.REFUSED, (False, False)))):
        id = attached(content)
        with interrupted(step, lambda id=id: jobs.prepare(id)):  # type: ignore[misc]
            jobs.prepare(id)
        assert (state(id), files(id)) == expected


def test_what_is_not_deleted_is_not_erased() -> None:
    id = attached()
    jobs.prepare(id)
    jobs.handle({"kind": "erase", "id": id})
    assert (state(id), files(id)) == (State.READY, (False, True))


@pytest.mark.parametrize("prepared", [False, True])
def test_deleted_is_for_ever(prepared: bool) -> None:
    id = attached()
    if prepared:
        jobs.prepare(id)
    deleted(id)
    jobs.prepare(id)
    assert (state(id), files(id)) == (State.DELETED, (False, False))
    deleted(id)
    jobs.erase(id)
    assert state(id) is State.DELETED


def test_deleting_a_picture_that_is_gone_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    id = deleted(ids.new())
    assert found(id).state is State.DELETED
    jobs.erase(id)
    assert erased(id, monkeypatch)


def test_an_upload_that_was_never_attached_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    id, never_came = received(), service.announce(OWNER, "image/png", 5).id
    later(monkeypatch, minutes=19)
    jobs.clean_up(forever)
    assert (state(id), files(id)) == (State.WAITING, (True, False))
    later(monkeypatch, minutes=2)
    jobs.clean_up(forever)
    assert (state(id), files(id), state(never_came)) == (None, (False, False), None)


def test_the_clean_up_believes_the_table_and_not_its_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which may say of an attached picture that it was never attached."""
    id = attached()
    monkeypatch.setattr(store, "list_due", lambda todo, now: [id])
    jobs._abandon(id)
    jobs.erase(id)
    assert (state(id), files(id)) == (State.PROCESSING, (True, False))
    jobs.prepare(id)
    jobs._prepare_again(id)
    jobs._abandon(id)
    assert (state(id), files(id)) == (State.READY, (False, True))
    assert messages("media") == []


def test_what_the_queue_gave_up_on_is_queued_again_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    id = attached()
    jobs.clean_up(forever)
    assert messages("media") == []
    for _ in range(3):
        later(monkeypatch, minutes=16)
        jobs.clean_up(forever)
        jobs.clean_up(forever)  # at the same time
        assert messages("media") == [{"kind": "prepare", "id": id}]
    later(monkeypatch, days=1)
    jobs.clean_up(forever)
    assert (state(id), found(id).error) == (State.REFUSED, "The photo could not be prepared")
    assert (files(id), messages("media")) == ((False, False), [])
    jobs.clean_up(forever)
    assert due(id) is None


@pytest.mark.parametrize(("content", "state_of_it"), [(None, State.READY), (BROKEN, State.REFUSED)])
def test_an_original_that_is_uploaded_again_is_removed_once_no_more_can_come(
    content: bytes | None, state_of_it: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The upload's form works for ten minutes. What a camera writes into a file must not stay in the bucket."""
    id = attached(content)
    jobs.prepare(id)
    objects.put(places.incoming(id), encode(grid(), exif=exif(6)), "image/jpeg")
    later(monkeypatch, minutes=19)
    jobs.clean_up(forever)
    assert (files(id)[0], due(id)) == (True, clearing(id))
    later(monkeypatch, minutes=2)
    jobs.clean_up(forever)
    assert (state(id), files(id), due(id)) == (state_of_it, (False, content is None), None)
    deleted(id)
    jobs.clean_up(forever)
    assert erased(id, monkeypatch)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(4))
def test_clearing_that_dies_or_meets_a_deletion_is_made_up_for(
    step: int, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed, gone = attached(), attached()
    for id in (killed, gone):
        jobs.prepare(id)
        objects.put(places.incoming(id), b"again", "image/jpeg")
    with interrupted(step, die, after), suppress(Died):
        jobs._clear(killed)
    with interrupted(step, lambda: deleted(gone), after):
        jobs._clear(gone)
    later(monkeypatch, minutes=21)
    jobs.clean_up(forever)
    assert (state(killed), files(killed), due(killed)) == (State.READY, (False, True), None)
    if state(gone) is State.DELETED:
        assert files(gone) == (False, False)
        assert erased(gone, monkeypatch)
    else:
        assert step == 3, "it takes three steps"


def test_one_picture_that_cannot_be_cleaned_up_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, upload, ready, gone = received(), received(), attached(), deleted(attached())
    jobs.prepare(ready)
    real = objects.delete
    monkeypatch.setattr(objects, "delete", lambda place: 1 / 0 if place == places.incoming(bad) else real(place))
    later(monkeypatch, minutes=21)
    capsys.readouterr()
    with pytest.raises(sweeping.Unfinished):
        jobs.clean_up(forever)
    assert (state(bad), state(upload), due(ready), files(gone)) == (State.WAITING, None, None, (False, False))
    logged = capsys.readouterr().out
    assert logged.count("media.not_cleaned_up") == 1
    assert bad in logged
    assert '"media.cleaned_up"' in logged
    monkeypatch.setattr(objects, "delete", real)
    jobs.clean_up(forever)
    assert state(bad) is None


def test_the_clean_up_stops_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [deleted(attached()) for _ in range(3)]
    turns = iter([True, False, False, False, False])
    jobs.clean_up(lambda: next(turns))
    assert sorted(due(id)[0] for id in kept) == ["erase", "erase", "forget"]  # type: ignore[index]


def test_a_defect_is_logged_and_the_message_comes_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    id = attached()
    monkeypatch.setattr(images, "remake", lambda content: 1 / 0)
    event = {"Records": [{"messageId": "m", "body": f'{{"kind": "prepare", "id": "{id}"}}'}]}
    assert queues.consume(event, jobs.handle) == {"batchItemFailures": [{"itemIdentifier": "m"}]}
    assert '"kind": "ZeroDivisionError"' in capsys.readouterr().out
    assert state(id) is State.PROCESSING


def test_no_link_and_no_owner_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    for content in (None, BROKEN):
        id = attached(content)
        jobs.prepare(id)
        service.sign(found(id))
        tables.transact(service.delete_write(id))
        jobs.erase(id)
    jobs.clean_up(forever)
    logged = capsys.readouterr().out
    assert OWNER not in logged
    assert "X-Amz" not in logged
