"""Bringing an item to the inboxes of its recipients, once each.

The row of an entry also says that its owner has received the item, and it is written only if it is not there. So
whatever is repeated, by a twin or after a crash, finds what was done before and leaves it.
"""

from collections.abc import Container, Sequence
from datetime import datetime
from typing import Any

from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.inbox import entry_store, item_store, pictures, search
from chalicelib.inbox.model import DESK, Entry, Item, Recipient
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Put, Write
from chalicelib.kernel.errors import Unavailable

# Well below the hundred writes of a transaction: one recipient who has it already repeats all of them.
_TOGETHER = 20


def deliver(item: Item, recipients: Sequence[Recipient], received_at: datetime) -> list[str]:
    """The owners who had not received it before."""
    by_owner: dict[str, Recipient] = {}
    for recipient in recipients:
        by_owner.setdefault(recipient.owner, recipient)
    different = list(by_owner.values())
    if by_owner and item.image and not item.picture:
        pictures.copy_soon(item.id)
    entered: list[str] = []
    for start in range(0, len(different), _TOGETHER):
        entered += _enter(item, different[start : start + _TOGETHER], received_at)
    if not entered:
        item_store.save(item)
    if DESK in entered:
        outbox.relay_soon(item.id)
    return entered


def _enter(item: Item, recipients: Sequence[Recipient], received_at: datetime) -> list[str]:
    """One transaction, repeated without those who have it already. The item is part of it, so that nobody deletes it
    at this moment because nobody has it."""
    folded = search.fold_item(item.title, item.creator)
    entering = {one.owner: _entry_write(_entry(item, one, received_at), one.returns, folded) for one in recipients}
    item_write = item_store.save_write(item)
    while entering:
        try:
            tables.transact(item_write, *entering.values(), *event_writes(item, entering))
            return list(entering)
        except Stale as stale:
            if not any(stale.found):
                raise Unavailable("The database is busy") from stale
            has_newer, *had_already = stale.found[: 1 + len(entering)]
            if has_newer:
                item_write = item_store.touch_write(item.id)
            entering = _without(entering, had_already)
    return []


def _without(entering: dict[str, Write], had_already: Sequence[Any]) -> dict[str, Write]:
    return {owner: write for (owner, write), row in zip(entering.items(), had_already, strict=True) if row is None}


def event_writes(item: Item, owners: Container[str]) -> list[Put]:
    """Events go to the publication's own systems: what members receive is not told."""
    if DESK not in owners:
        return []
    payload = {"entry_id": item.id, "provider": item.provider.value, "content_type": item.content_type.value}
    return [outbox.event_write(EventType.ITEM_RECEIVED, item.id, payload)]


def _entry_write(entry: Entry, returns: bool, folded: str) -> Write:
    return entry_store.return_write(entry, folded) if returns else entry_store.enter_write(entry, folded)


def _entry(item: Item, recipient: Recipient, received_at: datetime) -> Entry:
    return Entry(
        owner=recipient.owner,
        id=item.id,
        state=recipient.state,
        received_at=received_at,
        provider=item.provider,
        content_type=item.content_type,
        follow_id=recipient.follow_id or None,
        note=recipient.note,
        suggestion=recipient.suggestion,
    )
