"""The audience as the operator reads it: newest first, in pages, searched. Reads only the index made for it, over the
bare wire, because a search looks at everybody."""

from collections import Counter
from collections.abc import Iterator
from heapq import merge
from itertools import chain, islice
from typing import Any

from msgspec import Struct

from chalicelib.audience import counts
from chalicelib.audience.model import ACTIVATED, PENDING
from chalicelib.audience.stores import subscribers
from chalicelib.kernel import clock, ids, settings
from chalicelib.kernel.aws import raw
from chalicelib.kernel.errors import NotFound

_LATELY = 1000
_MOST_WORDS = 200
_LABELS = {ACTIVATED: "Activated", PENDING: "Pending"}


class Entry(Struct, frozen=True):
    id: str
    email: str
    nickname: str | None
    status: str
    created_at: str
    activated_at: str | None
    sources: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def label(self) -> str:
        return _LABELS[self.status]


class Filter(Struct, frozen=True):
    """Whom to list: everybody, or those who match all that is asked."""

    text: str = ""
    status: str = ""
    source: str = ""
    tag: str = ""

    @property
    def reads_everybody(self) -> bool:
        return bool(self.text or self.source or self.tag)

    def matches(self, item: dict[str, Any]) -> bool:
        """On a row as it comes: of a million that are looked at, only those that match are worth making entries."""
        if self.text:
            text = self.text.casefold()
            nickname = item.get("nickname")
            if text not in item["email"]["S"].casefold() and (not nickname or text not in nickname["S"].casefold()):
                return False
        return _has(item, "sources", self.source) and _has(item, "tags", self.tag)


class Words(Struct, frozen=True):
    sources: list[str]
    tags: list[str]


class Page(Struct, frozen=True):
    items: tuple[Entry, ...]
    page: int
    per_page: int
    total: int

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.per_page))


def page(wanted: Filter, number: int, per_page: int) -> Page:
    start = (number - 1) * per_page
    if wanted.reads_everybody:
        return _searched(wanted, number, per_page, start)
    pending = [] if wanted.status == ACTIVATED else list(_shelf(PENDING))
    activated = 0 if wanted.status == PENDING else counts.total()
    only_pending = wanted.status == PENDING
    items = pending[start : start + per_page] if only_pending else _merged(pending, start, per_page)
    return Page(tuple(items), number, per_page, len(pending) + activated)


def find_entry(subscriber_id: str) -> Entry:
    """One person, as the list shows them."""
    found = subscribers.find(subscriber_id) if ids.is_id(subscriber_id) else None
    if not found or found.expired(clock.now()):
        raise NotFound("No such subscriber")
    return Entry(
        id=found.id,
        email=found.email,
        nickname=found.nickname,
        status=found.status,
        created_at=clock.text(found.created_at),
        activated_at=clock.text(found.activated_at) if found.activated_at else None,
        sources=tuple(sorted(found.sources)),
        tags=tuple(sorted(found.tags)),
    )


def list_words() -> Words:
    """What people lately came from and are tagged with. One request: everybody is not read for a suggestion."""
    options = {"Limit": _LATELY, "ProjectionExpression": "sources, tags"}
    rows = _query(ACTIVATED, None, **options)["Items"]
    return Words(*(_common(rows, name) for name in ("sources", "tags")))


def everyone(wanted: Filter) -> Iterator[Entry]:
    """All who match, newest first, one page of the index in memory at a time."""
    statuses = [status for status in (PENDING, ACTIVATED) if wanted.status in ("", status)]
    return _newest_first(*(_matching(status, wanted) for status in statuses))


def _matching(status: str, wanted: Filter) -> Iterator[Entry]:
    return (_entry(item) for item in _rows(status) if wanted.matches(item))


def _searched(wanted: Filter, number: int, per_page: int, start: int) -> Page:
    items = []
    total = 0
    for entry in everyone(wanted):
        if start <= total < start + per_page:
            items.append(entry)
        total += 1
    return Page(tuple(items), number, per_page, total)


def _merged(pending: list[Entry], start: int, count: int) -> list[Entry]:
    """`count` entries from position `start` of pending and activated together. The pending ones are few and read
    whole; of the activated, as many as surely come before are counted past instead of read."""
    passed = max(0, start - len(pending))
    cursor = _skip(ACTIVATED, passed)
    if passed and cursor is None:
        return []
    activated = _shelf(ACTIVATED, after=cursor, limit=len(pending) + count)
    if passed:
        first = next(activated)
        activated = chain([first], activated)
        newer = sum(1 for entry in pending if entry.created_at > first.created_at)
        pending, passed = pending[newer:], passed + newer
    return list(islice(_newest_first(iter(pending), activated), start - passed, start - passed + count))


def _newest_first(*streams: Iterator[Entry]) -> Iterator[Entry]:
    return merge(*streams, key=lambda entry: entry.created_at, reverse=True)


def _skip(status: str, count: int) -> dict[str, Any] | None:
    """The place in the index after so many entries; None when there are no more than that."""
    cursor: dict[str, Any] | None = None
    while count > 0:
        answer = _query(status, cursor, Select="COUNT", Limit=count)
        count -= answer["Count"]
        cursor = answer.get("LastEvaluatedKey")
        if cursor is None:
            return None
    return cursor


def _shelf(status: str, after: dict[str, Any] | None = None, limit: int | None = None) -> Iterator[Entry]:
    return map(_entry, _rows(status, after, limit))


def _rows(status: str, after: dict[str, Any] | None = None, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """A sign-up that has expired is not there any more, even before the clean-up has come by."""
    now = clock.text(clock.now())
    cursor = after
    while True:
        answer = _query(status, cursor, **({"Limit": limit} if limit else {}))
        for item in answer["Items"]:
            if "confirmation_expires_at" not in item or item["confirmation_expires_at"]["S"] >= now:
                yield item
        cursor = answer.get("LastEvaluatedKey")
        if cursor is None:
            return


def _query(status: str, cursor: dict[str, Any] | None, **options: Any) -> Any:
    parameters = {
        "TableName": f"{settings.current().prefix}-subscribers",
        "IndexName": "by_status",
        "KeyConditionExpression": "#status = :status",
        "ExpressionAttributeNames": {"#status": "status"},
        "ExpressionAttributeValues": {":status": {"S": status}},
        "ScanIndexForward": False,
        **options,
    }
    if cursor:
        parameters["ExclusiveStartKey"] = cursor
    return raw.dynamodb("Query", parameters)


def _common(rows: list[dict[str, Any]], name: str) -> list[str]:
    """The most frequent first."""
    found = Counter(word for row in rows if name in row for word in row[name]["SS"])
    return [word for word, _ in found.most_common(_MOST_WORDS)]


def _has(item: dict[str, Any], name: str, word: str) -> bool:
    return not word or (name in item and word in item[name]["SS"])


def _entry(item: dict[str, Any]) -> Entry:
    return Entry(
        id=item["id"]["S"],
        email=item["email"]["S"],
        nickname=item["nickname"]["S"] if "nickname" in item else None,
        status=item["status"]["S"],
        created_at=item["created_at"]["S"],
        activated_at=item["activated_at"]["S"] if "activated_at" in item else None,
        sources=tuple(item["sources"]["SS"]) if "sources" in item else (),
        tags=tuple(item["tags"]["SS"]) if "tags" in item else (),
    )
