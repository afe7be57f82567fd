"""Acts on what SES reports: bounces are kept for a week, people who complained are removed, and people whose address
does not work are paused or removed if `BOUNCES` says so."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from chalicelib.audience import erasure, pausing, recipients
from chalicelib.audience.recipients import Known
from chalicelib.bounces import model, store, streak_store, streaks, tallies
from chalicelib.bounces.model import Bounce, Bounced, Complained, Report
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.kernel import addresses, clock, log, pseudonyms, settings
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.mail import mailboxes

_COMPLAINT = "complaint"


class KnownBounce(Struct, frozen=True):
    bounce: Bounce
    person: Known


class Page(Struct, frozen=True):
    items: list[KnownBounce]
    total: int


def record_event(event: Mapping[str, Any]) -> None:
    """Act on one event from SES. The same event again changes nothing."""
    report = model.parse_event(event, mailboxes.sender_address(), clock.now())
    if event.get("eventType") == "Rendering Failure":
        # SES accepted the mail but could not fill in its template: a defect of ours that nobody else would notice.
        log.error("mail.not_rendered", delivery_id=report.delivery_id)
        log.metric("RenderingFailure")
    for finding in report.findings:
        tallies.count(report, finding)
        if isinstance(finding, Bounced):
            _record_bounce(report, finding)
        elif isinstance(finding, Complained):
            _remove_complainer(finding.address)
        else:
            streaks.count(finding.address, report.delivery_id)


def record_refusal(subscriber_id: str, delivery_id: str, reason: str) -> None:
    """SES refused the mail for this person outright."""
    fingerprint = _fingerprint(f"{delivery_id} {subscriber_id}")
    person = recipients.look_up([subscriber_id]).get(subscriber_id)
    bounce = Bounce(subscriber_id, model.refusal(reason), clock.now(), fingerprint, delivery_id)
    _record(bounce, addresses.key(person.email) if person else "")


def list_page(number: int, size: int) -> Page:
    """Newest first, with the current address; bounces of people who have left are omitted."""
    bounces = list(store.list_newest(clock.now()))
    people = recipients.look_up(sorted({bounce.subscriber_id for bounce in bounces}))
    known = [
        KnownBounce(bounce, people[bounce.subscriber_id]) for bounce in bounces if bounce.subscriber_id in people
    ]
    first = (number - 1) * size
    return Page(known[first : first + size], len(known))


def about(subscriber_id: str) -> list[dict[str, Any]]:
    """What is kept here about one person, for the export of their data."""
    bounces = (bounce for bounce in store.list_newest(clock.now()) if bounce.subscriber_id == subscriber_id)
    kept: list[dict[str, Any]] = [{"at": clock.text(bounce.at), "reason": bounce.reason} for bounce in bounces]
    streak = streak_store.find(subscriber_id, clock.now())
    return [*kept, {"soft_bounces_in_a_row": streak.campaigns, "last": streak.last}] if streak else kept


def erase_writes(subscriber_id: str) -> list[tables.Write]:
    """The count of soft bounces. A bounce names a person by an id that means nothing once they are erased, and
    expires within a week."""
    return [streak_store.delete_write(subscriber_id)]


def _record_bounce(report: Report, finding: Bounced) -> None:
    subscriber_id = recipients.find_id(finding.address)
    if subscriber_id:
        fingerprint = _fingerprint(f"{report.id} {finding.address.key}")
        bounce = Bounce(subscriber_id, finding.reason, report.at, fingerprint, report.delivery_id)
        _record(bounce, finding.address.key)


def _fingerprint(event: str) -> str:
    return pseudonyms.derive("bounce", event)[:16]


def _record(bounce: Bounce, address_key: str) -> None:
    recorded = retry_stale(lambda: _record_once(bounce, address_key))
    if bounce.is_lasting and settings.current().bounces == "remove" and recorded == bounce.subscriber_id:
        # Also when the event was recorded before: the worker may have died before it came here.
        erasure.remove_bounced(bounce.subscriber_id, address_key, bounce.at)


def _record_once(bounce: Bounce, address_key: str) -> str:
    """Together with what pauses the person, if they are to be paused. Returns for whom it is, or was, recorded: the
    address may have a new owner by the time an event is repeated."""
    before = store.find(bounce)
    if before:
        return before.subscriber_id
    payload = {"subscriber_id": bounce.subscriber_id, "reason": bounce.reason}
    if bounce.delivery_id:
        payload["delivery_id"] = bounce.delivery_id
    event_write = outbox.event_write(EventType.BOUNCE_RECORDED, bounce.subscriber_id, payload)
    tables.transact(store.create_write(bounce), event_write, *_pause_writes(bounce, address_key))
    outbox.relay_soon(bounce.subscriber_id)
    log.metric("Bounce")
    return bounce.subscriber_id


def _pause_writes(bounce: Bounce, address_key: str) -> list[tables.Write]:
    if settings.current().bounces != "pause" or not bounce.is_lasting:
        return []
    return pausing.pause_writes(bounce.subscriber_id, bounce.pause_reason, bounce.at, address_key)


def _remove_complainer(address: Address) -> None:
    """Somebody reported a mail as spam: they are removed and never mailed again, unless they lift that themselves."""
    if recipients.find_id(address):
        erasure.suppress(address.key, _COMPLAINT)
        log.metric("Complaint")
