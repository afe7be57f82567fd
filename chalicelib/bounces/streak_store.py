"""Streaks in DynamoDB, beside the bounces: how many campaigns in a row bounced softly for somebody."""

from datetime import datetime, timedelta

from msgspec import Struct
from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

KEPT = timedelta(days=100)

_STREAKS = "streaks"


class Streak(Struct, frozen=True):
    """`address` stands for the address that bounced, and is not readable; `last` is the delivery counted last."""

    subscriber_id: str
    address: str
    campaigns: int
    last: str


class StreakRow(tables.Row):
    """`key` is the subscriber's id."""

    class Meta:
        table_name = tables.name("bounces")

    partition = UnicodeAttribute(hash_key=True, attr_name="shelf")
    key = UnicodeAttribute(range_key=True)
    address = UnicodeAttribute()
    campaigns = NumberAttribute()
    last = UnicodeAttribute()
    expires_at = NumberAttribute()


def find(subscriber_id: str, now: datetime) -> Streak | None:
    row = tables.get(StreakRow, _STREAKS, subscriber_id)
    if not row or row.expires_at <= clock.epoch(now):
        return None
    return Streak(subscriber_id, row.address, int(row.campaigns), row.last)


def save_write(streak: Streak, before: Streak | None, now: datetime) -> tables.Write:
    """Unless another report has changed it since it was read."""
    row = StreakRow(
        _STREAKS,
        streak.subscriber_id,
        address=streak.address,
        campaigns=streak.campaigns,
        last=streak.last,
        expires_at=clock.epoch(now + KEPT),
    )
    if before:
        return tables.Put(row, StreakRow.last == before.last)
    return tables.Put(row, StreakRow.key.does_not_exist() | (StreakRow.expires_at <= clock.epoch(now)))


def delete_write(subscriber_id: str) -> tables.Write:
    return tables.Delete(StreakRow(_STREAKS, subscriber_id))
