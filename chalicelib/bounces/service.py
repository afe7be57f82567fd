"""What to do about mails that did not arrive: keep word of it for a week, or let go of who complained."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from chalicelib.audience import erasure, recipients
from chalicelib.audience.recipients import Recipient
from chalicelib.bounces import model, store
from chalicelib.bounces.model import Bounce, Bounced, Report
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
    """Act on one event of SES. The same event again changes nothing."""
    report = model.read(event, mailboxes.sender_address(), clock.now())
    if event.get("eventType") == "Rendering Failure":
        # SES took the mail and could not fill it in: a defect of ours, and nobody else would notice it.
        log.error("mail.not_rendered", delivery_id=report.delivery_id)
        log.metric("RenderingFailure")
    for finding in report.findings:
        if isinstance(finding, Bounced):
            _note_bounce(report, finding)
        else:
            _note_complaint(finding.address)


def record_refusal(subscriber_id: str, delivery_id: str, reason: str) -> None:
    """SES would not even take the mail for this person."""
    mark = pseudonyms.derive("bounce", f"{delivery_id} {subscriber_id}")[:16]
    _record(Bounce(subscriber_id, f"refused: {reason}", clock.now(), mark, delivery_id))


def page(number: int, size: int) -> Page:
    """Newest first, with the address as it is now; bounces of people who have left are not shown."""
    bounces = list(store.newest_first(clock.now()))
    people = {person.id: person for person in recipients.reload(sorted({one.subscriber_id for one in bounces}))}
    known = [KnownBounce(one, people[one.subscriber_id]) for one in bounces if one.subscriber_id in people]
    first = (number - 1) * size
    return Page(known[first : first + size], len(known))


def about(subscriber_id: str) -> list[dict[str, str]]:
    """What is kept here about one person, for them to take away."""
    found = (one for one in store.newest_first(clock.now()) if one.subscriber_id == subscriber_id)
    return [{"at": clock.text(one.at), "reason": one.reason} for one in found]


def erase_writes(subscriber_id: str) -> list[tables.Write]:
    """Nothing: a bounce names a person by an id that means nothing once they are gone, and expires within a week."""
    return []


def _note_bounce(report: Report, finding: Bounced) -> None:
    subscriber_id = recipients.find_id(finding.address)
    if subscriber_id:
        mark = pseudonyms.derive("bounce", f"{report.id} {finding.address.key}")[:16]
        _record(Bounce(subscriber_id, finding.reason, report.at, mark, report.delivery_id))


def _record(bounce: Bounce) -> None:
    payload = {"subscriber_id": bounce.subscriber_id, "reason": bounce.reason}
    if bounce.delivery_id:
        payload["delivery_id"] = bounce.delivery_id
    told = outbox.event_write(EventType.BOUNCE_RECORDED, bounce.subscriber_id, payload)
    try:
        tables.transact(store.create_write(bounce), told)
    except Stale:
        return  # told before
    outbox.relay_soon(bounce.subscriber_id)
    log.metric("Bounce")


def _note_complaint(address: Address) -> None:
    """Somebody pressed *spam*: they are let go, and never written to again unless they lift that themselves."""
    if recipients.find_id(address):
        erasure.suppress(address.key, _COMPLAINT)
        log.metric("Complaint")
