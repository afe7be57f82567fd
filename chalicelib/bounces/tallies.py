"""What became of the emails of a delivery: how many bounced, how many people complained, how many left after it.
Counts only, by delivery and, for imported people, by wave. The email's tags say which delivery and wave it was in, so
a report that comes late still counts for its own."""

from collections.abc import Collection
from datetime import timedelta
from itertools import islice

from chalicelib.audience.model import Subscriber
from chalicelib.bounces import sent
from chalicelib.bounces import tally_store as store
from chalicelib.bounces.model import Bounced, Complained, Finding, Kind, Report, SoftBounced, Tally, parse_kind
from chalicelib.bounces.sent import Sent
from chalicelib.kernel import clock, ids, pseudonyms
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale

# How long after a delivery began somebody who leaves is counted for it; and for how many deliveries at most, so that
# the transaction that erases them stays small.
LEFT_WITHIN = timedelta(days=7)
MOST_LEFT, _MOST_READ = 10, 30


def count(report: Report, finding: Finding) -> None:
    """Once for each delivery, kind and address, however often SES says so and in however many events; whether or not
    the person is still here."""
    name = _name(finding)
    if not name or not report.delivery_id or not ids.is_id(report.delivery_id):
        return
    now = clock.now()
    what = pseudonyms.derive("tally", f"{report.delivery_id} {name} {finding.address.key}")[:32]
    writes = [store.counted_write(what, now), *store.tally_writes([report.delivery_id], name)]
    if report.wave:
        writes += _wave_writes(report.delivery_id, report.wave, finding)
    try:
        tables.transact(*writes)
    except Stale:
        return  # it was counted before


def left_writes(person: Subscriber) -> list[tables.Write]:
    """For the transaction that erases somebody who leaves by their own act: one more for each of the latest
    deliveries they may have got. One small query."""
    latest = sent.list_latest(clock.now() - LEFT_WITHIN, _MOST_READ)
    meant = (delivery.delivery_id for delivery in latest if _may_have_got(person, delivery))
    return store.tally_writes(islice(meant, MOST_LEFT), "left")


def find(delivery_ids: Collection[str]) -> dict[str, Tally]:
    """By id, for those of which anything was counted; one query."""
    return store.find_tallies(delivery_ids)


def count_by_wave(delivery_id: str) -> dict[int, tuple[int, int]]:
    """Bounces and complaints by the number of the wave; one query."""
    return store.find_waves(delivery_id)


def _may_have_got(person: Subscriber, delivery: Sent) -> bool:
    """It was for them, and they were neither too new for it, nor paused, nor imported and not written to yet."""
    was_paused = person.paused_at is not None and person.paused_at <= delivery.at
    if person.unmailed or was_paused or person.is_newer_than(delivery.at):
        return False
    return sent.is_for(delivery, person)


def _name(finding: Finding) -> str | None:
    """What it counts as in a `Tally`. Not an email in which SES found malware, which says nothing about the address,
    nor one SES did not send because of an earlier complaint; what SES refused at once is the delivery's `failed`."""
    match finding:
        case SoftBounced():
            return "soft_bounced"
        case Bounced() if parse_kind(finding.reason) in (Kind.HARD, Kind.SUPPRESSED):
            return "hard_bounced"
        case Complained(again=False):
            return "complaints"
        case _:
            return None


def _wave_writes(delivery_id: str, wave: int, finding: Finding) -> list[tables.Write]:
    """What SES holds against the account: hard bounces, and complaints. Not an address on the account's own list,
    which SES did not even try, nor a full mailbox."""
    match finding:
        case Bounced() if finding.is_held_against_us:
            return [store.wave_write(delivery_id, wave, 1, 0, clock.now())]
        case Complained():
            return [store.wave_write(delivery_id, wave, 0, 1, clock.now())]
        case _:
            return []
