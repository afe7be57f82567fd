"""What editors do with imports: bring a file, see what would become of it, start, follow, cancel and undo it."""

from collections.abc import Iterator
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.audience import counts as audience_counts
from chalicelib.audience.imports import jobs, model, opened, reports, running, store, undoing, uploads
from chalicelib.audience.imports.model import Columns, Consent, Import, State, Task
from chalicelib.audience.imports.opened import Sheets
from chalicelib.audience.imports.reading.model import Row, Wanted
from chalicelib.kernel import clock, deadlines, ids, limits
from chalicelib.kernel.aws.failures import Stale, retry_stale
from chalicelib.kernel.errors import Conflict, Invalid, NotFound, TooLarge

# API Gateway hangs up after 29 seconds.
_SECONDS = 15.0
_A_HOUR, _HOUR = 60, 3600
_MOST_LISTED = 100
_EMPTY = "The file is empty"
_NOT_UPLOADED = "The file has not been uploaded, or was deleted after a day"
_NOT_READ = "The file has not been read yet"
_ONLY_ONCE = "Only an import that was read can be started, and only once"
_CHANGED = "The import has changed: reload and try again"


class Shown(Struct, frozen=True):
    """An import with what was recognised in its file, its first rows as they are read (while there is a file), and
    how many left here since it was exported."""

    found: Import
    columns: Columns | None = None
    preview: tuple[Row, ...] = ()
    left_since: int | None = None
    upload: tuple[str, dict[str, str]] | None = None


class Start(Struct, frozen=True):
    """What the owner decides before anybody is imported. `wanted` replaces how the file was read, if it is given."""

    consent: Consent
    source: str = model.DEFAULT_SOURCE
    tags: tuple[str, ...] = ()
    wanted: Wanted | None = None
    exported_on: date | None = None


def announce(size: int, content_type: str, name: str = "") -> Shown:
    """For a file too large for a request: where to post it. `read` then reads it."""
    _check_type(content_type)
    if size < 1:
        raise Invalid("size must be the size of the file in bytes")
    if size > model.MOST_BYTES:
        raise TooLarge(f"A file may have at most {model.MOST_BYTES // 2**20} MB")
    _spend()
    found = _new(content_type, size, name)
    signed = uploads.sign(found)
    store.create(found)
    return Shown(found, upload=signed)


def create(content: bytes, content_type: str, name: str = "") -> Shown:
    """From a file that was sent as it is: read it, and try what would become of every row. Its state is `waiting` if
    the worker has to go on with that."""
    _check_type(content_type)
    if not content:
        raise Invalid(_EMPTY)
    if len(content) > model.MOST_IN_BODY:
        raise TooLarge("Files of more than 4 MB are uploaded in another way: send their size as JSON")
    _spend()
    found = _new(content_type, len(content), name)
    with uploads.folder() as folder:
        path = folder / "file"
        path.write_bytes(content)
        sheets = opened.recognise(path, content_type, name, found.wanted)
        found, shown = _try(found, sheets)
        uploads.keep(found.id, content, content_type)
        store.keep_columns(found.id, sheets.columns())
        store.create(found)
    if found.task:
        jobs.wake(found.id)
    return shown


def read(import_id: str, wanted: Wanted | None = None, exported_on: date | None = None) -> Shown:
    """Of an upload that has arrived, or once more in another way: the dry run begins anew."""
    found = _find(import_id)
    if found.state not in (State.WAITING, State.READ):
        raise Conflict("Only an import that has not been started can be read")
    found = replace(found, wanted=wanted or found.wanted, exported_on=exported_on or found.exported_on)
    try:
        with opened.sheets(found) as sheets:
            changed, shown = _try(found, sheets)
            changed = _change(changed)
            store.keep_columns(found.id, sheets.columns())
    except uploads.Gone:
        raise Conflict(_NOT_UPLOADED) from None
    if changed.task:
        jobs.wake(changed.id)
    return replace(shown, found=changed)


def count_left(import_id: str, exported_on: date | None) -> Shown:
    """How many left since that day, which is kept. Nothing is read again for it."""
    found = _find(import_id)
    if found.state is not State.READ:
        raise Conflict("Only an import that was read, and has not been started, can be asked about")
    _change(replace(found, exported_on=exported_on))
    return view(import_id)


def start(import_id: str, given: Start) -> Shown:
    """The counts begin anew, this time of what is done."""
    found = _find(import_id)
    if found.state is not State.READ:
        raise Conflict(_NOT_READ if found.state is State.WAITING else _ONLY_ONCE)
    wanted = _merge(found.wanted, given.wanted)
    if wanted != found.wanted:
        _check_readable(replace(found, wanted=wanted))
    now = clock.now()
    started = replace(
        found,
        state=State.RUNNING,
        task=Task.IMPORT,
        wanted=wanted,
        consent=given.consent,
        outcome=given.consent.outcome(now.date()),
        source=given.source,
        tags=given.tags,
        exported_on=given.exported_on or found.exported_on,
        started_at=now,
        done=0,
        counts=model.no_counts(),
        weak_proof=0,
        repaired=0,
    )
    started = _change(started)
    jobs.wake(started.id)
    return Shown(started, store.find_columns(started.id), left_since=_left_since(started))


def view(import_id: str) -> Shown:
    """With the first rows, read from the file each time: nothing of them is kept elsewhere."""
    found = _find(import_id)
    columns = store.find_columns(import_id)
    return Shown(found, columns, _preview(found), _left_since(found))


def list_imports(most: int = _MOST_LISTED) -> list[Import]:
    """Newest first."""
    return list(store.list_newest_first(most=most))


def cancel(import_id: str) -> Import:
    """Stops where it is. Cancelling twice changes nothing."""
    return retry_stale(lambda: _cancel(import_id))


def undo(import_id: str) -> Import:
    """Within 30 days: remove those it added who have done nothing since. What does not fit into a request is done by
    the worker; asking twice changes nothing."""
    found = retry_stale(lambda: _begin_undo(import_id))
    if found.task is Task.UNDO:
        try:
            if not undoing.go_on(found, deadlines.seconds_left(_SECONDS)):
                jobs.wake(import_id)
        except Stale:
            jobs.wake(import_id)  # a worker is at it, or somebody moved
    return _find(import_id)


def report(import_id: str) -> Iterator[str]:
    """Every row that was not imported or, before the start, would not be; as CSV, in parts."""
    found = _find(import_id)
    if found.state is State.READ:
        return _report_now(found)
    if found.has_file:
        raise Conflict("The report is made when the import has ended")
    parts = reports.read(found) if found.parts else None
    if parts is None:
        raise NotFound("There is no report: it is deleted a day after the import ended, because it names people")
    return parts


def _new(content_type: str, size: int, name: str) -> Import:
    counts = model.no_counts()
    return Import(ids.new(), State.WAITING, content_type, clock.now(), size=size, name=name, counts=counts)


def _try(found: Import, sheets: Sheets) -> tuple[Import, Shown]:
    """A dry run, as far as there is time for it in a request; of a large file, nothing but what is recognised."""
    time_left = deadlines.seconds_left(_SECONDS)
    begun = replace(found, done=0, counts=model.no_counts(), weak_proof=0, repaired=0, error=None)
    if sheets.is_large:
        tried, is_done = replace(begun, rows=0), False
    else:
        with opened.people(sheets) as people:
            tried = running.dry_run(begun, sheets, people, time_left)
        is_done = tried.done >= tried.rows
    tried = replace(
        tried, state=State.READ if is_done else State.WAITING, task=None if is_done else Task.READ, tries=0
    )
    return tried, Shown(tried, sheets.columns(), tuple(sheets.preview()), _left_since(tried))


def _report_now(found: Import) -> Iterator[str]:
    """While the file is open."""
    try:
        with opened.sheets(found) as sheets:
            if sheets.is_large:
                raise Conflict("The file is large: its report is made when the import has ended")
            with opened.people(sheets) as people:
                yield from reports.write(running.report(found, sheets, people))
    except uploads.Gone:
        raise NotFound(_NOT_UPLOADED) from None


def _cancel(import_id: str) -> Import:
    found = _find(import_id)
    if found.state is State.CANCELLED:
        return found
    if found.state not in (State.WAITING, State.READ, State.RUNNING):
        raise Conflict("This import has ended: it cannot be cancelled any more")
    was_running = found.state is State.RUNNING
    ended = replace(
        found, state=State.CANCELLED, task=Task.CLOSE if was_running else None, finished_at=clock.now(), tries=0
    )
    changed = store.change(ended)
    if was_running:
        jobs.wake(import_id)  # the report of what was not reached
    else:
        uploads.forget_file(import_id)
    return changed


def _begin_undo(import_id: str) -> Import:
    found = _find(import_id)
    if found.state is State.UNDONE or found.undoing:
        return found
    if found.task is Task.CLOSE:
        raise Conflict("The import is being cancelled: try again in a minute")
    if not found.may_undo(clock.now()):
        raise Conflict("Only an import that ended within the last 30 days can be undone")
    return store.change(replace(found, task=Task.UNDO, tries=0))


def _preview(found: Import) -> tuple[Row, ...]:
    if found.state is not State.READ:
        return ()
    try:
        with opened.sheets(found) as sheets:
            return tuple(sheets.preview())
    except uploads.Gone:
        return ()


def _left_since(found: Import) -> int | None:
    return audience_counts.left_since(found.exported_on) if found.exported_on else None


def _check_readable(found: Import) -> None:
    try:
        with opened.sheets(found) as sheets:
            store.keep_columns(found.id, sheets.columns())
    except uploads.Gone:
        raise Conflict(_NOT_UPLOADED) from None


def _merge(before: Wanted, given: Wanted | None) -> Wanted:
    """What is given replaces what was wanted before, one by one."""
    if given is None:
        return before
    chosen = {name: value for name in given.__struct_fields__ if (value := getattr(given, name)) is not None}
    return replace(before, **chosen)


def _change(found: Import) -> Import:
    try:
        return store.change(found)
    except Stale:
        raise Conflict(_CHANGED) from None


def _find(import_id: str) -> Import:
    found = store.find(import_id) if ids.is_id(import_id) else None
    if not found:
        raise NotFound("No such import")
    return found


def _check_type(content_type: str) -> None:
    if content_type not in model.CONTENT_TYPES:
        raise Invalid(f"content_type must be one of: {', '.join(model.CONTENT_TYPES)}")


def _spend() -> None:
    limits.spend("imports", "all", _A_HOUR, _HOUR, f"At most {_A_HOUR} imports an hour")
