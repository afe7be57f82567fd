"""Who has which address. The row's key makes the address unique; it is deleted with its subscriber."""

from collections.abc import Iterable
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
    """The id of the person who has this address; None if it is free, or held by an expired sign-up."""
    row = tables.get(EmailRow, address_key)
    return row.subscriber_id if row and not (row.free_from and row.free_from <= clock.text(now)) else None


def find_holder(address_key: str) -> str | None:
    """The id of whoever the row names, also of a sign-up that has expired and waits for the clean-up."""
    row = tables.get(EmailRow, address_key)
    return row.subscriber_id if row else None


def check_free_write(address_key: str, now: datetime) -> Write:
    """Nobody has claimed it since it was looked up."""
    return Check(EmailRow(address_key), _is_free(now))


def claim_write(subscriber: Subscriber, until: datetime, expires_at: int, now: datetime) -> Write:
    """For a sign-up, until then. If the condition fails, the failure shows who has the address."""
    row = _row(subscriber)
    row.subscriber_id, row.free_from, row.expires_at = subscriber.id, clock.text(until), expires_at
    return Put(row, _is_free(now), show=True)


def take_write(subscriber: Subscriber, now: datetime) -> Write:
    """Permanently, for somebody who need not confirm."""
    row = _row(subscriber)
    row.subscriber_id = subscriber.id
    return Put(row, _is_free(now), show=True)


def list_rows(address_keys: Iterable[str]) -> list[EmailRow]:
    """Of those addresses that have one."""
    return tables.get_many(EmailRow, address_keys)


def extend_write(subscriber: Subscriber, until: datetime, expires_at: int) -> Write:
    actions = [EmailRow.free_from.set(clock.text(until)), EmailRow.expires_at.set(expires_at)]
    return Update(_row(subscriber), actions, _is_owner(subscriber.id))


def settle_write(subscriber: Subscriber) -> Write:
    """The address is theirs permanently."""
    return Update(
        _row(subscriber), [EmailRow.free_from.remove(), EmailRow.expires_at.remove()], _is_owner(subscriber.id)
    )


def swap_writes(subscriber: Subscriber, new_key: str, now: datetime) -> list[Write]:
    """Nothing if the key is the same, as when only capitals change."""
    if addresses.key(subscriber.email) == new_key:
        return []
    return [Put(EmailRow(new_key, subscriber_id=subscriber.id), _is_free(now), show=True), delete_write(subscriber)]


def delete_write(subscriber: Subscriber) -> Write:
    return Delete(_row(subscriber), _is_owner(subscriber.id))


def delete_writes_if_owned(subscriber: Subscriber) -> list[Write]:
    """Nothing if somebody else has claimed the address since it became free."""
    row = tables.get(EmailRow, addresses.key(subscriber.email))
    return [delete_write(subscriber)] if row and row.subscriber_id == subscriber.id else []


def _row(subscriber: Subscriber) -> EmailRow:
    return EmailRow(addresses.key(subscriber.email))


def _is_owner(subscriber_id: str) -> Any:
    return EmailRow.subscriber_id == subscriber_id


def _is_free(now: datetime) -> Any:
    return EmailRow.address.does_not_exist() | (EmailRow.free_from <= clock.text(now))
