"""What SES reports about a mail after it was sent. Of its many events two matter here: an address that will never
accept mail, and a person who complained."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import parseaddr
from typing import Any

from msgspec import Struct

from chalicelib.kernel import addresses, clock
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import Invalid

KEPT = timedelta(days=7)

_CLOCK_SKEW = timedelta(minutes=5)
_NOT_SPAM = "not-spam"
_LONGEST_REASON = 60


class Bounce(Struct, frozen=True):
    """A mail that could not be delivered. It names the subscriber by id: the address is looked up when needed.

    `fingerprint` is the same however often the same event is reported."""

    subscriber_id: str
    reason: str
    at: datetime
    fingerprint: str
    delivery_id: str | None = None


class Bounced(Struct, frozen=True):
    address: Address
    reason: str


class Complained(Struct, frozen=True):
    address: Address


class Report(Struct, frozen=True):
    """One notification: `id` is the same however often it is delivered."""

    id: str
    at: datetime
    delivery_id: str | None
    findings: tuple[Bounced | Complained, ...]


def parse_event(event: Mapping[str, Any], sender: str, now: datetime) -> Report:
    """Event publishing says `eventType`, feedback notifications say `notificationType`; the rest is the same.

    Only permanent bounces, rejections and complaints have findings. Raises `Invalid` for anything that does not have
    the form of an event, or is not about a mail from `sender`."""
    kind = event.get("eventType") or event.get("notificationType")
    mail = _object(event, "mail")
    if _bare_address(mail.get("source")) != sender.casefold():
        raise Invalid("not about a mail of ours")
    findings: tuple[Bounced | Complained, ...] = ()
    detail: Mapping[str, Any] = {}
    match kind:
        case "Bounce":
            detail = _object(event, "bounce")
            findings = _bounced(detail)
        case "Complaint":
            detail = _object(event, "complaint")
            findings = _complained(detail)
        case "Reject":
            detail = _object(event, "reject")
            findings = _rejected(mail)
    id = str(detail.get("feedbackId") or mail.get("messageId") or "")
    at = _moment(detail.get("timestamp") or mail.get("timestamp"), now)
    destination = _destination(mail)
    ours = tuple(finding for finding in findings if finding.address.key in destination)
    return Report(id, at, _delivery_id(mail), ours)


def _bounced(bounce: Mapping[str, Any]) -> tuple[Bounced, ...]:
    if bounce.get("bounceType") != "Permanent":
        return ()
    reason = _reason("permanent", bounce.get("bounceSubType"))
    return tuple(Bounced(address, reason) for address in _addresses(bounce.get("bouncedRecipients")))


def _complained(complaint: Mapping[str, Any]) -> tuple[Complained, ...]:
    # Some providers also report when somebody moves a mail *out* of the junk folder.
    if complaint.get("complaintFeedbackType") == _NOT_SPAM:
        return ()
    return tuple(Complained(address) for address in _addresses(complaint.get("complainedRecipients")))


def _destination(mail: Mapping[str, Any]) -> set[str]:
    """The addresses the mail was sent to: an event can be about no other."""
    destination = mail.get("destination")
    return {_bare_address(address) for address in destination} if isinstance(destination, list) else set()


def _bare_address(text: Any) -> str:
    return parseaddr(text)[1].casefold() if isinstance(text, str) else ""


def _rejected(mail: Mapping[str, Any]) -> tuple[Bounced, ...]:
    """SES accepted the mail and then found malware in it; no recipient got it."""
    destination = mail.get("destination")
    recipients = [{"emailAddress": address} for address in destination] if isinstance(destination, list) else []
    return tuple(Bounced(address, "rejected") for address in _addresses(recipients))


def _addresses(recipients: Any) -> list[Address]:
    found = []
    for recipient in recipients if isinstance(recipients, list) else ():
        text = recipient.get("emailAddress") if isinstance(recipient, Mapping) else None
        try:
            found.append(addresses.parse(parseaddr(text)[1] if isinstance(text, str) else None))
        except Invalid:
            continue
    return found


def _reason(kind: str, subtype: Any) -> str:
    """Only SES's own keyword: the diagnostic text may quote anything."""
    known = isinstance(subtype, str) and subtype.isalpha() and subtype not in ("General", "Undetermined")
    return f"{kind}: {subtype}"[:_LONGEST_REASON] if known else kind


def _object(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = event.get(name)
    if not isinstance(value, Mapping):
        raise Invalid("not an event of SES")
    return value


def _moment(text: Any, now: datetime) -> datetime:
    """The event's own time, since it identifies the event; now, if that is missing or in the future."""
    try:
        at = clock.parse(text)
    except (TypeError, ValueError):
        return now
    return at if at < now + _CLOCK_SKEW else now


def _delivery_id(mail: Mapping[str, Any]) -> str | None:
    tags = mail.get("tags")
    values = tags.get("delivery") if isinstance(tags, Mapping) else None
    return values[0] if isinstance(values, list) and values and isinstance(values[0], str) else None
