"""Streaks in DynamoDB, beside the bounces: how many campaigns in a row bounced softly for somebody, and to which
audience each campaign went, so that one which did not bounce is known to end a streak."""

from datetime import datetime, timedelta

from msgspec import Struct
from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

KEPT = timedelta(days=100)

_STREAKS, _SENT = "streaks", "sent"


class Streak(Struct, frozen=True):
    """`address` stands for the address that bounced, and is not readable; `last` is the delivery counted last."""

    subscriber_id: str
    address: str
    campaigns: int
    last: str


class Sent(Struct, frozen=True):
    """A delivery, when it began, and whom it was for, as JSON. The order of ids is no help: a delivery has its id
    since its campaign was drafted."""

    at: datetime
    delivery_id: str
    targeting: str

    @property
    def order(self) -> tuple[datetime, str]:
        return self.at, self.delivery_id


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


class SentRow(tables.Row):
    """`key` is the delivery's id."""

    class Meta:
        table_name = tables.name("bounces")

    partition = UnicodeAttribute(hash_key=True, attr_name="shelf")
    key = UnicodeAttribute(range_key=True)
    sent_at = UnicodeAttribute()
    targeting = UnicodeAttribute()
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


def note_sent(delivery_id: str, targeting: str, now: datetime) -> None:
    expires_at = clock.epoch(now + KEPT)
    tables.put(SentRow(_SENT, delivery_id, sent_at=clock.text(now), targeting=targeting, expires_at=expires_at))


def list_sent() -> dict[str, Sent]:
    """The deliveries of the last hundred days, by id: at most a few a day."""
    rows = tables.query(SentRow, _SENT)
    return {row.key: Sent(clock.parse(row.sent_at), row.key, row.targeting) for row in rows}
