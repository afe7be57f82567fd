"""The access token of a connection: opened, renewed before it ends, by one worker at a time.

A provider that refuses to renew has been wrong before, in outages. So the first refusal makes the connection
`EXPIRED` and is told at once, one more attempt an hour later may mend it, and the tokens are kept for a week.
"""

import time
from datetime import timedelta

from msgspec.structs import replace

from chalicelib.following import notifications
from chalicelib.following.model import ConnectionStatus
from chalicelib.following.providers.contract import Down, Forbidden, GrantRefused, Tokens
from chalicelib.following.providers.registry import GRANTS
from chalicelib.following.stores import connections as store
from chalicelib.following.stores.connections import Connection
from chalicelib.kernel import ciphers, clock, locks, log
from chalicelib.kernel.aws.failures import Stale, retry_stale

KEPT_REFUSED = timedelta(days=7)
_AHEAD = timedelta(minutes=5)
_TRY_AGAIN = timedelta(hours=1)
_LOCK_SECONDS = 30
_MOST_UNREADABLE = 3
# Another worker renews it at this moment: how often, and how long, to look for what comes of it.
_LOOKS, _LOOK_SECONDS = 4, 0.5


class Unusable(Exception):
    """There is no token to be had from this connection now; its status says why."""


def open_token(connection: Connection) -> str:
    """An access token that works for minutes to come. `Unusable` if there is none; `ProviderFailed` if the provider
    could not be asked for one."""
    if not is_usable(connection):
        raise Unusable
    fresh = connection.status is ConnectionStatus.ACTIVE and connection.token_expires_at - _AHEAD > clock.now()
    return _open(connection, "access_token") if fresh else _renew(connection)


def is_usable(connection: Connection) -> bool:
    """Active, or refused an hour ago and not asked for since."""
    if connection.status is ConnectionStatus.EXPIRED:
        due = connection.refused_at is not None and clock.now() >= connection.refused_at + _TRY_AGAIN
        return due and connection.retried_at is None and bool(connection.refresh_token)
    return connection.status is ConnectionStatus.ACTIVE


def replace_rejected(connection: Connection, rejected: str) -> str:
    """The provider has answered 401 to a token that should work: another one, unless somebody has renewed it
    already."""
    current = store.find(connection.owner, connection.provider)
    if not current or not is_usable(current):
        raise Unusable
    token = open_token(current)
    return token if token != rejected else _renew(current)


def refuse(connection: Connection) -> None:
    """The provider does not accept it: the first time it may be mistaken, the second time it is believed."""
    now, again = clock.now(), connection.status is ConnectionStatus.EXPIRED
    after = replace(
        connection,
        status=ConnectionStatus.REVOKED if again else ConnectionStatus.EXPIRED,
        refused_at=connection.refused_at or now,
        retried_at=now if again else None,
        version=connection.version + 1,
    )
    try:
        store.save(after, connection)
    except Stale:
        return  # connected again meanwhile
    tell = notifications.tell_revoked if again else notifications.tell_expired
    tell(connection.owner, connection.provider)
    log.warning("connection.refused", provider=connection.provider.value, status=after.status.value)


def seal_tokens(connection: Connection, tokens: Tokens) -> Connection:
    """With these tokens. A refresh token the provider did not send again stays as it is."""
    now = clock.now()
    after = replace(
        connection,
        status=ConnectionStatus.ACTIVE,
        access_token=_seal(connection, "access_token", tokens.access_token),
        token_expires_at=now + timedelta(seconds=tokens.expires_in),
        refused_at=None,
        retried_at=None,
        unreadable=0,
    )
    if tokens.refresh_token:
        after = replace(after, refresh_token=_seal(connection, "refresh_token", tokens.refresh_token))
    if tokens.consent_ends_in is not None and connection.consent_ends_at is None:
        after = replace(after, consent_ends_at=now + timedelta(seconds=tokens.consent_ends_in))
    return after


def seal_again(connection: Connection) -> bool:
    """With the newest key, if it is not; says whether that was to be done."""
    version = ciphers.current_version()
    fields = [name for name in ("access_token", "refresh_token") if getattr(connection, name)]
    if all(ciphers.version_of(getattr(connection, name)) == version for name in fields):
        return False
    opened = {name: ciphers.open_sealed(getattr(connection, name), _context(connection, name)) for name in fields}
    sealed = {name: _seal(connection, name, text) for name, text in opened.items()}
    try:
        store.save(replace(connection, version=connection.version + 1, **sealed), connection)
    except Stale:
        return False  # renewed meanwhile, with the newest key
    return True


def revoke(connection: Connection) -> None:
    """Tell the provider, where it can be told. A token that cannot be opened or revoked ends by itself."""
    try:
        token = _open(connection, "refresh_token") if connection.refresh_token else _open(connection, "access_token")
    except Unusable:
        return
    GRANTS[connection.provider].revoke(token)


def _renew(connection: Connection) -> str:
    with locks.held(f"connection {connection.id}", _LOCK_SECONDS) as taken:
        if not taken:
            return _await_renewal(connection)
        current = store.find(connection.owner, connection.provider)
        if not current or current.id != connection.id:
            raise Unusable
        if current.version != connection.version and current.status is ConnectionStatus.ACTIVE:
            return _open(current, "access_token")
        return _ask(current)


def _ask(connection: Connection) -> str:
    try:
        tokens = GRANTS[connection.provider].renew(_open(connection, "refresh_token"))
    except GrantRefused as refusal:
        if refusal.code != "invalid_grant":
            raise Forbidden(refusal.reason) from refusal  # our own client id or secret, not the person's consent
        refuse(connection)
        raise Unusable from refusal
    _store(connection, tokens)
    if connection.status is not ConnectionStatus.ACTIVE:
        notifications.resolve_connection(connection.owner, connection.provider)
    return tokens.access_token


def _store(connection: Connection, tokens: Tokens) -> None:
    """At once: what is not written when this dies is lost, and a refresh token may be given only once. If the daily
    job has written to the row meanwhile, into the row as it is now."""
    try:
        _save_renewed(connection, tokens)
    except Stale:
        retry_stale(lambda: _save_renewed(_find_same(connection), tokens))


def _save_renewed(connection: Connection, tokens: Tokens) -> None:
    renewed = replace(seal_tokens(connection, tokens), last_refreshed_at=clock.now(), version=connection.version + 1)
    store.save(renewed, connection)


def _find_same(connection: Connection) -> Connection:
    """As it is now. `Unusable` if somebody has connected again or disconnected meanwhile."""
    current = store.find(connection.owner, connection.provider)
    if not current or (current.id, current.connected_at) != (connection.id, connection.connected_at):
        raise Unusable
    return current


def _await_renewal(connection: Connection) -> str:
    """Somebody else renews it. The token from before works for minutes yet, unless nobody asked for long."""
    if connection.status is ConnectionStatus.ACTIVE and connection.token_expires_at > clock.now() + timedelta(
        seconds=30
    ):
        return _open(connection, "access_token")
    for _ in range(_LOOKS):
        time.sleep(_LOOK_SECONDS)
        current = store.find(connection.owner, connection.provider)
        if current and current.version != connection.version and current.status is ConnectionStatus.ACTIVE:
            return _open(current, "access_token")
    raise Down("The connection is being renewed")


def _open(connection: Connection, name: str) -> str:
    """What to do about a token that cannot be opened depends on why: a key that is missing may come back with the
    next deployment; a broken text never does; anything else gets three attempts."""
    try:
        return ciphers.open_sealed(getattr(connection, name), _context(connection, name))
    except ciphers.KeyVersionNotFound:
        log.error("token.key_version_not_found", connection_id=connection.id)
    except ciphers.InvalidFormat:
        log.error("token.invalid_format", connection_id=connection.id)
        refuse(connection)
    except ciphers.DecryptionFailed:
        log.error("token.decryption_failed", connection_id=connection.id)
        _count_unreadable(connection)
    raise Unusable


def _count_unreadable(connection: Connection) -> None:
    counted = replace(connection, unreadable=connection.unreadable + 1, version=connection.version + 1)
    if counted.unreadable >= _MOST_UNREADABLE:
        refuse(connection)
        return
    try:
        store.save(counted, connection)
    except Stale:
        return


def _seal(connection: Connection, name: str, text: str) -> str:
    return ciphers.seal(text, _context(connection, name))


def _context(connection: Connection, name: str) -> str:
    """A sealed token opens only in the connection and the field it was made for."""
    return f"{connection.id}/{name}"
