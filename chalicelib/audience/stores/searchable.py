"""What a subscriber's row has for searches, built here and nowhere else: every write that changes an address or a
nickname takes it from here."""

from typing import Any

from chalicelib.audience import folding
from chalicelib.audience.model import Subscriber
from chalicelib.audience.stores.subscriber_row import SubscriberRow


def with_attributes(row: SubscriberRow) -> SubscriberRow:
    """A new row, complete."""
    row.shard, row.folded = folding.shard_of(row.id), folding.fold_person(row.email, row.nickname)
    return row


def actions(id: str, email: str, nickname: str | None) -> list[Any]:
    """Of a row that becomes one that is searched, whatever it was before."""
    folded = SubscriberRow.folded.set(folding.fold_person(email, nickname))
    return [SubscriberRow.shard.set(folding.shard_of(id)), folded]


def rename_actions(subscriber: Subscriber, email: str, nickname: str | None) -> list[Any]:
    """Of a row with another address or nickname. One that has yet to be filled in is left to that: it is counted
    there too."""
    return [SubscriberRow.folded.set(folding.fold_person(email, nickname))] if subscriber.shard else []
