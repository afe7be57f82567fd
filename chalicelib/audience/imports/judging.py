"""What becomes of a row: the one code behind the dry run, the import and the report."""

from collections.abc import Sequence

from msgspec import Struct

from chalicelib.audience.imports import known
from chalicelib.audience.imports.known import Person
from chalicelib.audience.imports.model import Result
from chalicelib.audience.imports.people import People
from chalicelib.audience.imports.reading.model import Row, Status

_STATUS_REASONS = {
    Status.COMPLAINED: "Complained about an email",
    Status.LEFT: "Unsubscribed",
    Status.BOUNCED: "Bounced",
    Status.UNCONFIRMED: "The status does not say that they confirmed",
}
_DO_NOT_CONTACT = "Asked never to be contacted"
_LEFT_BEFORE = "Left or bounced before, here or according to an earlier file"
_UNSURE = "You were not sure whether they joined"
_ALREADY = "Already subscribed here, or asked to confirm"
_NOT_REACHED = "The import was cancelled before this row"
_DUPLICATE = "The same person as in another row"


class Verdict(Struct, frozen=True):
    """`status` is the most restrictive of all rows of the person; `person` is what is known here about them, None for
    a row that is not the first of theirs or has no address."""

    row: Row
    result: Result
    reason: str = ""
    status: Status = Status.MAILABLE
    person: Person | None = None
    weak_proof: bool = False

    @property
    def is_reported(self) -> bool:
        return self.result not in (Result.IMPORTED, Result.ASKED)


def judge(rows: Sequence[Row], people: People, outcome: Result, import_id: str) -> list[Verdict]:
    """`outcome` is what becomes of somebody mailable who is not known here. Those whom this very import added are
    judged as they were before it."""
    statuses: dict[int, Status] = {}
    for row in rows:
        if row.address and (standing := people.find(row)).is_first:
            statuses[row.number] = standing.status
    persons = known.look_up(row.address.key for row in rows if row.address and row.number in statuses)
    return [
        _judge_first(row, statuses[row.number], persons[row.address.key], people, outcome, import_id)
        if row.address and row.number in statuses
        else _judge_other(row)
        for row in rows
    ]


def not_reached(row: Row) -> Verdict:
    """Of an import that was cancelled."""
    return Verdict(row, Result.INVALID, _NOT_REACHED) if row.address else _judge_other(row)


def decide(status: Status, person: Person, outcome: Result, import_id: str = "") -> tuple[Result, str]:
    """The most restrictive reason counts. What an earlier file said does not hold for somebody who came back."""
    if person.suppressed or status is Status.COMPLAINED:
        return Result.SUPPRESSED, _STATUS_REASONS.get(status, _DO_NOT_CONTACT)
    if status in (Status.LEFT, Status.BOUNCED):
        return Result.LEFT_ELSEWHERE, _STATUS_REASONS[status]
    reader = person.subscriber
    if person.leaver_of and not (reader and reader.activated):
        return Result.LEFT_ELSEWHERE, _LEFT_BEFORE
    if status is Status.UNCONFIRMED:
        return Result.UNCONFIRMED, _STATUS_REASONS[status]
    if outcome is Result.UNCONFIRMED:
        return Result.UNCONFIRMED, _UNSURE
    is_own = reader is not None and import_id and reader.import_id == import_id
    if person.is_taken and not is_own:
        return Result.ALREADY, _ALREADY
    return outcome, ""


def _judge_first(
    row: Row, status: Status, person: Person, people: People, outcome: Result, import_id: str
) -> Verdict:
    result, reason = decide(status, person, outcome, import_id)
    weak = result is Result.IMPORTED and people.has_weak_proof(row)
    return Verdict(row, result, reason, status, person, weak)


def _judge_other(row: Row) -> Verdict:
    if row.address:
        return Verdict(row, Result.DUPLICATE, _DUPLICATE)
    return Verdict(row, Result.INVALID, row.problem or "")
