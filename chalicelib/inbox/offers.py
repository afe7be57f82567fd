"""What members share with the desk, as writes for the transactions of the room that knows them: to the desk it is an
item like any other. It has what was chosen to be shown, and nothing that leads to a member or to a moment.

    standing = offers.find(offer.item_id)
    tables.transact(…, *offers.offer_writes(offer, standing))

When it is withdrawn, it is to be taken out of campaigns that are not sent yet, too:

    offers.recall_later([item_id])
    tables.transact(…, *offers.withdraw_writes(item_id, standing))
    offers.recall([item_id])
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct

from chalicelib.events import outbox
from chalicelib.inbox import delivery, entry_store, item_store, model, offer_store, search, use_store
from chalicelib.inbox.model import DESK, ContentType, Entry, Item, Provider, State, Trust
from chalicelib.inbox.offer_store import Standing as Standing
from chalicelib.kernel import clock, log
from chalicelib.kernel.aws import queues
from chalicelib.kernel.aws.tables import Write
from chalicelib.kernel.errors import Unavailable
from chalicelib.media import service as media

# Another queue would cost money while nothing happens; that of members is not polled without them.
QUEUE = "feed"
RECALL = "recall"
# How many writes one offer adds to a transaction that deletes what it is about.
DELETE_WRITES = 4
# Longer than a function takes that has sent the message and is about to commit.
_SURELY_COMMITTED = 180


class Offer(Struct, frozen=True):
    """`id` names it to the desk. An empty place or credit is not shown."""

    id: str
    title: str
    place: str
    credit: str
    shared_at: datetime
    picture_id: str | None = None

    @property
    def item_id(self) -> str:
        return item_id(self.id)


def item_id(id: str) -> str:
    return model.item_id(Provider.SIGHTING, id)


def find(item_id: str) -> Standing:
    return offer_store.find(item_id)


def find_missing(item_ids: Sequence[str]) -> set[str]:
    """Those that are not among the desk's items."""
    return set(item_ids) - item_store.find_many(item_ids).keys()


def are_complete() -> bool:
    """Whether everything that was shared before there were offers has been offered."""
    return offer_store.are_complete()


def mark_complete() -> None:
    offer_store.mark_complete()


def offer_writes(offer: Offer, standing: Standing) -> list[Write]:
    """Whether it is new, shared again, or changed: the desk's item is what is offered now. An entry that it has stays
    where it is, and one that it has dismissed stays dismissed. They fail if the desk moves it at this moment."""
    item, folded = _item(offer), search.fold_item(offer.title, offer.credit)
    writes: list[Write] = [item_store.replace_write(item)]
    if offer.picture_id or standing.is_received:
        writes.append(media.show_write(item.id, offer.picture_id))
    if standing.is_withdrawn:
        writes.append(use_store.readmit_write(item.id))
    if standing.is_received:
        return [*writes, offer_store.words_write(item.id, folded, standing.is_held)]
    entered = entry_store.enter_write(_entry(item), folded)
    return [*writes, entered, *delivery.event_writes(item, (DESK,))]


def withdraw_writes(item_id: str, standing: Standing) -> list[Write]:
    """They fail if the desk moves it at this moment."""
    leaving = [offer_store.withdraw_write(item_id, standing.is_held)] if standing.is_received else []
    return [*_gone_writes(item_id), *leaving]


def delete_writes(item_id: str) -> list[Write]:
    """For what can never be shared again: nothing is left that says the desk had it. They never fail."""
    return [*_gone_writes(item_id), offer_store.delete_write(item_id)]


def announce_soon(item_id: str) -> None:
    """After the transaction that offered it."""
    outbox.relay_soon(item_id)


def recall_later(item_ids: Sequence[str]) -> None:
    """Before the transaction that withdraws them, so that no crash after it leaves one in a draft. What is still
    offered then stays."""
    if item_ids:
        _queue(item_ids, _SURELY_COMMITTED)


def recall_soon(item_ids: Sequence[str]) -> None:
    """After the transaction, for functions that may not change campaigns."""
    if item_ids:
        _hurry(_queue, item_ids)


def recall(item_ids: Sequence[str]) -> None:
    """After the transaction: take them out of unsent campaigns at once."""
    from chalicelib.inbox import recalls

    if item_ids:
        _hurry(recalls.recall_all, item_ids)


def _hurry(act: Callable[[Sequence[str]], None], item_ids: Sequence[str]) -> None:
    """What had to be stored is stored, and `recall_later` makes up for what fails now."""
    try:
        act(item_ids)
    except Unavailable as failure:
        log.exception("offer.not_recalled_yet", failure, item_ids=list(item_ids))


def _queue(item_ids: Sequence[str], delay: int = 0) -> None:
    queues.send(QUEUE, {"kind": RECALL, "items": list(item_ids)}, delay)


def _gone_writes(item_id: str) -> list[Write]:
    return [item_store.delete_write(item_id), media.show_write(item_id, None), use_store.withdraw_write(item_id)]


def _item(offer: Offer) -> Item:
    """It has no page of its own, and tells no time but that of sharing."""
    return Item(
        id=offer.item_id,
        provider=Provider.SIGHTING,
        provider_item_id=offer.id,
        content_type=ContentType.SIGHTING,
        title=offer.title,
        canonical_url="",
        refreshed_at=offer.shared_at,
        creator=offer.credit,
        excerpt=offer.place,
        trust=Trust.PROVIDER,
    )


def _entry(item: Item) -> Entry:
    return Entry(DESK, item.id, State.INBOX, clock.now(), item.provider, item.content_type)
