"""How often readers may ask for something that sends mail or answers whether an address is taken.

Counted per client, per address and per reader, and without storing any of them (`kernel/limits`).
"""

from chalicelib.audience.model import Subscriber
from chalicelib.kernel import limits
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.wording import for_readers

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400

SIGN_UPS_PER_CLIENT = 5
LINKS_PER_CLIENT = 30
LINKS_PER_ADDRESS = 3
LIFTS_PER_ADDRESS = 1
CHANGES_PER_CLIENT = 10
CHANGES_PER_RECIPIENT = 3
# An address that is taken is refused without using up the link, which tells a reader who else reads this: three
# mistakes are a person's, a list of addresses is not.
ADDRESSES_PER_LINK = 3
ADDRESSES_PER_READER = 5
_TOO_MANY_WITH_LINK = for_readers("Too many addresses were tried with this link")
_TOO_MANY_TODAY = for_readers("Too many addresses were tried today")


def spend_sign_up(client: str) -> None:
    limits.spend("subscribe", client, SIGN_UPS_PER_CLIENT, _MINUTE)


def spend_profile_link(client: str, address: Address) -> None:
    """The same counts for every address, so that neither the answer nor its time reveals anything."""
    _spend_mailed_link(client)
    limits.spend("link", address.key, LINKS_PER_ADDRESS, _HOUR)


def spend_lift(client: str, address: Address) -> None:
    _spend_mailed_link(client)
    limits.spend("lift", address.key, LIFTS_PER_ADDRESS, _HOUR)


def spend_address_change(client: str, subscriber: Subscriber, link: str, address: Address) -> None:
    """`link` names the mailed link and stays the same when the page renews its token."""
    limits.spend("changes by one client", client, CHANGES_PER_CLIENT, _HOUR)
    limits.spend("addresses by one link", f"{subscriber.id} {link}", ADDRESSES_PER_LINK, _DAY, _TOO_MANY_WITH_LINK)
    limits.spend("addresses by one reader", subscriber.id, ADDRESSES_PER_READER, _DAY, _TOO_MANY_TODAY)
    limits.spend("changes to one address", address.key, CHANGES_PER_RECIPIENT, _HOUR)


def _spend_mailed_link(client: str) -> None:
    limits.spend("links by one client", client, LINKS_PER_CLIENT, _HOUR)
