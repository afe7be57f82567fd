"""What other rooms may ask: is something about this still to be told, and can it be told now?"""

from chalicelib.events import relay, store


def has_pending(aggregate_id: str) -> bool:
    return bool(store.list_pending(aggregate_id, after="0", most=1))


def ensure_relayed(aggregate_id: str) -> bool:
    """Before something is removed: True once nothing about it waits; False means try again later."""
    if not has_pending(aggregate_id):
        return True
    relay.tell([aggregate_id])
    return not has_pending(aggregate_id)
