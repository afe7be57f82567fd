"""Numbers, times and states as the pages show them. Times are in UTC; a script turns them into local time."""

from datetime import UTC, datetime

from chalicelib.bounces.model import Bounce
from chalicelib.campaigns.model import Campaign, DeliveryState, Targeting, Terms
from chalicelib.kernel import clock
from chalicelib.kernel.plurals import count_of as count_of
from chalicelib.mail.failures import SANDBOXED, UNSENDABLE

STATES = {
    "draft": "Draft",
    "scheduled": "Scheduled",
    "publishing": "Sending",
    "published": "Sent",
    "pending": "Pending",
    "activated": "Activated",
    "confirmed": "Confirmed",
    "expired": "Expired",
    "sending": "Sending",
    "sent": "Sent",
    "failed": "Needs attention",
    "active": "Active",
    "paused": "Paused",
    "disabled": "Disabled",
}
# The designs of emails: a name, and what it is like.
DESIGNS = {
    "plain": ("Plain", "A calm card"),
    "letter": ("Letter", "Serif on white paper"),
    "magazine": ("Magazine", "Masthead and large pictures"),
}
# Why an email bounced, by kind, and by SES's own word where that says more: a label, a sentence, and what to do.
_BOUNCES = {
    "hard": ("Undeliverable", "The receiving server refused the email for good; mostly the address is gone."),
    "permanent: NoEmail": ("No such address", "The receiving server says that the address does not exist."),
    f"refused: {UNSENDABLE}": ("Invalid address", "SES does not accept the address, so nothing can be sent to it."),
    "suppressed": (
        "Suppressed by SES",
        "SES did not send the email, because an earlier one bounced or was reported as spam. If the address works, "
        "take it off the suppression list in the SES console.",
    ),
    "rejected": ("Malware found", "SES found malware in the email and did not send it. The address is not at fault."),
    "refused": (
        "Not accepted",
        "SES did not accept the email for this address; the address may be fine. The next campaign tries again.",
    ),
    f"refused: {SANDBOXED}": (
        "Sandbox",
        "The SES account is in the sandbox and sends to verified addresses only. The address may be fine.",
    ),
}
# Why somebody is paused.
PAUSES = {
    "hard_bounce": "an email bounced permanently",
    "soft_bounces": "emails of five campaigns in a row could not be delivered",
    "suppressed": "the address is on SES’s suppression list",
    "editor": "an editor paused them",
}
_TONES = {
    "activated": "good",
    "confirmed": "good",
    "published": "good",
    "sent": "good",
    "active": "good",
    "scheduled": "info",
    "publishing": "info",
    "sending": "info",
    "pending": "warn",
    "failed": "bad",
    "disabled": "bad",
}


def moment(moment: datetime | str) -> str:
    at = _read(moment)
    return f"{day(at)}, {at:%H:%M} UTC"


def day(moment: datetime | str) -> str:
    at = _read(moment)
    return f"{at.day} {at:%b %Y}"


def iso(moment: datetime | str) -> str:
    return clock.text(_read(moment))


def in_zone(moment: datetime, zone: str) -> str:
    """A time in the author's own time zone."""
    from zoneinfo import ZoneInfo

    at = moment.astimezone(ZoneInfo(zone))
    return f"{at:%a} {at.day} {at:%b %Y}, {at:%H:%M}"


def input_value(moment: datetime, zone: str) -> str:
    """A time as an `<input type="datetime-local">` expects it."""
    from zoneinfo import ZoneInfo

    return f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%dT%H:%M}"


def number(value: float) -> str:
    return f"{int(value):,}"


def share(part: int, whole: int) -> str:
    """In per cent, to a tenth; empty where there is nothing to compare with."""
    if not part or not whole:
        return ""
    percent = 100 * part / whole
    return "<0.1%" if percent < 0.05 else f"{percent:.1f}%"


def people(value: int) -> str:
    return count_of(value, "person", "people")


def money(dollars: float) -> str:
    return "less than $0.01" if dollars < 0.005 else f"about ${dollars:,.2f}"


def size(count: int) -> str:
    return f"{max(1, round(count / 1024)):,} KB"


def state(name: str) -> str:
    return STATES.get(name, name.capitalize())


def tone(name: str) -> str:
    return _TONES.get(name, "quiet")


def bounce(bounce: Bounce) -> tuple[str, str]:
    """What happened in a few words, and in a sentence or two."""
    return _BOUNCES.get(bounce.reason) or _BOUNCES[bounce.kind]


def progress(campaign: Campaign) -> str:
    """How many have been sent it. What failed or was stopped may not have come to all its recipients yet."""
    sent = number(campaign.counts.sent)
    if campaign.delivery_state is DeliveryState.FAILED:
        return f"{sent} sent so far"
    return f"{sent} of {number(campaign.counts.recipients)} sent"


def targeting(targeting: Targeting) -> str:
    """Whom a campaign is for."""
    terms = [*_terms("source", targeting.sources), *_terms("tag", targeting.tags), *_joined(targeting)]
    return "; ".join(terms) if terms else "All subscribers"


def _joined(targeting: Targeting) -> list[str]:
    words = (("on or after", targeting.joined_after), ("before", targeting.joined_before))
    said = [f"{when} {at.day} {at:%b %Y}" for when, at in words if at]
    return [f"joined {' and '.join(said)}"] if said else []


def _terms(noun: str, terms: Terms) -> list[str]:
    lists = (("any", terms.any), ("all", terms.all), ("none", terms.none))
    return [f"{match} of the {noun}s {', '.join(words)}" for match, words in lists if words]


def _read(moment: datetime | str) -> datetime:
    at = clock.parse(moment) if isinstance(moment, str) else moment
    return at.astimezone(UTC)
