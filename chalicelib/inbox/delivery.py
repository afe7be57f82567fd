"""Bringing an item to the inboxes of its recipients, once each.

The row of an entry also says that its owner has received the item, and it is written only if it is not there. So
whatever is repeated, by a twin or after a crash, finds what was done before and leaves it.

An item that is known may be told by another source. Whose words it shows is for `model.replaces` to say.
"""

from collections.abc import Container, Sequence
from datetime import datetime
from typing import Any

from chalicelib.events import outbox
from chalicelib.events.model import EventType
from chalicelib.inbox import entry_store, item_store, labels, model, pictures
from chalicelib.inbox.model import DESK, Entry, Item, Recipient
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Put, Write
from chalicelib.kernel.errors import Unavailable

# Well below the hundred writes of a transaction: one recipient who has it already repeats all of them.
_TOGETHER = 20


def deliver(item: Item, recipients: Sequence[Recipient], received_at: datetime, is_told: bool = True) -> list[str]:
    """The owners who had not received it before. Unless somebody tells it now, it is trusted as it was."""
    by_owner: dict[str, Recipient] = {}
    for recipient in recipients:
        by_owner.setdefault(recipient.owner, recipient)
    if is_told:
        item = model.vouch(item, by_owner)
    stored = item_store.find(item.id)
    shown = stored if stored and not model.replaces(item, stored) else item
    if by_owner and _wants_copy(shown, stored):
        pictures.copy_soon(item.id)
    entered = _enter_all(item, shown, list(by_owner.values()), received_at)
    if not entered:
        item_store.save(item)
    if stored and shown is item:
        _take_over(stored, item, [owner for owner in by_owner if owner not in entered])
    if DESK in entered:
        outbox.relay_soon(item.id)
    return entered


def _wants_copy(shown: Item, stored: Item | None) -> bool:
    """Also if there is a copy of what another source showed."""
    is_other = bool(stored and stored.picture and stored.image != shown.image)
    return is_other or bool(shown.image and not shown.picture)


def _take_over(stored: Item, item: Item, owners: Sequence[str]) -> None:
    """What is left of other words. A crash before leaves the copy to the message that was sent, and the entries to be
    found by the words they came with."""
    if stored.picture and stored.creator_id != item.creator_id:
        pictures.hide_other(item.id)
    if labels.differ(stored, item):
        labels.renew(stored, owners)


def _enter_all(item: Item, shown: Item, recipients: Sequence[Recipient], received_at: datetime) -> list[str]:
    entered: list[str] = []
    for start in range(0, len(recipients), _TOGETHER):
        entered += _enter(item, shown, recipients[start : start + _TOGETHER], received_at)
    return entered


def _enter(item: Item, shown: Item, recipients: Sequence[Recipient], received_at: datetime) -> list[str]:
    """One transaction, repeated without those who have it already. The item is part of it, so that nobody deletes it
    at this moment because nobody has it."""
    folded = labels.fold(shown)
    entering = {one.owner: _entry_write(_entry(shown, one, received_at), one.returns, folded) for one in recipients}
    item_write = item_store.save_write(item)
    while entering:
        try:
            tables.transact(item_write, *entering.values(), *event_writes(shown, entering))
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
