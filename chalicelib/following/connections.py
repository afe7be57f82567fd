"""Connections to people's accounts at a provider (OAuth 2 with PKCE).

The page's script makes state and verifier, and keeps the verifier to itself until the callback: the server never
makes, stores or returns one. A state is bound to its owner and provider, and used up by the first callback.
"""

from datetime import timedelta
from enum import StrEnum

from chalicelib.following import access, messages, notifications, reconnecting, tokens
from chalicelib.following.model import CONNECTED, LABELS, ConnectionStatus
from chalicelib.following.providers.contract import GrantRefused, ProviderFailed, Throttled, Tokens
from chalicelib.following.providers.registry import GRANTS
from chalicelib.following.stores import connections as store
from chalicelib.following.stores.connections import Connection
from chalicelib.inbox.model import DESK, Provider
from chalicelib.kernel import clock, deadlines, ids, limits, log, settings
from chalicelib.kernel.aws.failures import retry_stale
from chalicelib.kernel.errors import Conflict, Invalid, TooMany, Unavailable

_MINUTE = 60
_SECONDS_IN_REQUEST = 8.0


class Call(StrEnum):
    """What an owner may do only so often a minute."""

    STATE = "connection state"
    CALLBACK = "connection callback"
    END = "connection end"


_MOST = {Call.STATE: 5, Call.CALLBACK: 10, Call.END: 3}


def list_connections(owner: str) -> dict[Provider, Connection | None]:
    found = {connection.provider: connection for connection in store.list_by_owner(owner)}
    return {provider: found.get(provider) for provider in CONNECTED}


def is_configured(provider: Provider) -> bool:
    """Whether accounts there can be connected at all."""
    return GRANTS[provider].is_configured()


def redirect_uri(owner: str) -> str:
    """Where the provider sends the browser back to: the same for the script and for the exchange."""
    path = "/admin/following/callback" if owner == DESK else "/following/callback"
    return settings.current().url(path).replace("://localhost", "://127.0.0.1", 1)


def count(owner: str, call: Call) -> None:
    """One more in this minute; every call counts, also one that is refused."""
    limits.spend(call, owner, _MOST[call], _MINUTE)


def register_state(owner: str, provider: Provider, state: str) -> None:
    count(owner, Call.STATE)
    _require_configured(provider)
    store.register_state(owner, provider, state, clock.now())


def complete(owner: str, provider: Provider, code: str, state: str, verifier: str) -> None:
    """The provider has sent the browser back with a code. If it refuses the code, an existing connection stays."""
    time_left = deadlines.seconds_left(_SECONDS_IN_REQUEST)
    count(owner, Call.CALLBACK)
    if not store.use_state(owner, provider, state, clock.now()):
        raise Invalid("Invalid state")
    _require_configured(provider)
    given = _exchange(owner, provider, code, verifier)
    account_id = _account_id(owner, provider, given.access_token)
    # Before it is stored: if this is interrupted afterwards, follows are revived all the same.
    messages.revive_follows(owner, provider, at_once=False)
    retry_stale(lambda: _store(owner, provider, given, account_id))
    notifications.resolve_connection(owner, provider)
    if not reconnecting.revive(owner, provider, time_left):
        messages.revive_follows(owner, provider, at_once=True)
    reconnecting.wake_waiting(owner, provider, time_left)
    log.info("connection.made", provider=provider.value)


def disconnect(owner: str, provider: Provider) -> None:
    """The tokens are deleted at once, and the provider is told where it can be. What it told us follows."""
    count(owner, Call.END)
    if not store.find(owner, provider):
        return
    messages.disconnect_follows(owner, provider, at_once=False)  # before: afterwards nothing says that there is more
    ended = retry_stale(lambda: _remove(owner, provider))
    if ended:
        _revoke(ended)
    if not reconnecting.disconnect(owner, provider, clock.now(), deadlines.seconds_left(_SECONDS_IN_REQUEST)):
        messages.disconnect_follows(owner, provider, at_once=True)


def forget(owner: str) -> None:
    """Of an owner who has gone: tokens, revoked where they can be, and states."""
    for connection in store.list_by_owner(owner):
        store.remove(connection)
        _revoke(connection)
    store.delete_states(owner)


def _exchange(owner: str, provider: Provider, code: str, verifier: str) -> Tokens:
    try:
        return GRANTS[provider].exchange(code, verifier, redirect_uri(owner))
    except GrantRefused as refusal:
        raise Invalid(refusal.reason) from refusal
    except Throttled as failure:
        raise TooMany(failure.reason, failure.retry_after or _MINUTE) from failure
    except ProviderFailed as failure:
        raise Unavailable(failure.reason, failure.retry_after or _MINUTE) from failure


def _account_id(owner: str, provider: Provider, access_token: str) -> str:
    """Nice to know, and no reason to refuse a connection."""
    try:
        return GRANTS[provider].account_id(access.access_with_token(provider, owner, access_token))
    except ProviderFailed as failure:
        log.warning("connection.account_unknown", provider=provider.value, kind=type(failure).__name__)
        return ""


def _store(owner: str, provider: Provider, given: Tokens, account_id: str) -> None:
    now, before = clock.now(), store.find(owner, provider)
    refresh_token = before.refresh_token if before and not given.refresh_token else ""
    if not given.refresh_token and not refresh_token:
        raise Invalid(f"{LABELS[provider]} has given no lasting access. Please connect again")
    blank = Connection(
        owner=owner,
        provider=provider,
        id=before.id if before else ids.new(),
        status=ConnectionStatus.ACTIVE,
        access_token="",
        refresh_token=refresh_token,
        token_expires_at=now + timedelta(seconds=given.expires_in),
        connected_at=now,
        version=before.version + 1 if before else 1,
        account_id=account_id,
        scopes=" ".join(given.scopes),
    )
    store.save(tokens.seal_tokens(blank, given), before)


def _remove(owner: str, provider: Provider) -> Connection | None:
    found = store.find(owner, provider)
    if found:
        store.remove(found)
    return found


def _revoke(connection: Connection) -> None:
    try:
        tokens.revoke(connection)
    except ProviderFailed as failure:  # the token ends by itself, and is nowhere any more
        log.warning("connection.not_revoked", provider=connection.provider.value, kind=type(failure).__name__)


def _require_configured(provider: Provider) -> None:
    if not is_configured(provider):
        raise Conflict(f"{LABELS[provider]} is not configured")
