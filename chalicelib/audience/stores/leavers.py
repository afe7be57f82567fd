"""Who must not come back by an import: keyed hashes of addresses that left or bounced elsewhere and, if the operator
wants it, of those who left here. Only imports read them; whoever signs up by themselves is not kept from it."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.aws.tables import Check, Put, Update, Write

KEPT = timedelta(days=730)
HERE = "here"
# Of the imports that said the same of somebody: enough for every file anybody has.
_MOST_NAMED = 50


class LeaverRow(tables.Row):
    """`import_id` names the imports whose files said so, with commas between them, or is `HERE`."""

    class Meta:
        table_name = tables.name("leavers")

    mark = UnicodeAttribute(hash_key=True)
    import_id = UnicodeAttribute()
    expires_at = NumberAttribute()


def list_known(marks: Iterable[str]) -> list[LeaverRow]:
    return tables.get_many(LeaverRow, marks)


def check_absent_write(mark: str) -> Write:
    """Nobody has been remembered under it since it was looked up."""
    return Check(LeaverRow(mark), LeaverRow.mark.does_not_exist())


def needs(before: str | None, import_id: str) -> bool:
    """Whether it has yet to be remembered that this import said so, too."""
    said = (before or "").split(",")
    return before != HERE and import_id not in said and len(said) < _MOST_NAMED


def remember_write(mark: str, before: str | None, import_id: str, now: datetime) -> Write:
    """Beside those who said so `before`: taking one import back must not forget what others said."""
    expires_at = clock.epoch(now + KEPT)
    if before is None:
        return Put(LeaverRow(mark, import_id=import_id, expires_at=expires_at), LeaverRow.mark.does_not_exist())
    actions = [LeaverRow.import_id.set(f"{before},{import_id}"), LeaverRow.expires_at.set(expires_at)]
    return Update(LeaverRow(mark), actions, LeaverRow.import_id == before)


def renew_write(mark: str, import_id: str, now: datetime) -> Write:
    return Put(LeaverRow(mark, import_id=import_id, expires_at=clock.epoch(now + KEPT)))


def forget(mark: str, import_id: str) -> None:
    """That this import said so. Whoever nobody else remembers is forgotten."""
    retry_stale(lambda: _forget(mark, import_id))


def _forget(mark: str, import_id: str) -> None:
    row = tables.get(LeaverRow, mark)
    said = row.import_id.split(",") if row else []
    if row is None or import_id not in said:
        return
    unchanged = LeaverRow.import_id == row.import_id
    if others := [other for other in said if other != import_id]:
        tables.update(LeaverRow(mark), [LeaverRow.import_id.set(",".join(others))], unchanged)
    else:
        tables.delete(LeaverRow(mark), unchanged)
