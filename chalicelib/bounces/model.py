"""What SES reports about a mail after it was sent. Of its many events these matter here: an address that will never
accept mail, one that does not accept it for now, and a person who complained."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from msgspec import Struct

from chalicelib.audience import model as audience
from chalicelib.kernel import addresses, clock
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import Invalid
from chalicelib.mail.failures import UNSENDABLE

KEPT = timedelta(days=7)
# On every mail of a campaign, and on those to people who were imported; SES repeats them in its reports.
DELIVERY_TAG, WAVE_TAG = "delivery", "wave"

_CLOCK_SKEW = timedelta(minutes=5)
_NOT_SPAM = "not-spam"
_LONGEST_REASON = 60
_PERMANENT, _REJECTED, _REFUSED = "permanent", "rejected", "refused"
# SES did not try: an earlier mail bounced or was reported as spam; `Suppressed` also for another customer of SES.
_SUPPRESSED = ("OnAccountSuppressionList", "Suppressed")
# The receiving server objects to the message, which says nothing about the mailbox.
_ABOUT_THE_MESSAGE = ("messagetoolarge", "contentrejected", "attachmentrejected")


class Kind(StrEnum):
    """What a bounce says about the address: that it does not exist or accepts nothing (`hard`), that SES does not
    even try it (`suppressed`), or nothing, because SES objected to the message (`rejected`) or did not accept it
    for this person (`refused`)."""

    HARD = "hard"
    SUPPRESSED = "suppressed"
    REJECTED = "rejected"
    REFUSED = "refused"


class Bounce(Struct, frozen=True):
    """A mail that could not be delivered. It names the subscriber by id: the address is looked up when needed.

    `fingerprint` is the same however often the same event is reported."""

    subscriber_id: str
    reason: str
    at: datetime
    fingerprint: str
    delivery_id: str | None = None

    @property
    def kind(self) -> Kind:
        return parse_kind(self.reason)

    @property
    def is_lasting(self) -> bool:
        """The next mail would bounce as well."""
        return self.kind in (Kind.HARD, Kind.SUPPRESSED)

    @property
    def is_on_account_list(self) -> bool:
        """On the suppression list of this SES account, whose bounces SES does not hold against it."""
        return self.reason.endswith(_SUPPRESSED[0])

    @property
    def pause_reason(self) -> str:
        return audience.SUPPRESSED if self.kind is Kind.SUPPRESSED else audience.HARD_BOUNCE


class Bounced(Struct, frozen=True):
    address: Address
    reason: str

    @property
    def is_held_against_us(self) -> bool:
        """SES counts it in the account's bounce rate."""
        return parse_kind(self.reason) in (Kind.HARD, Kind.SUPPRESSED) and not self.reason.endswith(_SUPPRESSED[0])


class SoftBounced(Struct, frozen=True):
    """Not delivered for now: the mailbox is full, its server does not respond."""

    address: Address


class Complained(Struct, frozen=True):
    """`again` if they are on the suppression list of this account: SES did not send the mail."""

    address: Address
    again: bool = False


Finding = Bounced | SoftBounced | Complained


class Report(Struct, frozen=True):
    """One notification: `id` is the same however often it is delivered. `wave` is that of imported people which the
    mail was in, if it was in one."""

    id: str
    at: datetime
    delivery_id: str | None
    findings: tuple[Finding, ...]
    wave: int | None = None


class Tally(Struct, frozen=True):
    """What became of the emails of a delivery: counts only. `left` are people who left by their own act within a
    week after it began."""

    soft_bounced: int = 0
    hard_bounced: int = 0
    complaints: int = 0
    left: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.soft_bounced + other.soft_bounced,
            self.hard_bounced + other.hard_bounced,
            self.complaints + other.complaints,
            self.left + other.left,
        )


def parse_kind(reason: str) -> Kind:
    """From the reason as it is stored."""
    word, _, detail = reason.partition(": ")
    if word == _PERMANENT:
        return Kind.SUPPRESSED if detail in _SUPPRESSED else Kind.HARD
    if word == _REFUSED:
        return Kind.HARD if detail == UNSENDABLE else Kind.REFUSED
    return Kind.REJECTED


def refusal(reason: str) -> str:
    """The reason of a bounce that SES's refusal to take a mail amounts to."""
    return f"{_REFUSED}: {reason}"


def parse_event(event: Mapping[str, Any], sender: str, now: datetime) -> Report:
    """Event publishing says `eventType`, feedback notifications say `notificationType`; the rest is the same.

    Only bounces, rejections and complaints have findings. Raises `Invalid` for anything that does not have the form
    of an event, or is not about a mail from `sender`."""
    kind = event.get("eventType") or event.get("notificationType")
    mail = _object(event, "mail")
    source = _wire_form(mail.get("source"))
    if not source or source != _wire_form(sender):
        raise Invalid("not about a mail of ours")
    findings: tuple[Finding, ...] = ()
    detail: Mapping[str, Any] = {}
    match kind:
        case "Bounce":
            detail = _object(event, "bounce")
            findings = _bounced(detail, mail)
        case "Complaint":
            detail = _object(event, "complaint")
            findings = _complained(detail, mail)
        case "Reject":
            # SES accepted the mail and then found malware in it; no recipient got it.
            detail = _object(event, "reject")
            findings = tuple(Bounced(address, _REJECTED) for address in _addresses(mail.get("destination")))
    id = str(detail.get("feedbackId") or mail.get("messageId") or "")
    return Report(id, _time_of(detail, mail, now), _tag(mail, DELIVERY_TAG), findings, _wave(mail))


def _bounced(bounce: Mapping[str, Any], mail: Mapping[str, Any]) -> tuple[Finding, ...]:
    make: Callable[[Address], Finding]
    match str(bounce.get("bounceType")).casefold():
        case "permanent":
            reason = _reason(_PERMANENT, bounce.get("bounceSubType"))
            make = lambda address: Bounced(address, reason)  # noqa: E731 - one of two ways to make a finding
        case "transient" if _is_about_the_mailbox(bounce):
            make = SoftBounced
        case _:
            return ()
    return tuple(make(address) for address in _recipients(mail, bounce.get("bouncedRecipients")))


def _is_about_the_mailbox(bounce: Mapping[str, Any]) -> bool:
    """An automatic reply ("I am on holiday") is reported as a general transient bounce too: only a report of a mail
    server has a status or an action."""
    subtype = str(bounce.get("bounceSubType")).casefold()
    if subtype in _ABOUT_THE_MESSAGE:
        return False
    return subtype not in ("general", "none") or any(
        str(recipient.get("action")).casefold() == "failed" or str(recipient.get("status")).startswith(("4.", "5."))
        for recipient in _objects(bounce.get("bouncedRecipients"))
    )


def _complained(complaint: Mapping[str, Any], mail: Mapping[str, Any]) -> tuple[Finding, ...]:
    # Some providers also report when somebody moves a mail *out* of the junk folder.
    if complaint.get("complaintFeedbackType") == _NOT_SPAM:
        return ()
    again = complaint.get("complaintSubType") == _SUPPRESSED[0]
    return tuple(Complained(address, again) for address in _recipients(mail, complaint.get("complainedRecipients")))


def _recipients(mail: Mapping[str, Any], reported: Any) -> list[Address]:
    """Whom the report is about. A mail goes to one person, so its destination tells; the report has what the last
    server called them, which may be another address (mail is forwarded) or hardly one (`rfc822;ann@example.org.`).
    Only where a mail had several recipients do the reported names choose among them."""
    written_to = _addresses(mail.get("destination"))
    if len(written_to) < 2:
        return written_to
    named = {_wire_form(_without_type(recipient.get("emailAddress"))) for recipient in _objects(reported)}
    return [address for address in written_to if address.key in named]


def _addresses(texts: Any) -> list[Address]:
    found = {}
    for text in texts if isinstance(texts, list) else ():
        try:
            address = addresses.parse(_bare(text))
        except Invalid:
            continue
        found[address.key] = address
    return list(found.values())


def _wire_form(text: Any) -> str:
    """The bare address, its domain as Punycode: SES reports what it was given, settings have what people write."""
    try:
        return addresses.key(_bare(text))
    except UnicodeError:
        return ""


def _bare(text: Any) -> str:
    """Without a name around it, which SES may report unquoted, commas and all."""
    return text.rpartition("<")[2].strip().rstrip(">").strip() if isinstance(text, str) else ""


def _without_type(text: Any) -> Any:
    """As in a delivery status notification: `rfc822; ann@example.org.`"""
    return text.rpartition(";")[2].strip().rstrip(".") if isinstance(text, str) else text


def _reason(kind: str, subtype: Any) -> str:
    """Only SES's own keyword: the diagnostic text may quote anything."""
    known = isinstance(subtype, str) and subtype.isalpha() and subtype not in ("General", "Undetermined")
    return f"{kind}: {subtype}"[:_LONGEST_REASON] if known else kind


def _object(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = event.get(name)
    if not isinstance(value, Mapping):
        raise Invalid("not an event of SES")
    return value


def _objects(values: Any) -> list[Mapping[str, Any]]:
    return [value for value in values if isinstance(value, Mapping)] if isinstance(values, list) else []


def _time_of(detail: Mapping[str, Any], mail: Mapping[str, Any], now: datetime) -> datetime:
    """The event's own time, since it identifies the event. The clock it comes from is the receiving server's: if it
    says before the mail was sent or after now, the time of the mail, which is SES's."""
    sent = _moment(mail.get("timestamp"))
    at = _moment(detail.get("timestamp"))
    if at is None or at > now + _CLOCK_SKEW or (sent and at < sent):
        at = sent
    return now if at is None or at > now + _CLOCK_SKEW else at


def _moment(text: Any) -> datetime | None:
    try:
        at = clock.parse(text.replace(" ", ""))
    except (AttributeError, TypeError, ValueError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _tag(mail: Mapping[str, Any], name: str) -> str | None:
    tags = mail.get("tags")
    values = tags.get(name) if isinstance(tags, Mapping) else None
    return values[0] if isinstance(values, list) and values and isinstance(values[0], str) else None


def _wave(mail: Mapping[str, Any]) -> int | None:
    number = _tag(mail, WAVE_TAG) or ""
    return int(number) if number.isascii() and number.isdigit() and len(number) < 4 else None
