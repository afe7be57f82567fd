"""How many emails of each wave of a delivery bounced for good, and how many people complained: counts only. The
email's tags say which wave it was in, so a report that comes late still counts for its own."""

from chalicelib.bounces import wave_store as store
from chalicelib.bounces.model import Bounced, Complained, Finding, Report
from chalicelib.kernel import clock, pseudonyms
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale

Counts = tuple[int, int]


def count(report: Report, finding: Finding) -> None:
    """Every report once, whether or not the person is still here."""
    if report.delivery_id and report.wave and (counted := _counted(finding)):
        event = pseudonyms.derive("wave", f"{report.id} {finding.address.key}")[:32]
        try:
            tables.transact(*store.count_writes(report.delivery_id, report.wave, counted, event, clock.now()))
        except Stale:
            return  # it was counted before


def count_by_wave(delivery_id: str) -> dict[int, Counts]:
    """Bounces and complaints by the number of the wave; one query."""
    return store.find(delivery_id)


def _counted(finding: Finding) -> Counts | None:
    """What SES holds against the account: hard bounces, and complaints. Not an address on the account's own list,
    which SES did not even try, nor a full mailbox, nor a message it found at fault."""
    match finding:
        case Bounced() if finding.is_held_against_us:
            return 1, 0
        case Complained(again=False):
            return 0, 1
        case _:
            return None
