"""The worker's part: reading, importing and closing, row after row, in slices.

People are worked off in groups, each in one transaction with the import's own row, which counts them and says how
far it is. So a group is either done and counted, or neither: a worker may be killed anywhere, or meet its twin, and
no row is repeated or lost. A worker that finds the import's row changed stops; one that finds a person changed (they
signed up, left, or asked never to be contacted at that moment) reads and judges again.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from chalicelib.audience import counts, held
from chalicelib.audience.imports import adding, judging, store, tallying, uploads
from chalicelib.audience.imports.adding import Changes, Terms
from chalicelib.audience.imports.judging import Verdict
from chalicelib.audience.imports.model import Import, Result, State, Task
from chalicelib.audience.imports.opened import Sheets
from chalicelib.audience.imports.people import People
from chalicelib.audience.imports.reading.model import Row
from chalicelib.audience.imports.reports import Part
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Unavailable

# Rows that are judged together, and read about in one go.
_JUDGED = 300
# A transaction takes a hundred writes; the import's row, whom it added and the day's count are three of them.
_MOST_WRITES = 96
_ATTEMPTS = 5

TimeLeft = Callable[[], bool]


class Overtaken(Exception):
    """Somebody else is at work on this import, or has cancelled it."""


def dry_run(found: Import, sheets: Sheets, people: People, time_left: TimeLeft) -> Import:
    """Count as if everybody had confirmed; as far as there is time. Nothing is written."""
    found = replace(found, rows=people.rows)
    for rows in _batches(sheets.rows(found.done), _JUDGED):
        found = tallying.with_verdicts(found, judging.judge(rows, people, Result.IMPORTED, ""))
        if not time_left():
            break
    return found


def report(found: Import, sheets: Sheets, people: People) -> Iterator[Verdict]:
    """What would become of every row now."""
    for rows in _batches(sheets.rows(), _JUDGED):
        yield from judging.judge(rows, people, found.outcome, "")


class Run:
    """One slice of an import that is running, or its closing."""

    def __init__(self, found: Import, sheets: Sheets, people: People, folder: Path) -> None:
        assert found.consent
        self.found = replace(found, rows=people.rows)
        self._sheets, self._people = sheets, people
        self._terms = Terms(found.id, found.consent, found.source, found.tags)
        self._part = Part(folder, found.reported)
        self._has_woken = False

    def go_on(self, time_left: TimeLeft) -> bool:
        """False if there is more to do than time. What the report lacks, because a worker died, comes first."""
        try:
            self._catch_up()
            if self.found.task is Task.CLOSE:
                self._give_up_rest()
                self._finish(State.CANCELLED)
                return True
            for rows in _batches(self._sheets.rows(self.found.done), _JUDGED):
                self._settle(rows)
                if not time_left():
                    break
            if self.found.done < self.found.rows:
                self._keep_part()
                return False
            self._finish(State.DONE)
            return True
        finally:
            self._part.close()

    def _catch_up(self) -> None:
        missing = islice(self._sheets.rows(self.found.reported), self.found.done - self.found.reported)
        for rows in _batches(missing, _JUDGED):
            self._part.add(judging.judge(rows, self._people, self.found.outcome, self.found.id))

    def _give_up_rest(self) -> None:
        for rows in _batches(self._sheets.rows(self.found.done), _JUDGED):
            self._part.add(judging.not_reached(row) for row in rows)

    def _settle(self, rows: Sequence[Row], attempt: int = 0) -> None:
        """Judge and write. What fails is judged again, and person by person."""
        verdicts = judging.judge(rows, self._people, self.found.outcome, "")
        for group in self._groups(verdicts, 1 if attempt else _MOST_WRITES):
            try:
                self._commit(group)
            except Stale as stale:
                self._check_owner()
                if attempt >= _ATTEMPTS:
                    raise Unavailable from stale
                self._settle([verdict.row for verdict, _ in group], attempt + 1)

    def _groups(self, verdicts: Sequence[Verdict], most: int) -> Iterator[list[tuple[Verdict, Changes]]]:
        now = clock.now()
        group: list[tuple[Verdict, Changes]] = []
        size = 0
        for verdict in verdicts:
            changes = adding.changes_for(verdict, self._terms, now)
            writes = len(changes.writes) + changes.moves
            if group and size + writes > most:
                yield group
                group, size = [], 0
            group.append((verdict, changes))
            size += writes
        if group:
            yield group

    def _commit(self, group: Sequence[tuple[Verdict, Changes]]) -> None:
        verdicts = [verdict for verdict, _ in group]
        progress, changed = store.change_write(tallying.with_verdicts(self.found, verdicts))
        tables.transact(progress, *self._group_writes([changes for _, changes in group]))
        self.found = changed
        self._part.add(verdicts)
        if not self._has_woken and any(verdict.result is Result.ASKED for verdict in verdicts):
            held.release_soon()
            self._has_woken = True

    def _group_writes(self, changes: Sequence[Changes]) -> list[Write]:
        writes = [write for each in changes for write in each.writes]
        added = [each.subscriber for each in changes if each.subscriber]
        marks = [each.mark for each in changes if each.mark]
        joined = [subscriber for subscriber in added if subscriber.activated]
        left = [each.removed for each in changes if each.removed and each.removed.activated]
        if added or marks:
            writes.append(store.added_write(self.found, [subscriber.id for subscriber in added], marks))
        return [*writes, *counts.move_writes(clock.now(), joined, left)]

    def _check_owner(self) -> None:
        now = store.find(self.found.id)
        if not now or now.version != self.found.version:
            raise Overtaken

    def _keep_part(self) -> None:
        self._part.keep(self.found.id)
        try:
            self.found = store.change(self._with_part(self.found))
        except Stale as stale:
            raise Overtaken from stale

    def _finish(self, state: State) -> None:
        """The report first, then the state and the event together, and the file last: whoever repeats this finds
        what is needed for it."""
        self._part.keep(self.found.id)
        ended = replace(self._with_part(self.found), state=state, task=None, finished_at=clock.now())
        write, changed = store.change_write(ended)
        try:
            tables.transact(write, finished_event_write(ended))
        except Stale as stale:
            raise Overtaken from stale
        self.found = changed
        uploads.forget_file(self.found.id)
        outbox.relay_soon(self.found.id)

    def _with_part(self, found: Import) -> Import:
        return replace(found, reported=found.done, parts=tuple(sorted({*found.parts, self._part.start})))


def finished_event_write(found: Import) -> Write:
    payload: dict[str, str | int | None] = {"import_id": found.id, "state": str(found.state), "rows": found.rows}
    payload |= found.counts
    return outbox.event_write(EventType.IMPORT_FINISHED, found.id, payload)


def _batches(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    while batch := list(islice(rows, size)):
        yield batch
