"""Pictures under other names, in the table of pictures. What others are shown knows its picture by such a name: from
the picture's id one could read when it was uploaded."""

from collections.abc import Iterable

from pynamodb.attributes import UnicodeAttribute

from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Delete, Put, Write

_PREFIX = "shown as "


class ShownRow(tables.Row):
    class Meta:
        table_name = tables.name("media")

    id = UnicodeAttribute(hash_key=True)
    picture_id = UnicodeAttribute()


def find_many(names: Iterable[str]) -> dict[str, str]:
    """The ids of the pictures, by name."""
    rows = tables.get_many(ShownRow, [_PREFIX + name for name in names])
    return {row.id.removeprefix(_PREFIX): row.picture_id for row in rows}


def show_write(name: str, picture_id: str) -> Write:
    return Put(ShownRow(_PREFIX + name, picture_id=picture_id))


def hide_write(name: str) -> Write:
    return Delete(ShownRow(_PREFIX + name))
