"""What has happened at least once, beside the daily counts: a name and a time, nothing about anybody."""

from pynamodb.attributes import UnicodeAttribute

from chalicelib.audience.model import ACTIVATED, PENDING
from chalicelib.audience.stores import listing
from chalicelib.audience.stores.subscriber_row import SubscriberRow
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

_KIND = "milestones"


class MilestoneRow(tables.Row):
    class Meta:
        table_name = tables.name("census")

    kind = UnicodeAttribute(hash_key=True)
    slot = UnicodeAttribute(range_key=True)
    reached_at = UnicodeAttribute(null=True)


def list_reached() -> frozenset[str]:
    return frozenset(str(row.slot) for row in tables.query(MilestoneRow, _KIND))


def add(name: str) -> None:
    """Writing it again changes the time and nothing else."""
    tables.put(MilestoneRow(_KIND, name, reached_at=clock.text(clock.now())))


def are_all_imported(most: int) -> bool:
    """Or added by hand. Of the newest people of either status, so many each."""
    ids = [id for status in (PENDING, ACTIVATED) for id in listing.newest_ids(status, most)]
    return all(row.import_id or row.imported_as for row in tables.get_many(SubscriberRow, ids))
