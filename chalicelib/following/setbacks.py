"""A poll that could not be done: whose failure that is, and when to come back."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from chalicelib.following import health, model, notifications, quota
from chalicelib.following.model import LABELS, Creator, Lease
from chalicelib.following.providers.contract import ProviderFailed, QuotaExceeded, Throttled
from chalicelib.following.stores import polls
from chalicelib.kernel import clock, log

_WAIT_IN_OUTAGE = timedelta(minutes=15)


def put_off(lease: Lease) -> Throttled | None:
    """While the provider wants us to wait, a creator is not polled, whoever asks for it."""
    now, until = clock.now(), lease.creator.not_before
    if not until or until <= now:
        return None
    polls.release(lease, until)
    return Throttled(f"{LABELS[lease.creator.provider]} asked us to wait", int((until - now).total_seconds()) + 1)


def note(lease: Lease, owners: Sequence[str], failure: ProviderFailed) -> None:
    """A quota that is used up and a provider that asks us to wait are nobody's failure; nor is one that answers
    nobody."""
    creator = lease.creator
    log.warning("creator.not_polled", creator_id=creator.id, kind=type(failure).__name__)
    if isinstance(failure, QuotaExceeded | Throttled):
        _wait(lease, failure)
        return
    now = clock.now()
    is_out = health.record(creator.provider, False, now)
    after = _failed(creator, failure, now, is_out)
    polls.settle(lease, after)
    if after.is_failing and not is_out:  # also later: whoever should have told may have died before
        notifications.tell_failing(owners, after)


def _wait(lease: Lease, failure: ProviderFailed) -> None:
    """Spread a little, so that not all come back at the same moment. A quota that we count ourselves keeps polls
    waiting, but not what the desk asks for; that of members keeps nobody else waiting."""
    now, spread = clock.now(), model.jitter(_WAIT_IN_OUTAGE)
    if isinstance(failure, quota.ShareUsedUp):
        creator = lease.creator
        polls.release(lease, model.next_poll(creator, creator.last_polled_at or now))
        return
    if isinstance(failure, QuotaExceeded) and quota.is_counted(lease.creator.provider):
        polls.release(lease, quota.day_end(now) + spread)
        return
    until = now + (timedelta(seconds=failure.retry_after) if failure.retry_after else _WAIT_IN_OUTAGE)
    polls.settle(lease, replace(lease.creator, not_before=until, next_poll_at=until + spread))


def _failed(creator: Creator, failure: ProviderFailed, now: datetime, is_out: bool) -> Creator:
    not_before = now + timedelta(seconds=failure.retry_after) if failure.retry_after else None
    failures = creator.failures if is_out else creator.failures + 1
    next_poll_at = now + _WAIT_IN_OUTAGE if is_out else model.next_attempt(failures, now)
    return replace(
        creator,
        failures=failures,
        problem=failure.reason,
        not_before=not_before,
        next_poll_at=max(next_poll_at, not_before or next_poll_at),
    )
