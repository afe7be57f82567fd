"""Pictures in DynamoDB. The rows do not expire by themselves: one that vanished would leave its file behind."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Update, Write
from chalicelib.media.model import Picture, PublicCopy, State

# What there is to do about a picture, from its `due_at` on.
UPLOAD, PREPARE, CLEAR, ERASE, FORGET = "upload", "prepare", "clear", "erase", "forget"

# When the time to attach ends, a transaction that attaches may still be under way, and so may an upload.
GRACE = timedelta(minutes=10)
# How long the queue retries by itself.
_RETRIED_FOR = timedelta(minutes=15)
# Longer than a worker that has not yet seen the deletion may go on writing.
_STILL_WRITING = timedelta(minutes=30)


class _DueIndex(GlobalSecondaryIndex["PictureRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    todo = UnicodeAttribute(hash_key=True)
    due_at = UnicodeAttribute(range_key=True)


class PictureRow(tables.Row):
    """`todo` and `due_at` are there only while something has to be done, which keeps the index small. Only `id` and
    `state` are sure to be there: a deletion also marks a row that is gone."""

    class Meta:
        table_name = tables.name("media")

    id = UnicodeAttribute(hash_key=True)
    owner = UnicodeAttribute(null=True)
    state = UnicodeAttribute()
    created_at = UnicodeAttribute(null=True)
    until = UnicodeAttribute(null=True)
    attached_at = UnicodeAttribute(null=True)
    fingerprint = UnicodeAttribute(null=True)
    format = UnicodeAttribute(null=True)
    size = NumberAttribute(null=True)
    width = NumberAttribute(null=True)
    height = NumberAttribute(null=True)
    uploaded_at = UnicodeAttribute(null=True)
    error = UnicodeAttribute(null=True)
    copy = UnicodeAttribute(null=True)
    todo = UnicodeAttribute(null=True)
    due_at = UnicodeAttribute(null=True)
    due = _DueIndex()


def find(id: str) -> Picture | None:
    row = tables.get(PictureRow, id)
    return _picture(row) if row else None


def find_many(ids: Iterable[str]) -> dict[str, Picture]:
    return {row.id: _picture(row) for row in tables.get_many(PictureRow, ids)}


def list_due(todo: str, now: datetime) -> Iterator[str]:
    """Ids, the longest due first. From the index, which lags: what is done about each must be conditional."""
    due = _DueIndex.due_at <= clock.text(now)
    for row in tables.query_index(PictureRow.due, todo, range_key_condition=due):
        yield row.id


def add(id: str, owner: str, now: datetime, until: datetime) -> None:
    row = PictureRow(id, owner=owner, state=State.WAITING, created_at=clock.text(now), until=clock.text(until))
    row.todo, row.due_at = UPLOAD, clock.text(until + GRACE)
    tables.put(row, PictureRow.id.does_not_exist())


def attach_write(picture: Picture, now: datetime) -> Write:
    """Fails if it is no longer waiting, or its time is over: the clean-up may then be removing its file."""
    actions = [
        PictureRow.state.set(State.PROCESSING),
        PictureRow.attached_at.set(clock.text(now)),
        PictureRow.fingerprint.set(picture.fingerprint or ""),
        *_due_actions(PREPARE, now + _RETRIED_FOR),
    ]
    waiting = (PictureRow.state == State.WAITING) & (PictureRow.owner == picture.owner)
    return Update(PictureRow(picture.id), actions, waiting & (PictureRow.until > clock.text(now)))


def delete_write(id: str, now: datetime) -> Write:
    """Without a condition: of a row that is gone it makes one that the clean-up removes again, with any file."""
    return Update(PictureRow(id), [PictureRow.state.set(State.DELETED), *_due_actions(ERASE, now)])


def mark_ready(picture: Picture, format: str, size: int, width: int, height: int, now: datetime) -> bool:
    """False if it is not being processed any more."""
    actions = [
        PictureRow.state.set(State.READY),
        PictureRow.format.set(format),
        PictureRow.size.set(size),
        PictureRow.width.set(width),
        PictureRow.height.set(height),
        PictureRow.uploaded_at.set(clock.text(now)),
        *_clear_actions(picture),
    ]
    return _settle(picture.id, actions)


def ready_write(picture: Picture, copy: PublicCopy, now: datetime) -> Write:
    """For a picture of the desk, which is served as this public copy. Fails if it is not being processed any more."""
    actions = [
        PictureRow.state.set(State.READY),
        PictureRow.copy.set(copy.name),
        PictureRow.uploaded_at.set(clock.text(now)),
        *_clear_actions(picture),
    ]
    return Update(PictureRow(picture.id), actions, PictureRow.state == State.PROCESSING)


def mark_refused(picture: Picture, error: str) -> bool:
    """False if it is not being processed any more."""
    actions = [PictureRow.state.set(State.REFUSED), PictureRow.error.set(error), *_clear_actions(picture)]
    return _settle(picture.id, actions)


def mark_cleared(id: str) -> None:
    """No upload of it is left, and none can come any more: nothing is due until it is deleted."""
    with suppress(Stale):
        tables.update(
            PictureRow(id), [PictureRow.todo.remove(), PictureRow.due_at.remove()], PictureRow.todo == CLEAR
        )


def postpone(id: str, now: datetime) -> None:
    """Give the queue time again before the clean-up looks at a picture that is not ready."""
    _settle(id, _due_actions(PREPARE, now + _RETRIED_FOR))


def mark_erased(id: str, now: datetime) -> None:
    """Its files are deleted; they are deleted once more before the row is."""
    due = _due_actions(FORGET, now + _STILL_WRITING)
    with suppress(Stale):
        tables.update(PictureRow(id), due, (PictureRow.state == State.DELETED) & (PictureRow.todo == ERASE))


def forget(id: str, state: State) -> None:
    """Remove the row, if it is still in this state."""
    with suppress(Stale):
        tables.delete(PictureRow(id), PictureRow.state == state)


def _settle(id: str, actions: list[Any]) -> bool:
    try:
        tables.update(PictureRow(id), actions, PictureRow.state == State.PROCESSING)
    except Stale:
        return False
    return True


def _due_actions(todo: str, due_at: datetime) -> list[Any]:
    return [PictureRow.todo.set(todo), PictureRow.due_at.set(clock.text(due_at))]


def _clear_actions(picture: Picture) -> list[Any]:
    """The form of an upload works until its time ends: whoever kept it can put a file there again."""
    return _due_actions(CLEAR, picture.until + GRACE)


def _picture(row: PictureRow) -> Picture:
    made = clock.parse(row.created_at) if row.created_at else clock.now()
    return Picture(
        id=row.id,
        owner=row.owner or "",
        state=State(row.state),
        created_at=made,
        until=clock.parse(row.until) if row.until else made,
        format=row.format,
        size=_number(row.size),
        width=_number(row.width),
        height=_number(row.height),
        uploaded_at=_moment(row.uploaded_at),
        error=row.error,
        fingerprint=row.fingerprint,
        attached_at=_moment(row.attached_at),
        copy=row.copy,
    )


def _number(value: float | None) -> int | None:
    return None if value is None else int(value)


def _moment(value: str | None) -> datetime | None:
    return clock.parse(value) if value else None
