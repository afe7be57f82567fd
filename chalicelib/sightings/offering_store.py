"""Which sightings are shared, whoever's they are."""

from collections.abc import Iterator

from msgspec import Struct

from chalicelib.kernel.aws import tables
from chalicelib.sightings.store import DESK, SightingRow


class Key(Struct, frozen=True):
    owner: str
    id: str


def list_shared() -> Iterator[Key]:
    """The longest shared first. The index may be a moment late."""
    for row in tables.query(SightingRow, DESK, index_name="shared"):
        yield Key(row.owner, row.id)
