"""Soft bounces in a row: a mailbox that was full for one campaign is none of our business, one that is full for five
campaigns is abandoned. Nothing is counted where `BOUNCES` is `keep`."""

from collections.abc import Mapping
from datetime import datetime

from chalicelib.audience import erasure, model, pausing, recipients
from chalicelib.audience.recipients import Known
from chalicelib.bounces import sent
from chalicelib.bounces import streak_store as store
from chalicelib.bounces.sent import Sent
from chalicelib.bounces.streak_store import Streak
from chalicelib.events import outbox
from chalicelib.kernel import clock, ids, log, pseudonyms, settings
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import retry_stale

ENOUGH = 5


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
    begun = sent.list_by_id()
    this = begun.get(delivery_id)
    if not person or not this or not person.may_pause(this.at):
        return
    before = store.find(subscriber_id, now)
    pseudonym = pseudonyms.derive("streak", address_key)[:16]
    last = begun.get(before.last) if before and before.address == pseudonym else None
    if last and this.order <= last.order:
        return
    campaigns = before.campaigns + 1 if before and last and not _arrived_between(last, this, begun, person) else 1
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


def _arrived_between(last: Sent, this: Sent, begun: Mapping[str, Sent], person: Known) -> bool:
    """A campaign for this person that did not bounce."""
    between = (other for other in begun.values() if last.order < other.order < this.order)
    return any(sent.is_for(other, person) for other in between)
