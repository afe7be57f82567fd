"""The words and rules of imports: their states, the eight results, and what the owner says about consent.

    waiting ──read──▶ read ──start──▶ running ──▶ done ──undo──▶ undone
       └────────────────┴── cancel ──────┴──▶ cancelled ──undo──▶ undone       any ──▶ failed

An import is one row with a version. Whoever changes it does so over the version that was read, so of two workers one
goes on, and a worker whose import was cancelled finds out with its next group of rows.
"""

from datetime import date, datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from chalicelib.audience import model as audience
from chalicelib.audience.imports.reading.model import Status, Wanted
from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid

MOST_IN_BODY = 4 * 1024 * 1024
MOST_BYTES = 100 * 1024 * 1024
MOST_ROWS = 500_000
LONGEST_STATEMENT = 500
FILE_KEPT = timedelta(days=1)
UNDO_FOR = timedelta(days=30)
KEPT = timedelta(days=730)
CONTENT_TYPES = ("text/csv", "application/zip")
DEFAULT_SOURCE = "import"
# Somebody who signed up elsewhere and was mailed within this time is expected to remember it.
_STILL_REMEMBERED = timedelta(days=366)
_OLDEST = date(1990, 1, 1)


class State(StrEnum):
    WAITING = "waiting"
    READ = "read"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    UNDONE = "undone"


class Task(StrEnum):
    """What a worker has to do. The state says what has been done."""

    READ = "read"
    IMPORT = "import"
    CLOSE = "close"
    UNDO = "undo"


class Result(StrEnum):
    """What becomes of a row. Each row has one of these."""

    IMPORTED = "imported"
    ASKED = "asked"
    ALREADY = "already"
    DUPLICATE = "duplicate"
    INVALID = "invalid"
    UNCONFIRMED = "unconfirmed"
    LEFT_ELSEWHERE = "left_elsewhere"
    SUPPRESSED = "suppressed"


class Joined(StrEnum):
    """How people got onto the list: confirmed by link, by signing up alone, or the owner does not know."""

    DOUBLE = "double"
    SINGLE = "single"
    UNSURE = "unsure"


Counts = dict[str, int]


def no_counts() -> Counts:
    return {str(result): 0 for result in Result}


class Consent(Struct, frozen=True):
    joined: Joined
    statement: str
    last_mailed: date | None = None

    def outcome(self, today: date) -> Result:
        """What becomes of somebody who may be mailed, according to the file, and is not known here."""
        if self.joined is Joined.UNSURE:
            return Result.UNCONFIRMED
        recently = self.last_mailed is not None and today - self.last_mailed <= _STILL_REMEMBERED
        return Result.IMPORTED if self.joined is Joined.DOUBLE or recently else Result.ASKED


class Columns(Struct, frozen=True):
    """What was recognised, as it is shown."""

    format: str
    delimiter: str
    encoding: str
    header: bool
    columns: tuple[str, ...]
    mapping: dict[str, int]
    date_format: str | None = None
    ignored: tuple[str, ...] = ()


class Import(Struct, frozen=True):
    """`done` rows have a result, and `counts` adds up to it; `reported` of them are in the report. `outcome` is what
    `consent` meant on the day it was given."""

    id: str
    state: State
    content_type: str
    created_at: datetime
    version: int = 1
    task: Task | None = None
    size: int = 0
    name: str = ""
    rows: int = 0
    done: int = 0
    counts: Counts = {}
    weak_proof: int = 0
    repaired: int = 0
    wanted: Wanted = Wanted()
    exported_on: date | None = None
    consent: Consent | None = None
    outcome: Result = Result.IMPORTED
    source: str = DEFAULT_SOURCE
    tags: tuple[str, ...] = ()
    error: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    reported: int = 0
    parts: tuple[int, ...] = ()
    removed: int = 0
    tries: int = 0
    lease_until: datetime | None = None

    @property
    def has_file(self) -> bool:
        return self.state in (State.WAITING, State.READ, State.RUNNING) or self.task is Task.CLOSE

    @property
    def file_until(self) -> datetime:
        """A file is kept for a day, but not taken away from an import that is running."""
        return self.created_at + FILE_KEPT

    @property
    def report_until(self) -> datetime | None:
        return self.finished_at + FILE_KEPT if self.finished_at and self.parts else None

    @property
    def undo_until(self) -> datetime | None:
        return self.finished_at + UNDO_FOR if self.finished_at and self.started_at else None

    @property
    def undoing(self) -> bool:
        return self.task is Task.UNDO

    def may_undo(self, now: datetime) -> bool:
        over = self.state in (State.DONE, State.CANCELLED, State.FAILED)
        return over and self.undo_until is not None and now < self.undo_until


def check_statement(text: str) -> str:
    statement = text.strip()
    if not statement:
        raise Invalid("statement is required: say in your own words how these people joined")
    if len(statement) > LONGEST_STATEMENT:
        raise Invalid(f"statement must be at most {LONGEST_STATEMENT} characters")
    return statement


def check_day(name: str, text: str | None) -> date | None:
    """A day in the past, or today anywhere in the world."""
    if text is None or text == "":
        return None
    try:
        day = date.fromisoformat(text) if len(text) == len("YYYY-MM-DD") else None
    except ValueError:
        day = None
    if day is None or day < _OLDEST:
        raise Invalid(f"{name} must be a date such as 2026-11-18")
    if day > (clock.now() + timedelta(days=1)).date():
        raise Invalid(f"{name} must not be in the future")
    return day


def check_capture(source: str | None, tags: list[str] | None) -> tuple[str, tuple[str, ...]]:
    """The source as the owner wrote it, and the tags in their normal form."""
    capture = audience.parse_capture(source or DEFAULT_SOURCE, tags, None, None)
    return capture.source_raw, tuple(sorted(capture.tags))


STATUSES = {status.name.lower(): status for status in Status}
