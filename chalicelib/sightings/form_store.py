"""Which form wrote down which sighting last, in the table of the sightings: sending a form twice makes one sighting.

The form's id is not the sighting's: sightings are sorted by theirs, and a form may be open for hours.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from msgspec import Struct
from pynamodb.attributes import UnicodeAttribute
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Put, Write

_FORGET = "forget"
# No form is accepted by its id for longer.
_KEPT = timedelta(days=1)


class _Due(GlobalSecondaryIndex["FormRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    todo = UnicodeAttribute(hash_key=True)
    due_at = UnicodeAttribute(range_key=True)


class FormRow(tables.Row):
    class Meta:
        table_name = tables.name("sightings")

    owner = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)
    sighting_id = UnicodeAttribute()
    todo = UnicodeAttribute()
    due_at = UnicodeAttribute()
    due = _Due()


class Key(Struct, frozen=True):
    owner: str
    id: str


def find_sighting(member_id: str, form: str) -> str | None:
    row = tables.get(FormRow, _owner(member_id), form)
    return row.sighting_id if row else None


def remember_write(member_id: str, form: str, sighting_id: str, now: datetime, earlier: str | None) -> Write:
    """Fails if the form was sent meanwhile. `earlier` is the sighting that was found for it, None if none was."""
    row = FormRow(_owner(member_id), form, sighting_id=sighting_id, todo=_FORGET, due_at=clock.text(now + _KEPT))
    return Put(row, FormRow.sighting_id == earlier if earlier else FormRow.id.does_not_exist())


def list_due(now: datetime) -> Iterator[Key]:
    over = FormRow.due_at <= clock.text(now)
    for row in tables.query(FormRow, _FORGET, index_name="due", range_key_condition=over):
        yield Key(row.owner, row.id)


def forget(key: Key) -> bool:
    with suppress(Stale):
        tables.delete(FormRow(key.owner, key.id), FormRow.todo == _FORGET)
        return True
    return False


def _owner(member_id: str) -> str:
    return f"{member_id} forms"
