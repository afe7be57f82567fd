"""The daily quota of a provider, counted before each call. A day is Pacific, as Google's is.

The last tenth is kept for what the desk asks for. Of the rest, members may ask for a part only, and each of them for
a few searches: the quota is the deployment's, and nobody is to use it up for everybody else.
"""

from collections.abc import Callable
from datetime import datetime, time, timedelta

from msgspec import Struct

from chalicelib.following import model, notifications
from chalicelib.following.providers.contract import SEARCHES, UNITS, QuotaExceeded
from chalicelib.following.stores import counters
from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock, pseudonyms

# What Google gives a project a day: its own count of searches, and units for everything else.
DAILY = {UNITS: 10_000, SEARCHES: 100}
_FOR_POLLS = 0.9
_FOR_MEMBERS = 0.5
_WARNED_AT = 0.8
SEARCHES_OF_A_MEMBER = 10


class UsedUp(QuotaExceeded):
    """By our own count."""


class ShareUsedUp(UsedUp):
    """That of members; polls and the desk go on."""


class Used(Struct, frozen=True):
    bucket: str
    spent: int
    most: int
    ends_at: datetime


def is_counted(provider: Provider) -> bool:
    return provider is Provider.YOUTUBE


def spender(provider: Provider, asked_by: str | None) -> Callable[[str, int], None]:
    """What a provider's module calls before each request that costs something. `asked_by` is the owner whose request
    it is, or None for a poll that nobody waits for."""
    is_desk = asked_by is not None and model.is_desk(asked_by)

    def spend(bucket: str, cost: int) -> None:
        now, most = clock.now(), DAILY[bucket]
        if asked_by is not None and not is_desk:
            _spend_share(provider, asked_by, bucket, cost, now)
        spent = counters.spend(provider, day_of(now), bucket, cost, most if is_desk else int(most * _FOR_POLLS))
        if spent is None:
            raise UsedUp("Today's quota is used up", bucket, seconds_left(now))
        if spent - cost < most * _WARNED_AT <= spent:
            notifications.warn_of_quota(provider, bucket, day_end(now))

    return spend


def use_up(provider: Provider, bucket: str) -> None:
    """The provider has said so, whatever we have counted: another program may be using the same project."""
    now = clock.now()
    counters.use_up(provider, day_of(now), bucket, DAILY[bucket])
    notifications.warn_of_quota(provider, bucket, day_end(now))


def read_used(provider: Provider) -> list[Used]:
    now = clock.now()
    return [
        Used(bucket, counters.count_spent(provider, day_of(now), bucket), most, day_end(now))
        for bucket, most in DAILY.items()
    ]


def day_of(moment: datetime) -> str:
    """The Pacific day this is, such as 2026-11-17."""
    return f"{_pacific(moment):%Y-%m-%d}"


def day_end(moment: datetime) -> datetime:
    """The next Pacific midnight, also where the clocks change before it."""
    local = _pacific(moment)
    return datetime.combine(local.date() + timedelta(days=1), time(), local.tzinfo).astimezone(moment.tzinfo)


def seconds_left(now: datetime) -> int:
    return max(1, int((day_end(now) - now).total_seconds()) + 1)


def _spend_share(provider: Provider, member: str, bucket: str, cost: int, now: datetime) -> None:
    """What is counted here and refused by a later count is not given back: every refusal lasts until midnight."""
    day, most = day_of(now), int(DAILY[bucket] * _FOR_MEMBERS)
    own = pseudonyms.derive("searches of a day", f"{day} {member}")
    if bucket == SEARCHES and counters.spend(provider, day, f"{bucket} {own}", cost, SEARCHES_OF_A_MEMBER) is None:
        raise ShareUsedUp(f"You have used your {SEARCHES_OF_A_MEMBER} searches of today", bucket, seconds_left(now))
    if counters.spend(provider, day, f"{bucket} members", cost, most) is None:
        used = "searches for members are" if bucket == SEARCHES else "quota for members is"
        raise ShareUsedUp(f"Today's {used} used up", bucket, seconds_left(now))


def _pacific(moment: datetime) -> datetime:
    from zoneinfo import ZoneInfo

    return moment.astimezone(ZoneInfo("America/Los_Angeles"))
