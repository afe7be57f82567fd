"""Reading people to write to: few attributes of many rows, strongly consistent, in parallel segments.

Over the bare wire, because a million of these are read in one sending.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from chalicelib.audience.stores import emails
from chalicelib.kernel import clock, settings
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.aws import raw

_FIELDS = "id, email, nickname, unsubscribe_secret"
_MOST_KEYS = 100


class Recipient(NamedTuple):
    id: str
    email: str
    nickname: str | None
    unsubscribe_secret: str

    @property
    def unsubscribe_token(self) -> str:
        return f"{self.id}.{self.unsubscribe_secret}"


class Terms(Protocol):
    """At least one of `any`, every one of `all`, not one of `none`; an empty list asks nothing."""

    @property
    def any(self) -> tuple[str, ...]: ...
    @property
    def all(self) -> tuple[str, ...]: ...
    @property
    def none(self) -> tuple[str, ...]: ...


class Targeting(Protocol):
    @property
    def sources(self) -> Terms: ...
    @property
    def tags(self) -> Terms: ...


def pages(
    segment: tuple[int, int], after: str | None, targeting: Targeting, activated_by: datetime, size: int
) -> Iterator[tuple[list[Recipient], str | None]]:
    """Pages of one segment (which, of how many) after this id, each with the id to go on after (None at the end).

    Only those activated by then, so that a sending has an end however many join meanwhile. `size` is how many rows
    are looked at, not how many are found."""
    number, total = segment
    scan = {
        **_filter(targeting, activated_by),
        "ProjectionExpression": _FIELDS,
        "Segment": number,
        "TotalSegments": total,
        "Limit": size,
    }
    while True:
        if after:
            scan["ExclusiveStartKey"] = {"id": {"S": after}}
        page = raw.dynamodb("Scan", scan)
        after = page.get("LastEvaluatedKey", {}).get("id", {}).get("S")
        yield [_recipient(item) for item in page["Items"]], after
        if not after:
            return


def reload(people: Sequence[str]) -> list[Recipient]:
    """Those of them who are activated subscribers now, as they are now, in the same order."""
    found: dict[str, Recipient] = {}
    wanted = [{"id": {"S": one}} for one in people]
    while wanted:
        now, later = wanted[:_MOST_KEYS], wanted[_MOST_KEYS:]
        request = {"Keys": now, "ProjectionExpression": f"{_FIELDS}, #status", "ConsistentRead": True}
        request["ExpressionAttributeNames"] = {"#status": "status"}
        answer = raw.dynamodb("BatchGetItem", {"RequestItems": {_table(): request}})
        rows = answer["Responses"].get(_table(), [])
        found |= {item["id"]["S"]: _recipient(item) for item in rows if item["status"]["S"] == "activated"}
        wanted = answer.get("UnprocessedKeys", {}).get(_table(), {}).get("Keys", []) + later
    return [found[one] for one in people if one in found]


def count(targeting: Targeting, activated_by: datetime) -> int:
    """How many would be written to. Reads the whole table: cheap per person, but not for every page view."""
    scan = {**_filter(targeting, activated_by), "Select": "COUNT", "ConsistentRead": False}
    counted = 0
    while True:
        page = raw.dynamodb("Scan", scan)
        counted += int(page["Count"])
        if "LastEvaluatedKey" not in page:
            return counted
        scan["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def count_up_to(most: int) -> int:
    """How many rows there are, counted no further than this: enough to know a small audience from a large one."""
    scan: dict[str, Any] = {"TableName": _table(), "Select": "COUNT"}
    counted = 0
    while True:
        page = raw.dynamodb("Scan", scan | {"Limit": most - counted})
        counted += int(page["Count"])
        if counted >= most or "LastEvaluatedKey" not in page:
            return counted
        scan["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def find_id(address: Address) -> str | None:
    """Who has this address."""
    return emails.find_owner(address.key, clock.now())


def _table() -> str:
    return f"{settings.current().prefix}-subscribers"


def _recipient(item: dict[str, Any]) -> Recipient:
    nickname = item.get("nickname")
    return Recipient(
        item["id"]["S"],
        item["email"]["S"],
        nickname.get("S") if nickname else None,
        item["unsubscribe_secret"]["S"],
    )


def _filter(targeting: Targeting, activated_by: datetime) -> dict[str, Any]:
    conditions = ["#status = :activated", "activated_at <= :by"]
    values = {":activated": {"S": "activated"}, ":by": {"S": clock.text(activated_by)}}
    for name, terms in (("sources", targeting.sources), ("tags", targeting.tags)):
        conditions += _conditions(name, terms, values)
    return {
        "TableName": _table(),
        "ConsistentRead": True,
        "FilterExpression": " AND ".join(conditions),
        "ExpressionAttributeNames": {"#status": "status"},
        "ExpressionAttributeValues": values,
    }


def _conditions(name: str, terms: Terms, values: dict[str, Any]) -> list[str]:
    def has(word: str) -> str:
        value = f":w{len(values)}"
        values[value] = {"S": word}
        return f"contains({name}, {value})"

    one_of = " OR ".join(has(word) for word in terms.any)
    wanted = [has(word) for word in terms.all]
    unwanted = [f"NOT {has(word)}" for word in terms.none]
    return ([f"({one_of})"] if one_of else []) + wanted + unwanted
