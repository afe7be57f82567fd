"""Which deliveries have begun, and whom each was for in general; not who got it. Soft bounces in a row and people who
leave are counted by it."""

from datetime import datetime

import msgspec
from msgspec import Struct

from chalicelib.audience import recipients
from chalicelib.audience.model import Subscriber
from chalicelib.audience.recipients import Known, Targeting
from chalicelib.bounces import sent_store as store
from chalicelib.bounces.sent_store import Sent as Sent
from chalicelib.kernel.aws import tables


class _Terms(Struct, frozen=True):
    any: tuple[str, ...]
    all: tuple[str, ...]
    none: tuple[str, ...]


class _Targeting(Struct, frozen=True):
    """As it is kept with a delivery that has begun."""

    sources: _Terms
    tags: _Terms
    joined_from: datetime | None = None
    joined_until: datetime | None = None


def begin_write(delivery_id: str, targeting: Targeting, at: datetime) -> tables.Write:
    """For the transaction in which a delivery begins. A retry begins nothing."""
    kept = msgspec.convert(targeting, _Targeting, from_attributes=True)
    return store.begin_write(Sent(at, delivery_id, msgspec.json.encode(kept).decode()))


def list_by_id() -> dict[str, Sent]:
    """The deliveries of the last hundred days."""
    return {sent.delivery_id: sent for sent in store.list_all()}


def list_latest(since: datetime, most: int) -> list[Sent]:
    """Newest first; one request."""
    return store.list_latest(since, most)


def is_for(sent: Sent, person: Known | Subscriber) -> bool:
    """Whether they were meant, as they are now."""
    return recipients.reaches(msgspec.json.decode(sent.targeting, type=_Targeting), person)
