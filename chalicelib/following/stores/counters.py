"""Counters of a provider: what was taken from a day's quota, and how many polls worked of late. Each is one atomic
update. And searches that were answered today, so that asking again costs nothing."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.inbox.model import Provider
from chalicelib.kernel import clock, pseudonyms
from chalicelib.kernel.aws import tables
from chalicelib.kernel.aws.failures import Stale

KEPT = timedelta(days=3)
SEARCHES_KEPT = timedelta(days=1)
_LARGEST_ANSWER = 200_000
_WAIT = "wait"


class CounterRow(tables.Row):
    class Meta:
        table_name = tables.name("creators")

    id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    spent = NumberAttribute(null=True)
    worked = NumberAttribute(null=True)
    failed = NumberAttribute(null=True)
    until = UnicodeAttribute(null=True)
    expires_at = NumberAttribute()


class SearchRow(tables.Row):
    class Meta:
        table_name = tables.name("creators")

    id = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    answer = UnicodeAttribute()
    expires_at = NumberAttribute()


def spend(provider: Provider, day: str, bucket: str, cost: int, most: int) -> int | None:
    """Count `cost`, and say how much that makes of this day; None, and nothing is counted, if it would be more than
    `most`."""
    row = _quota_row(provider, day, bucket)
    room = CounterRow.spent.does_not_exist() | (CounterRow.spent <= most - cost)
    try:
        tables.update(row, [CounterRow.spent.add(cost), _expiry(KEPT)], room)
    except Stale:
        return None
    return int(row.spent)


def use_up(provider: Provider, day: str, bucket: str, most: int) -> None:
    """The provider says that nothing is left."""
    tables.update(_quota_row(provider, day, bucket), [CounterRow.spent.set(most), _expiry(KEPT)])


def count_spent(provider: Provider, day: str, bucket: str) -> int:
    row = tables.get(CounterRow, f"quota {provider}", f"{day} {bucket}")
    return int(row.spent or 0) if row else 0


def wait_until(provider: Provider, until: datetime) -> None:
    """The provider asked us all to wait."""
    life = until - clock.now() + timedelta(hours=1)
    tables.update(_wait_row(provider), [CounterRow.until.set(clock.text(until)), _expiry(life)])


def find_wait(provider: Provider) -> datetime | None:
    row = tables.get(CounterRow, f"polls {provider}", _WAIT)
    return clock.parse(row.until) if row and row.until else None


def count_poll(provider: Provider, window: str, worked: bool) -> tuple[int, int]:
    """One more in this window; how many have worked and failed in it."""
    attribute = CounterRow.worked if worked else CounterRow.failed
    row = CounterRow(f"polls {provider}", window)
    tables.update(row, [attribute.add(1), _expiry(timedelta(hours=2))])
    return int(row.worked or 0), int(row.failed or 0)


def find_polls(provider: Provider, windows: Sequence[str]) -> tuple[int, int]:
    """How many have worked and failed in these windows together."""
    rows = list(tables.get_many(CounterRow, [(f"polls {provider}", window) for window in windows]))
    return sum(int(row.worked or 0) for row in rows), sum(int(row.failed or 0) for row in rows)


def find_search(provider: Provider, words: str, limit: int) -> list[dict[str, Any]] | None:
    row = tables.get(SearchRow, *_search_key(provider, words, limit))
    if not row or row.expires_at <= clock.epoch(clock.now()):
        return None
    answer: list[dict[str, Any]] = json.loads(row.answer)
    return answer


def keep_search(provider: Provider, words: str, limit: int, answer: list[dict[str, Any]]) -> None:
    text = json.dumps(answer, ensure_ascii=False)
    if len(text) <= _LARGEST_ANSWER:
        expires_at = clock.epoch(clock.now() + SEARCHES_KEPT)
        tables.put(SearchRow(*_search_key(provider, words, limit), answer=text, expires_at=expires_at))


def delete_expired(now: datetime) -> int:
    """Without waiting for the table's own expiry, which may take two days."""
    ended = CounterRow.expires_at <= clock.epoch(now)
    keys = [f"{kind} {provider}" for kind in ("quota", "polls", "search") for provider in Provider]
    found = (row for key in keys for row in tables.query(CounterRow, key, filter_condition=ended))
    rows = [CounterRow(row.id, row.part) for row in found]
    tables.write_all(CounterRow, delete=rows)
    return len(rows)


def _quota_row(provider: Provider, day: str, bucket: str) -> CounterRow:
    return CounterRow(f"quota {provider}", f"{day} {bucket}")


def _wait_row(provider: Provider) -> CounterRow:
    return CounterRow(f"polls {provider}", _WAIT)


def _search_key(provider: Provider, words: str, limit: int) -> tuple[str, str]:
    """What somebody searched for is stored as a keyed hash only."""
    return f"search {provider}", pseudonyms.derive("search", f"{limit} {words.casefold()}")


def _expiry(life: timedelta) -> Any:
    return CounterRow.expires_at.set(clock.epoch(clock.now() + life))
