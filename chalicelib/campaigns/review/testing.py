"""Test emails of a campaign: to a few addresses, marked in the subject, with the personal parts of somebody chosen.

Their links change nothing, whoever they were made for.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.audience import listing
from chalicelib.audience import model as audience
from chalicelib.campaigns.content import renderer
from chalicelib.campaigns.model import Campaign, CampaignDetail
from chalicelib.kernel import addresses, limits
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import GnaError, Invalid, Unavailable
from chalicelib.mail import message, sender
from chalicelib.mail.failures import Rejected
from chalicelib.mail.message import Message

MOST = 5
# By one editor; what was refused or not sent counts, too.
MOST_AN_HOUR = 60
_HOUR = 3600
_LIST = f"emails must be a list of 1 to {MOST} addresses"


class Outcome(Struct, frozen=True):
    """How many were sent, and what went wrong with the others."""

    sent: int
    problem: GnaError | None = None

    def check(self) -> None:
        if self.problem:
            raise self.problem


def parse_list(value: Any) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not 1 <= len(value) <= MOST or not all(isinstance(one, str) for one in value):
        raise Invalid(_LIST)
    return value


def parse_recipients(email: str | None, emails: Sequence[str] | None) -> tuple[Address, ...]:
    """From one address or a list of them; the same address twice is one."""
    if email is not None and emails is not None:
        raise Invalid("Send either email or emails, not both")
    if emails is None or len(emails) == 1:
        return (addresses.parse(emails[0] if emails else email),)
    found: dict[str, Address] = {}
    for position, typed in enumerate(emails, 1):
        try:
            address = addresses.parse(typed)
        except Invalid as failure:
            raise Invalid(f"Address {position}: {failure.reason}") from failure
        found.setdefault(address.key, address)
    return tuple(found.values())


def choose_nickname(subscriber_id: str | None, nickname: str | None) -> str | None:
    """That of a subscriber, or an example; None is somebody without one."""
    if subscriber_id is None:
        return nickname
    if nickname is not None:
        raise Invalid("Send either subscriber_id or nickname, not both")
    return listing.find_subscriber(subscriber_id).nickname


def subject_of(campaign: Campaign) -> str:
    """As it arrives at somebody without a nickname."""
    return message.mark(renderer.without_names(campaign.subject))


def send(detail: CampaignDetail, to: Sequence[Address], nickname: str | None, by: str) -> Outcome:
    """Each address gets an email of its own. One that SES refuses does not keep the others from theirs; what would
    refuse every email ends it. `by` is the editor, for the limit."""
    mailing = renderer.render(detail)
    limits.spend("test email", by, MOST_AN_HOUR, _HOUR, f"At most {MOST_AN_HOUR} test emails an hour", len(to))
    sent, refused = 0, []
    for position, address in enumerate(to, 1):
        test = _test(mailing.message(address.typed, nickname, str(audience.TEST_TOKEN)))
        try:
            sender.send(test)
            sent += 1
        except Rejected as failure:
            refused.append(f"Address {position}: {failure.reason}" if len(to) > 1 else failure.reason)
        except Unavailable as failure:
            reasons = [*refused, f"Address {position}: {failure.reason}" if len(to) > 1 else failure.reason]
            return Outcome(sent, Unavailable(_tell(sent, len(to), reasons), failure.retry_after))
    return Outcome(sent, Invalid(_tell(sent, len(to), refused)) if refused else None)


def _test(written: Message) -> Message:
    return replace(written, subject=message.mark(written.subject))


def _tell(sent: int, total: int, reasons: Sequence[str]) -> str:
    """By position: an error names no address."""
    return "; ".join(reasons) if total == 1 else f"Sent to {sent} of {total}. {'; '.join(reasons)}"
