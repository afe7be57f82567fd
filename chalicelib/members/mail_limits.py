"""How many mails an hour members get who have not verified their address: they may be anybody, because a stranger may
have typed it.

There is a limit for all of them and, within it, one for each network that asks, as for confirmations: one client
cannot use up the hour for everybody else. Of what goes to one mailbox, verifications are counted for the address and
resets for the account: a stranger who holds an address, and has it mailed as often as possible, must not keep its
owner from the mail that takes the account back.
"""

from msgspec import Struct

from chalicelib.audience import held
from chalicelib.kernel import limits, settings
from chalicelib.members import model
from chalicelib.members.model import Member

MAILS_TO_ONE = 5
_HOUR = 3600


class Limit(Struct, frozen=True):
    name: str
    subject: str
    most: int


def concerning(kind: str, member: Member, network: str | None) -> list[Limit]:
    """`network` is a pseudonym; None if nobody knows which it was."""
    recipient = member.id if kind == model.RESET else member.address_key
    of_recipient = Limit(f"member mails to one, {kind}", recipient, MAILS_TO_ONE)
    of_network = [Limit("member mails by one network", network, held.share())] if network else []
    return [of_recipient, *of_network, Limit("member mails", "all", settings.current().mails_per_hour)]


def take(wanted: list[Limit]) -> bool:
    """Count a mail against all of them, or against none if one is used up."""
    for position, limit in enumerate(wanted):
        if not limits.allows(limit.name, limit.subject, limit.most, _HOUR):
            give_back(wanted[: position + 1])
            return False
    return True


def give_back(taken: list[Limit]) -> None:
    """It was counted, but not sent."""
    for limit in taken:
        limits.give_back(limit.name, limit.subject, _HOUR)
