"""Confirmations that are held, in the table of the tokens, and who has to queue up behind them."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from pynamodb.attributes import BooleanAttribute, UnicodeAttribute, UnicodeSetAttribute

from chalicelib.audience.model import Request
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Check, Delete, Update, Write

_PARTITION = "held"
_BACKLOG = "backlog"
# Longer than a worker may take to send a mail.
_CLAIM = timedelta(minutes=5)
# Beyond this many networks, everybody queues up: the row is read for each confirmation and must stay small.
_MOST_NETWORKS = 200


class HeldRow(tables.Row):
    """In one partition, by the id of the subscriber, which begins with the time of their first sign-up: a query finds
    the oldest first. Without an expiry: it stays until the mail is sent or the person is gone. `network` is a
    pseudonym; `request_id` is the latest request that was held, which whoever ends this row has to have seen;
    `claimed_until` is set while a worker sends the mail."""

    class Meta:
        table_name = tables.name("tokens")

    partition = UnicodeAttribute(hash_key=True, attr_name="subscriber_id")
    owner = UnicodeAttribute(range_key=True, attr_name="kind")
    held_at = UnicodeAttribute()
    request_id = UnicodeAttribute()
    network = UnicodeAttribute(null=True)
    claimed_until = UnicodeAttribute(null=True)

    def is_claimed(self, now: datetime) -> bool:
        return self.claimed_until is not None and clock.parse(self.claimed_until) > now


class BacklogRow(tables.Row):
    class Meta:
        table_name = tables.name("tokens")

    partition = UnicodeAttribute(hash_key=True, attr_name="subscriber_id")
    kind = UnicodeAttribute(range_key=True)
    everybody = BooleanAttribute(null=True)
    networks = UnicodeSetAttribute(null=True)


class Backlog(Struct, frozen=True):
    """Whose new confirmations have to wait until older ones are mailed."""

    everybody: bool = False
    networks: frozenset[str] = frozenset()

    def includes(self, network: str | None) -> bool:
        return self.everybody or network in self.networks


def find(subscriber_id: str) -> HeldRow | None:
    return tables.get(HeldRow, _PARTITION, subscriber_id)


def list_oldest_first(most: int | None = None) -> Iterator[HeldRow]:
    yield from tables.query(HeldRow, _PARTITION, consistent_read=True, limit=most)


def describe(subscriber_id: str) -> dict[str, str | None] | None:
    """For the person to download."""
    row = find(subscriber_id)
    return {"held_at": row.held_at, "network": row.network} if row else None


def hold_write(subscriber_id: str, request: Request, network: str | None, now: datetime) -> Write:
    """Held again, it keeps its place. A claim ends: what that worker sends is not what is to be sent now."""
    actions: list[Any] = [
        HeldRow.held_at.set(HeldRow.held_at | clock.text(now)),
        HeldRow.request_id.set(request.id),
        HeldRow.claimed_until.remove(),
    ]
    actions.append(HeldRow.network.set(network) if network else HeldRow.network.remove())
    return Update(HeldRow(_PARTITION, subscriber_id), actions)


def claim_write(row: HeldRow, now: datetime) -> Write:
    """For one worker at a time. A worker that dies leaves a claim that ends by itself."""
    row.claimed_until = clock.text(now + _CLAIM)
    free = HeldRow.claimed_until.does_not_exist() | (HeldRow.claimed_until <= clock.text(now))
    actions = [HeldRow.claimed_until.set(row.claimed_until)]
    return Update(HeldRow(_PARTITION, row.owner), actions, _is_unchanged(row) & free)


def settle(row: HeldRow) -> None:
    """After the mail was sent, unless the person has signed up again meanwhile."""
    try:
        tables.delete(HeldRow(_PARTITION, row.owner), HeldRow.claimed_until == row.claimed_until)
    except Stale:
        return


def return_claim(row: HeldRow) -> None:
    """The mail could not be sent: the next attempt need not wait for the end of this claim."""
    try:
        tables.update(
            HeldRow(_PARTITION, row.owner),
            [HeldRow.claimed_until.remove()],
            HeldRow.claimed_until == row.claimed_until,
        )
    except Stale:
        return


def delete_write(subscriber_id: str) -> Write:
    return Delete(HeldRow(_PARTITION, subscriber_id))


def end_write(row: HeldRow) -> Write:
    """Fails if something newer has been held since the row was read."""
    return Delete(HeldRow(_PARTITION, row.owner), _is_unchanged(row))


def check_not_held_write(subscriber_id: str) -> Write:
    return Check(HeldRow(_PARTITION, subscriber_id), HeldRow.held_at.does_not_exist())


def _is_unchanged(row: HeldRow) -> Any:
    return HeldRow.request_id == row.request_id


def find_backlog() -> Backlog:
    row = tables.get(BacklogRow, _BACKLOG, _PARTITION)
    return Backlog(bool(row.everybody), frozenset(row.networks or ())) if row else Backlog()


def join_backlog(network: str | None) -> None:
    """Those who come from this network, or everybody, wait behind the one that has just been held."""
    action = BacklogRow.networks.add({network}) if network else BacklogRow.everybody.set(True)
    tables.update(BacklogRow(_BACKLOG, _PARTITION), [action])


def replace_backlog(everybody: bool, networks: Iterable[str]) -> None:
    """What a release found. One that is held at the same moment may be forgotten here: it keeps its own place, and at
    worst somebody newer is mailed before it."""
    found = set(networks)
    everybody = everybody or len(found) > _MOST_NETWORKS
    row = BacklogRow(_BACKLOG, _PARTITION)
    if everybody or found:
        row.everybody, row.networks = everybody, None if everybody else found
        tables.put(row)
    else:
        tables.delete(row)
