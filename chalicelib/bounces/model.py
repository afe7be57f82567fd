"""What SES says about a mail after it has left, in our words. Of its many events two kinds mean something here:
an address that will never take mail, and a person who complained."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import parseaddr
from typing import Any

from msgspec import Struct

from chalicelib.kernel import addresses, clock
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import Invalid

KEPT = timedelta(days=7)

_CLOCKS_DIFFER = timedelta(minutes=5)
_NOT_SPAM = "not-spam"
_LONGEST_REASON = 60


class Bounce(Struct, frozen=True):
    """Somebody could not be reached. It names them by id: the address is looked up when it is shown."""

    subscriber_id: str
    reason: str
    at: datetime
    mark: str
    delivery_id: str | None = None


class Bounced(Struct, frozen=True):
    address: Address
    reason: str


class Complained(Struct, frozen=True):
    address: Address


class Report(Struct, frozen=True):
    """One notification: `id` is the same however often it comes."""

    id: str
    at: datetime
    delivery_id: str | None
    findings: tuple[Bounced | Complained, ...]


def read(event: Mapping[str, Any], sender: str, now: datetime) -> Report:
    """Event publishing says `eventType`, feedback notifications say `notificationType`; the rest is the same.

    Everything that is not a permanent bounce, a rejection or a complaint has no findings. Raises `Invalid` for what
    has not the form of an event, or is not about a mail from `sender`."""
    kind = event.get("eventType") or event.get("notificationType")
    mail = _object(event, "mail")
    if _bare(mail.get("source")) != sender.casefold():
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
    return Report(id, at, _delivery(mail), tuple(one for one in findings if one.address.key in _destination(mail)))


def _bounced(bounce: Mapping[str, Any]) -> tuple[Bounced, ...]:
    if bounce.get("bounceType") != "Permanent":
        return ()
    reason = _word("permanent", bounce.get("bounceSubType"))
    return tuple(Bounced(address, reason) for address in _addresses(bounce.get("bouncedRecipients")))


def _complained(complaint: Mapping[str, Any]) -> tuple[Complained, ...]:
    # Some providers also report when somebody takes a mail *out* of the junk folder.
    if complaint.get("complaintFeedbackType") == _NOT_SPAM:
        return ()
    return tuple(Complained(address) for address in _addresses(complaint.get("complainedRecipients")))


def _destination(mail: Mapping[str, Any]) -> set[str]:
    """Whom the mail went to: an event can be about nobody else."""
    told = mail.get("destination")
    return {_bare(one) for one in told} if isinstance(told, list) else set()


def _bare(text: Any) -> str:
    return parseaddr(text)[1].casefold() if isinstance(text, str) else ""


def _rejected(mail: Mapping[str, Any]) -> tuple[Bounced, ...]:
    """SES took the mail and then found something in it; nobody of its recipients got it."""
    told = mail.get("destination")
    people = [{"emailAddress": address} for address in told] if isinstance(told, list) else []
    return tuple(Bounced(address, "rejected") for address in _addresses(people))


def _addresses(recipients: Any) -> list[Address]:
    found = []
    for recipient in recipients if isinstance(recipients, list) else ():
        text = recipient.get("emailAddress") if isinstance(recipient, Mapping) else None
        try:
            found.append(addresses.parse(parseaddr(text)[1] if isinstance(text, str) else None))
        except Invalid:
            continue
    return found


def _word(kind: str, subtype: Any) -> str:
    """Only SES's own word: the diagnostic text behind it may quote anything."""
    known = isinstance(subtype, str) and subtype.isalpha() and subtype not in ("General", "Undetermined")
    return f"{kind}: {subtype}"[:_LONGEST_REASON] if known else kind


def _object(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = event.get(name)
    if not isinstance(value, Mapping):
        raise Invalid("not an event of SES")
    return value


def _moment(text: Any, now: datetime) -> datetime:
    """As it is written, for it tells the same event from another; unless it is nonsense."""
    try:
        at = clock.parse(text)
    except (TypeError, ValueError):
        return now
    return at if at < now + _CLOCKS_DIFFER else now


def _delivery(mail: Mapping[str, Any]) -> str | None:
    tags = mail.get("tags")
    values = tags.get("delivery") if isinstance(tags, Mapping) else None
    return values[0] if isinstance(values, list) and values and isinstance(values[0], str) else None
