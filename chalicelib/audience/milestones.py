"""What has happened at least once since this publication began. It is found out when somebody looks, and then kept,
because the people by whom it can be seen may leave, and nothing is kept of them."""

from chalicelib.audience import recipients
from chalicelib.audience.stores import milestones as store
from chalicelib.kernel import addresses
from chalicelib.kernel.errors import Invalid

_SAMPLED = 20


def list_reached() -> frozenset[str]:
    return store.list_reached()


def reach(name: str) -> None:
    store.add(name)


def has_sign_up() -> bool:
    """Whether one of the newest people signed up here, rather than being imported or added by hand. A few reads,
    however many people there are."""
    return not store.are_all_imported(_SAMPLED)


def has_subscribed(email: str) -> bool:
    """Whether somebody with this address gets campaigns."""
    try:
        subscriber_id = recipients.find_id(addresses.parse(email))
    except Invalid:
        return False
    return bool(subscriber_id and recipients.look_up([subscriber_id]))
