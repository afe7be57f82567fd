"""Acts on what SES reports: bounces are kept for a week, people who complained are removed."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from chalicelib.audience import erasure, recipients
from chalicelib.audience.recipients import Recipient
from chalicelib.bounces import model, store
from chalicelib.bounces.model import Bounce, Bounced, Complained, Report
from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.kernel import clock, log, pseudonyms
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.mail import mailboxes

_COMPLAINT = "complaint"


class KnownBounce(Struct, frozen=True):
    bounce: Bounce
    person: Recipient


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
        if isinstance(finding, Bounced):
            _record_bounce(report, finding)
        elif isinstance(finding, Complained):
            _remove_complainer(finding.address)


def record_refusal(subscriber_id: str, delivery_id: str, reason: str) -> None:
    """SES refused the mail for this person outright."""
    fingerprint = _fingerprint(f"{delivery_id} {subscriber_id}")
    _record(Bounce(subscriber_id, f"refused: {reason}", clock.now(), fingerprint, delivery_id))


def list_page(number: int, size: int) -> Page:
    """Newest first, with the current address; bounces of people who have left are omitted."""
    bounces = list(store.list_newest(clock.now()))
    ids = sorted({bounce.subscriber_id for bounce in bounces})
    people = {person.id: person for person in recipients.reload(ids)}
    known = [
        KnownBounce(bounce, people[bounce.subscriber_id]) for bounce in bounces if bounce.subscriber_id in people
    ]
    first = (number - 1) * size
    return Page(known[first : first + size], len(known))


def about(subscriber_id: str) -> list[dict[str, str]]:
    """What is kept here about one person, for the export of their data."""
    bounces = (bounce for bounce in store.list_newest(clock.now()) if bounce.subscriber_id == subscriber_id)
    return [{"at": clock.text(bounce.at), "reason": bounce.reason} for bounce in bounces]


def erase_writes(subscriber_id: str) -> list[tables.Write]:
    """None: a bounce names a person by an id that means nothing once they are erased, and expires within a week."""
    return []


def _record_bounce(report: Report, finding: Bounced) -> None:
    subscriber_id = recipients.find_id(finding.address)
    if subscriber_id:
        fingerprint = _fingerprint(f"{report.id} {finding.address.key}")
        _record(Bounce(subscriber_id, finding.reason, report.at, fingerprint, report.delivery_id))


def _fingerprint(event: str) -> str:
    return pseudonyms.derive("bounce", event)[:16]


def _record(bounce: Bounce) -> None:
    payload = {"subscriber_id": bounce.subscriber_id, "reason": bounce.reason}
    if bounce.delivery_id:
        payload["delivery_id"] = bounce.delivery_id
    event_write = outbox.event_write(EventType.BOUNCE_RECORDED, bounce.subscriber_id, payload)
    try:
        tables.transact(store.create_write(bounce), event_write)
    except Stale:
        return  # recorded before
    outbox.relay_soon(bounce.subscriber_id)
    log.metric("Bounce")


def _remove_complainer(address: Address) -> None:
    """Somebody reported a mail as spam: they are removed and never mailed again, unless they lift that themselves."""
    if recipients.find_id(address):
        erasure.suppress(address.key, _COMPLAINT)
        log.metric("Complaint")
