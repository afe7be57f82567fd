"""Deliveries that have begun, in DynamoDB beside the bounces, in the order of time."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from msgspec import Struct
from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

KEPT = timedelta(days=100)

_SENT = "sent"


class Sent(Struct, frozen=True):
    """A delivery, when it began, and whom it was for, as JSON. The order of ids is no help: a delivery has its id
    since its campaign was drafted."""

    at: datetime
    delivery_id: str
    targeting: str

    @property
    def order(self) -> tuple[datetime, str]:
        return self.at, self.delivery_id


class SentRow(tables.Row):
    """`key` is when it began and the delivery's id. In rows of an earlier version it is the id alone, which sorts
    before every time."""

    class Meta:
        table_name = tables.name("bounces")

    partition = UnicodeAttribute(hash_key=True, attr_name="shelf")
    key = UnicodeAttribute(range_key=True)
    sent_at = UnicodeAttribute()
    targeting = UnicodeAttribute()
    expires_at = NumberAttribute()


def begin_write(sent: Sent) -> tables.Write:
    at = clock.text(sent.at)
    expires_at = clock.epoch(sent.at + KEPT)
    return tables.Put(
        SentRow(_SENT, f"{at}#{sent.delivery_id}", sent_at=at, targeting=sent.targeting, expires_at=expires_at)
    )


def list_all() -> Iterator[Sent]:
    """Those of the last hundred days: at most a few a day."""
    return map(_sent, tables.query(SentRow, _SENT))


def list_latest(since: datetime, most: int) -> list[Sent]:
    """Newest first; one request, even if fewer than `most` fit into its answer."""
    pages = tables.query_pages(
        SentRow,
        _SENT,
        range_key_condition=SentRow.key > clock.text(since),
        scan_index_forward=False,
        consistent_read=True,
        limit=most,
    )
    rows, _ = next(pages, ([], None))
    return [_sent(row) for row in rows]


def _sent(row: SentRow) -> Sent:
    return Sent(clock.parse(row.sent_at), row.key.rpartition("#")[2], row.targeting)
