"""Background work: slices of imports, and the hourly look for those that were forgotten."""

from collections.abc import Callable
from datetime import timedelta

from msgspec.structs import replace

from chalicelib.audience.imports import opened, running, store, undoing, uploads
from chalicelib.audience.imports.model import Import, State, Task
from chalicelib.events import outbox
from chalicelib.kernel import clock, log
from chalicelib.kernel.aws import queues, tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.errors import Invalid

KIND = "import"
# How long a message may take to come again by itself, with some room.
_LEASE = timedelta(minutes=15)
# Slices without a single row: each is a message that came back five times.
_MOST_TRIES = 12
_LOOKED_BACK = timedelta(days=35)
_GONE = "The file is deleted after a day. Upload it again"
_STUCK = "Something went wrong on our side, again and again. What was imported until then is there, and can be undone"

TimeLeft = Callable[[], bool]


def wake(import_id: str) -> None:
    """On the queue of what is read from elsewhere, which takes one message at a time."""
    queues.send("feed", {"kind": KIND, "import_id": import_id})


def work(import_id: str, time_left: TimeLeft) -> None:
    """One slice. The next is queued if there is more to do. Of two messages, the later one takes over."""
    found = store.find(import_id)
    if not found or not found.task:
        return
    try:
        found = store.change(replace(found, tries=found.tries + 1, lease_until=clock.now() + _LEASE))
        if found.tries > _MOST_TRIES:
            fail(found, _STUCK)
        elif not _go_on(found, time_left):
            wake(import_id)
    except (Stale, running.Overtaken):
        log.info("import.overtaken", import_id=import_id)


def sweep(time_left: TimeLeft) -> int:
    """Wake what nobody works on although there is something to do, and end what was never started. Files and reports
    are deleted after a day."""
    now, woken = clock.now(), 0
    for found in store.list_newest_first(since=now - _LOOKED_BACK):
        if not time_left():
            break
        if found.task and (found.lease_until is None or found.lease_until <= now):
            wake(found.id)
            woken += 1
        elif not found.task and found.has_file and found.file_until <= now:
            _end_unstarted(found)
        elif found.report_until and found.report_until <= now:
            _forget_report(found)
    return woken


def fail(found: Import, reason: str) -> None:
    """An import never stays as it is for ever. The reason is shown, so it repeats nothing of the file."""
    ended = replace(found, state=State.FAILED, task=None, error=reason, finished_at=clock.now())
    write, _ = store.change_write(ended)
    event = [running.finished_event_write(ended)] if ended.started_at else []
    tables.transact(write, *event)
    uploads.forget_file(found.id)
    outbox.relay_soon(found.id)
    log.warning("import.failed", import_id=found.id)


def _go_on(found: Import, time_left: TimeLeft) -> bool:
    if found.task is Task.UNDO:
        return undoing.go_on(found, time_left)
    try:
        return _go_through_file(found, time_left)
    except uploads.Gone:
        fail(store.find(found.id) or found, _GONE)
    except Invalid as failure:
        fail(store.find(found.id) or found, failure.reason)
    return True


def _go_through_file(found: Import, time_left: TimeLeft) -> bool:
    with opened.sheets(found) as sheets, opened.people(sheets) as people:
        if found.task is Task.READ:
            return _read(running.dry_run(found, sheets, people, time_left))
        with uploads.folder() as folder:
            return running.Run(found, sheets, people, folder).go_on(time_left)


def _read(found: Import) -> bool:
    is_done = found.done >= found.rows
    store.change(replace(found, state=State.READ, task=None) if is_done else found)
    return is_done


def _end_unstarted(found: Import) -> None:
    try:
        fail(found, _GONE)
    except Stale:
        return  # started a moment ago


def _forget_report(found: Import) -> None:
    uploads.forget_report(found)
    try:
        store.change(replace(found, parts=()))
    except Stale:
        return  # the next run does it
