"""Who has which address. The key is what makes an address unique; it lives and dies with its subscriber."""

from datetime import datetime
from typing import Any

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.audience.model import Subscriber
from chalicelib.kernel import addresses, clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.tables import Check, Delete, Put, Update, Write


class EmailRow(tables.Row):
    class Meta:
        table_name = tables.name("emails")

    address = UnicodeAttribute(hash_key=True)
    subscriber_id = UnicodeAttribute()
    free_from = UnicodeAttribute(null=True)
    expires_at = NumberAttribute(null=True)


def find_owner(address_key: str, now: datetime) -> str | None:
    """The id of who has this address; None when it is free, or only held by a sign-up that has expired."""
    row = tables.get(EmailRow, address_key)
    return row.subscriber_id if row and not (row.free_from and row.free_from <= clock.text(now)) else None


def check_free_write(address_key: str, now: datetime) -> Write:
    """Nobody has taken it since it was looked up."""
    return Check(EmailRow(address_key), _free(now))


def claim_write(subscriber: Subscriber, until: datetime, gone: int, now: datetime) -> Write:
    """For a sign-up, until then; who has the address already is shown."""
    row = _row(subscriber)
    row.subscriber_id, row.free_from, row.expires_at = subscriber.id, clock.text(until), gone
    return Put(row, _free(now), show=True)


def extend_write(subscriber: Subscriber, until: datetime, gone: int) -> Write:
    actions = [EmailRow.free_from.set(clock.text(until)), EmailRow.expires_at.set(gone)]
    return Update(_row(subscriber), actions, _owned(subscriber.id))


def settle_write(subscriber: Subscriber) -> Write:
    """Theirs for good."""
    return Update(
        _row(subscriber), [EmailRow.free_from.remove(), EmailRow.expires_at.remove()], _owned(subscriber.id)
    )


def swap_writes(subscriber: Subscriber, new_key: str, now: datetime) -> list[Write]:
    """Nothing, when only capitals changed: it is the same key."""
    if addresses.key(subscriber.email) == new_key:
        return []
    return [Put(EmailRow(new_key, subscriber_id=subscriber.id), _free(now), show=True), delete_write(subscriber)]


def delete_write(subscriber: Subscriber) -> Write:
    return Delete(_row(subscriber), _owned(subscriber.id))


def delete_writes_if_owned(subscriber: Subscriber) -> list[Write]:
    """Nothing, if somebody signed up anew with the address once it was free."""
    row = tables.get(EmailRow, addresses.key(subscriber.email))
    return [delete_write(subscriber)] if row and row.subscriber_id == subscriber.id else []


def _row(subscriber: Subscriber) -> EmailRow:
    return EmailRow(addresses.key(subscriber.email))


def _owned(subscriber_id: str) -> Any:
    return EmailRow.subscriber_id == subscriber_id


def _free(now: datetime) -> Any:
    return EmailRow.address.does_not_exist() | (EmailRow.free_from <= clock.text(now))
