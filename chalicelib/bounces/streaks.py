"""Soft bounces in a row: a mailbox that was full for one campaign is none of our business, one that is full for five
campaigns is abandoned. Nothing is counted where `BOUNCES` is `keep`."""

from collections.abc import Mapping
from datetime import datetime

import msgspec
from msgspec import Struct

from chalicelib.audience import erasure, model, pausing, recipients
from chalicelib.audience.recipients import Known, Targeting
from chalicelib.bounces import streak_store as store
from chalicelib.bounces.streak_store import Sent, Streak
from chalicelib.events import outbox
from chalicelib.kernel import clock, ids, log, pseudonyms, settings
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import retry_stale

ENOUGH = 5


class _Terms(Struct, frozen=True):
    any: tuple[str, ...]
    all: tuple[str, ...]
    none: tuple[str, ...]


class _Targeting(Struct, frozen=True):
    """As it is kept with a delivery that was sent."""

    sources: _Terms
    tags: _Terms
    joined_from: datetime | None = None
    joined_until: datetime | None = None


def note_sent(delivery_id: str, targeting: Targeting) -> None:
    """That a campaign is being sent, and to whom in general; not who gets it."""
    if settings.current().bounces == "keep":
        return
    kept = msgspec.convert(targeting, _Targeting, from_attributes=True)
    store.note_sent(delivery_id, msgspec.json.encode(kept).decode(), clock.now())


def count(address: Address, delivery_id: str | None) -> None:
    """A mail of this delivery bounced softly. The same report again, or one that comes after that of a later
    campaign, changes nothing."""
    if settings.current().bounces == "keep" or not delivery_id or not ids.is_id(delivery_id):
        return
    subscriber_id = recipients.find_id(address)
    if subscriber_id:
        retry_stale(lambda: _count(subscriber_id, address.key, delivery_id))


def _count(subscriber_id: str, address_key: str, delivery_id: str) -> None:
    now = clock.now()
    person = recipients.look_up([subscriber_id]).get(subscriber_id)
    sent = store.list_sent()
    this = sent.get(delivery_id)
    if not person or not this or not person.may_pause(this.at):
        return
    before = store.find(subscriber_id, now)
    pseudonym = pseudonyms.derive("streak", address_key)[:16]
    last = sent.get(before.last) if before and before.address == pseudonym else None
    if last and this.order <= last.order:
        return
    campaigns = before.campaigns + 1 if before and last and not _arrived_between(last, this, sent, person) else 1
    streak = Streak(subscriber_id, pseudonym, campaigns, delivery_id)
    if campaigns < ENOUGH:
        tables.transact(store.save_write(streak, before, now))
    else:
        _end(streak, address_key, now)


def _end(streak: Streak, address_key: str, now: datetime) -> None:
    log.metric("SoftBouncesInARow")
    if settings.current().bounces == "remove":
        erasure.remove_bounced(streak.subscriber_id, address_key, now)
        return
    pause = pausing.pause_writes(streak.subscriber_id, model.SOFT_BOUNCES, now, address_key)
    if pause:
        tables.transact(store.delete_write(streak.subscriber_id), *pause)
        outbox.relay_soon(streak.subscriber_id)


def _arrived_between(last: Sent, this: Sent, sent: Mapping[str, Sent], person: Known) -> bool:
    """A campaign for this person that did not bounce."""
    between = (other for other in sent.values() if last.order < other.order < this.order)
    targetings = (msgspec.json.decode(other.targeting, type=_Targeting) for other in between)
    return any(recipients.reaches(targeting, person) for targeting in targetings)
