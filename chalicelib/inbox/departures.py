"""What this room does when a member downloads their data or leaves (a `Keeper` of `members/member_data`)."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from chalicelib.inbox import entry_store, expiry, item_store, listing_store, serializers, service
from chalicelib.inbox.model import Entry, Seen

_TOGETHER = 100


def about(member_id: str) -> Iterator[Any]:
    """Every entry, and what is stored of those that were dismissed."""
    received = entry_store.list_all(member_id)
    while together := list(islice(received, _TOGETHER)):
        entries = [found for found in together if isinstance(found, Entry)]
        yield from map(serializers.kept_entry, service.with_items(entries))
        yield from (serializers.seen_item(found) for found in together if isinstance(found, Seen))


def forget(member_id: str, time_left: Callable[[], bool]) -> bool:
    """Delete everything the member has ever received, and the items that nobody else has."""
    while time_left():
        ids = [found.id for found in islice(entry_store.list_all(member_id), _TOGETHER)]
        if not ids:
            return True
        _forget_items(member_id, ids)
        entry_store.delete_all(member_id, ids)
    return False


def _forget_items(member_id: str, ids: Sequence[str]) -> None:
    """Before the rows that lead to them, so that after a crash the next look finds both."""
    for id, version in item_store.find_versions(ids).items():
        if not listing_store.is_held(id, apart_from=member_id):
            expiry.delete_item(version)
