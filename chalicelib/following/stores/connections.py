"""Connections to accounts in DynamoDB, one an owner and provider, with sealed tokens; and the states of sign-ins at a
provider that have begun. This table is not backed up: a token that was deleted is nowhere any more."""

import hashlib
from collections.abc import Iterator
from datetime import datetime, timedelta

from msgspec import Struct
from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.following.model import ConnectionStatus
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale

STATE_LIFE = timedelta(minutes=30)

_PART, _STATE = "connection ", "state "


class Connection(Struct, frozen=True):
    """Tokens are sealed. `version` grows with every write. `refused_at` is when the provider first refused to renew
    it, and `retried_at` when it was asked once more; `unreadable` counts attempts at opening its tokens that failed.
    `warned` is how many days before its end the owner was last told."""

    owner: str
    provider: Provider
    id: str
    status: ConnectionStatus
    access_token: str
    refresh_token: str
    token_expires_at: datetime
    connected_at: datetime
    version: int = 1
    account_id: str = ""
    scopes: str = ""
    last_refreshed_at: datetime | None = None
    consent_ends_at: datetime | None = None
    refused_at: datetime | None = None
    retried_at: datetime | None = None
    unreadable: int = 0
    warned: int = 0


class ConnectionRow(tables.Row):
    class Meta:
        table_name = tables.name("connections")

    owner = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    id = UnicodeAttribute()
    status = UnicodeAttribute()
    access_token = UnicodeAttribute(null=True)
    refresh_token = UnicodeAttribute(null=True)
    token_expires_at = UnicodeAttribute()
    connected_at = UnicodeAttribute()
    version = NumberAttribute()
    account_id = UnicodeAttribute(null=True)
    scopes = UnicodeAttribute(null=True)
    last_refreshed_at = UnicodeAttribute(null=True)
    consent_ends_at = UnicodeAttribute(null=True)
    refused_at = UnicodeAttribute(null=True)
    retried_at = UnicodeAttribute(null=True)
    unreadable = NumberAttribute(null=True)
    warned = NumberAttribute(null=True)


class StateRow(tables.Row):
    class Meta:
        table_name = tables.name("connections")

    owner = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    provider = UnicodeAttribute()
    until = UnicodeAttribute()
    expires_at = NumberAttribute()


def find(owner: str, provider: Provider) -> Connection | None:
    row = tables.get(ConnectionRow, owner, _PART + provider)
    return _connection(row) if row else None


def list_by_owner(owner: str) -> list[Connection]:
    span = ConnectionRow.part.startswith(_PART)
    return [
        _connection(row) for row in tables.query(ConnectionRow, owner, range_key_condition=span, consistent_read=True)
    ]


def list_all() -> Iterator[Connection]:
    """Everybody's; for the daily job."""
    return map(_connection, tables.scan(ConnectionRow, filter_condition=ConnectionRow.part.startswith(_PART)))


def save(connection: Connection, before: Connection | None) -> None:
    """`Stale` if it was changed since `before` was read."""
    tables.put(_row(connection), _unchanged(before))


def remove(connection: Connection) -> None:
    """`Stale` if it was changed since it was read."""
    tables.delete(ConnectionRow(connection.owner, _PART + connection.provider), _unchanged(connection))


def register_state(owner: str, provider: Provider, state: str, now: datetime) -> None:
    until = now + STATE_LIFE
    row = StateRow(
        owner, _state_part(state), provider=provider.value, until=clock.text(until), expires_at=clock.epoch(until)
    )
    tables.put(row)


def use_state(owner: str, provider: Provider, state: str, now: datetime) -> bool:
    """Whether it is this owner's, for this provider, in time, and not used before: from now on it is."""
    valid = (StateRow.provider == provider.value) & (StateRow.until >= clock.text(now))
    try:
        tables.delete(StateRow(owner, _state_part(state)), valid)
    except Stale:
        return False
    return True


def delete_states(owner: str) -> None:
    rows = tables.query(StateRow, owner, range_key_condition=StateRow.part.startswith(_STATE))
    tables.write_all(StateRow, delete=[StateRow(owner, row.part) for row in rows])


def delete_ended_states(now: datetime) -> int:
    """Everybody's that nobody came back with in time; how many there were."""
    ended = StateRow.part.startswith(_STATE) & (StateRow.until < clock.text(now))
    rows = [StateRow(row.owner, row.part) for row in tables.scan(StateRow, filter_condition=ended)]
    tables.write_all(StateRow, delete=rows)
    return len(rows)


def _unchanged(before: Connection | None) -> Condition:
    if before is None:
        return ConnectionRow.owner.does_not_exist()
    same: Condition = (ConnectionRow.id == before.id) & (ConnectionRow.version == before.version)
    return same


def _state_part(state: str) -> str:
    return _STATE + hashlib.sha256(state.encode()).hexdigest()


def _row(connection: Connection) -> ConnectionRow:
    def text(moment: datetime | None) -> str | None:
        return clock.text(moment) if moment else None

    return ConnectionRow(
        connection.owner,
        _PART + connection.provider,
        id=connection.id,
        status=connection.status.value,
        access_token=connection.access_token or None,
        refresh_token=connection.refresh_token or None,
        token_expires_at=clock.text(connection.token_expires_at),
        connected_at=clock.text(connection.connected_at),
        version=connection.version,
        account_id=connection.account_id or None,
        scopes=connection.scopes or None,
        last_refreshed_at=text(connection.last_refreshed_at),
        consent_ends_at=text(connection.consent_ends_at),
        refused_at=text(connection.refused_at),
        retried_at=text(connection.retried_at),
        unreadable=connection.unreadable or None,
        warned=connection.warned or None,
    )


def _connection(row: ConnectionRow) -> Connection:
    def moment(stored: str | None) -> datetime | None:
        return clock.parse(stored) if stored else None

    return Connection(
        owner=row.owner,
        provider=Provider(row.part.removeprefix(_PART)),
        id=row.id,
        status=ConnectionStatus(row.status),
        access_token=row.access_token or "",
        refresh_token=row.refresh_token or "",
        token_expires_at=clock.parse(row.token_expires_at),
        connected_at=clock.parse(row.connected_at),
        version=int(row.version),
        account_id=row.account_id or "",
        scopes=row.scopes or "",
        last_refreshed_at=moment(row.last_refreshed_at),
        consent_ends_at=moment(row.consent_ends_at),
        refused_at=moment(row.refused_at),
        retried_at=moment(row.retried_at),
        unreadable=int(row.unreadable or 0),
        warned=int(row.warned or 0),
    )
