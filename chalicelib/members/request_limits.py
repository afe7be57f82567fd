"""How often somebody may try to get in, and ask for mails.

Counted per client, per address and per member, and without storing any of them (`kernel/limits`). Every attempt
counts, also a right one.
"""

from chalicelib.kernel import limits
from chalicelib.members.model import Member

_MINUTE, _HOUR = 60, 3600

SIGN_UPS_PER_CLIENT = 5
SIGN_INS_PER_CLIENT = 5
SIGN_INS_PER_ADDRESS = 10
RESETS_PER_CLIENT = 30
RESETS_PER_ADDRESS = 3
VERIFICATIONS_PER_MEMBER = 3


def spend_sign_up(client: str) -> None:
    limits.spend("member sign-ups by one client", client, SIGN_UPS_PER_CLIENT, _MINUTE)


def spend_password(client: str, address_key: str) -> None:
    """One try of a password: at signing in, and where a member has to repeat it, so that a stolen session cannot be
    used to guess it. Whoever is over their own limit does not use up the limit of the address."""
    limits.spend("sign-ins by one client", client, SIGN_INS_PER_CLIENT, _MINUTE)
    limits.spend("sign-ins to one address", address_key, SIGN_INS_PER_ADDRESS, _HOUR)


def spend_reset(client: str, address_key: str) -> None:
    """The same counts for every address, so that neither the answer nor its time reveals anything."""
    limits.spend("resets by one client", client, RESETS_PER_CLIENT, _HOUR)
    limits.spend("resets of one address", address_key, RESETS_PER_ADDRESS, _HOUR)


def spend_verification(member: Member) -> None:
    limits.spend("verifications of one member", member.id, VERIFICATIONS_PER_MEMBER, _HOUR)
