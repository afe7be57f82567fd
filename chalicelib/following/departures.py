"""What this room does when a member downloads their data or leaves (a `Keeper` of `members/member_data`)."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from chalicelib.following import connections, messages, notifications, serializers
from chalicelib.following.model import Followed
from chalicelib.following.stores import connections as connection_store
from chalicelib.following.stores import creators, followers, follows
from chalicelib.following.stores import notifications as notification_store
from chalicelib.kernel.aws import tables

_TOGETHER = 25


def about(member_id: str) -> Iterator[Any]:
    """Every connection without its tokens, every follow, also those that have ended, and every notification."""
    for connection in connection_store.list_by_owner(member_id):
        yield msgspec.to_builtins(serializers.connection_body(connection))
    listed = list(follows.list_all(member_id))
    known = creators.find_many({follow.creator_id for follow in listed})
    for follow in listed:
        yield msgspec.to_builtins(serializers.follow_body(Followed(follow, known.get(follow.creator_id))))
    place = None
    while True:
        page = notifications.list_page(member_id, _TOGETHER, place)
        yield from (msgspec.to_builtins(serializers.notification_body(told)) for told in page.items)
        if page.next_place is None:
            return
        place = page.next_place


def forget(member_id: str, time_left: Callable[[], bool]) -> bool:
    """Tokens first, then the rest. A creator that nobody follows any more is noticed by its next poll."""
    connections.forget(member_id)
    messages.forget_owner_later(member_id)
    for follow in follows.list_all(member_id):
        if not time_left():
            return False
        tables.transact(followers.delete_write(follow.creator_id, member_id), follows.delete_write(follow))
    while notification_store.delete_all(member_id, _TOGETHER):
        if not time_left():
            return False
    return True
