"""What a call to a provider is made with: the deployment's key, or the token of somebody who follows."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from chalicelib.following import health, model, quota, tokens
from chalicelib.following.model import LABELS
from chalicelib.following.providers.contract import (
    Access,
    ProviderFailed,
    QuotaExceeded,
    Throttled,
    Unauthorised,
    Unknown,
)
from chalicelib.following.stores import connections
from chalicelib.following.stores.connections import Connection
from chalicelib.following.tokens import Unusable
from chalicelib.inbox.model import Provider
from chalicelib.kernel import settings
from chalicelib.kernel.errors import Conflict, GnaError, NotFound, TooMany, Unavailable

# Seconds, where the provider names none.
_WAIT, _WAIT_FOR_QUOTA = 60, 3_600

Result = TypeVar("Result")
Spend = Callable[[str, int], None]


class NoAccess(Exception):
    """Nobody's connection can be used now."""


class OutOfQuota(TooMany):
    """Nothing is left of the day's quota, or of the part of it that is for whoever asks."""


def call(
    provider: Provider,
    owners: Iterable[str],
    act: Callable[[Access], Result],
    *,
    asked_by: str | None,
    needs_token: bool = False,
) -> Result:
    """`act` with the deployment's key, or as the first owner whose connection can be used. `asked_by` is the owner
    whose request it is, if it is somebody's."""
    health.check_wait(provider)
    spend = _spender(provider, asked_by)
    try:
        if is_keyless(provider) and not needs_token:
            return act(Access(key=_key(provider), spend=spend))
        return _with_tokens(provider, owners, act, spend)
    except (QuotaExceeded, Throttled) as failure:
        _remember(provider, failure)
        raise


def call_as(provider: Provider, owner: str, act: Callable[[Access], Result], *, needs_token: bool = False) -> Result:
    """For a person who asks, with failures that are written for them: `Conflict` if they have to connect first."""
    try:
        return call(provider, [owner], act, asked_by=owner, needs_token=needs_token)
    except NoAccess:
        raise not_connected(provider) from None
    except ProviderFailed as failure:
        raise as_error(failure) from failure


def require(owner: str, provider: Provider) -> None:
    """`Conflict` if following there needs a connection that the owner does not have."""
    if not is_keyless(provider) and not connections.find(owner, provider):
        raise not_connected(provider)


def not_connected(provider: Provider) -> Conflict:
    return Conflict(f"Connect {LABELS[provider]} first")


def as_error(failure: ProviderFailed) -> GnaError:
    """A provider's failure, for the person whose request it was."""
    if isinstance(failure, Unknown):
        return NotFound(failure.reason)
    if isinstance(failure, QuotaExceeded):
        return OutOfQuota(failure.reason, failure.retry_after or _WAIT)
    if isinstance(failure, Throttled):
        return TooMany(failure.reason, failure.retry_after or _WAIT)
    return Unavailable(failure.reason, failure.retry_after or _WAIT)


def access_with_token(provider: Provider, owner: str, token: str) -> Access:
    """For a person who has just given it."""
    return Access(token=token, spend=_spender(provider, owner))


def is_keyless(provider: Provider) -> bool:
    """Whether following there needs nobody's connection."""
    return provider not in model.CONNECTED or bool(_key(provider))


def _remember(provider: Provider, failure: QuotaExceeded | Throttled) -> None:
    """A quota that the provider says is used up is used up for everybody, and so it is with time to wait."""
    if isinstance(failure, Throttled):
        health.note_wait(provider, failure.retry_after)
    elif not quota.is_counted(provider):
        health.note_wait(provider, failure.retry_after or _WAIT_FOR_QUOTA)
    elif not isinstance(failure, quota.UsedUp):
        quota.use_up(provider, failure.bucket)


def _with_tokens(provider: Provider, owners: Iterable[str], act: Callable[[Access], Result], spend: Spend) -> Result:
    for owner in owners:
        try:
            return _with_token(provider, owner, act, spend)
        except NoAccess:
            continue
    raise NoAccess


def _with_token(provider: Provider, owner: str, act: Callable[[Access], Result], spend: Spend) -> Result:
    connection = connections.find(owner, provider)
    if not connection:
        raise NoAccess
    try:
        for token in _tokens(connection):
            try:
                return act(Access(token=token, spend=spend))
            except Unauthorised:
                continue
        tokens.refuse(connections.find(owner, provider) or connection)
    except Unusable:
        pass
    raise NoAccess


def _tokens(connection: Connection) -> Iterator[str]:
    """The token, and if that is not accepted, a new one."""
    token = tokens.open_token(connection)
    yield token
    yield tokens.replace_rejected(connection, token)


def _spender(provider: Provider, asked_by: str | None) -> Spend:
    if quota.is_counted(provider):
        return quota.spender(provider, asked_by)
    return lambda bucket, cost: None


def _key(provider: Provider) -> str:
    return settings.provider_secret("YOUTUBE_API_KEY") if provider is Provider.YOUTUBE else ""
