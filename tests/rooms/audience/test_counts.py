from datetime import UTC, datetime, timedelta

from chalicelib.audience import counts
from chalicelib.audience.stores import counts as store
from chalicelib.kernel.aws import tables

_NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


def _count(day: datetime, joined: int, left: int = 0) -> None:
    for _ in range(joined):
        tables.transact(store.count_write(day.date(), joined=1))
    for _ in range(left):
        tables.transact(store.count_write(day.date(), left=1))


def test_the_total_is_all_who_joined_less_all_who_left(aws):
    _count(_NOW, joined=5, left=2)
    _count(_NOW + timedelta(days=1), joined=1)
    assert counts.total() == 4


def test_folding_changes_no_number(aws):
    _count(_NOW, joined=12, left=2)
    _count(_NOW + timedelta(days=1), joined=3)
    days = counts.days(10)
    assert counts.fold() == 2
    assert counts.days(10) == days
    assert counts.total() == 13
    assert counts.fold() == 0


def test_a_count_that_comes_after_the_folding_is_not_lost(aws):
    _count(_NOW, joined=2)
    _count(_NOW + timedelta(days=1), joined=1)
    counts.fold()
    _count(_NOW, joined=1)
    counts.fold()
    assert counts.total() == 4
    assert [day.total for day in counts.days(10)] == [3, 4]


def test_nothing_yet_is_zero(aws):
    assert counts.total() == 0
    assert counts.days(30) == []
