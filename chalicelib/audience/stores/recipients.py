"""Rows of people to write to: few attributes of many rows, strongly consistent, in parallel segments.

With `raw` instead of pynamodb, because one sending reads a million of these.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from chalicelib.audience.matching import Targeting, Terms
from chalicelib.audience.model import ACTIVATED
from chalicelib.kernel import clock, settings
from chalicelib.kernel.aws import raw
from chalicelib.kernel.aws.failures import Stale

Item = dict[str, Any]

_FIELDS = "id, email, nickname, unsubscribe_secret, unmailed"
_KNOWN_FIELDS = (
    "id, email, nickname, activated_at, sources, tags, paused_at, paused_because, resumed_at, created_at, import_id"
)
_COUNTED_FIELDS = "sources, tags, created_at, activated_at, import_id, paused_at"
_MOST_KEYS = 100


def scan_segment(
    segment: tuple[int, int], after: str | None, targeting: Targeting, activated_by: datetime, size: int
) -> Iterator[tuple[list[Item], str | None]]:
    """Pages of rows of one segment (its number, how many there are) after this id, each with the id to continue
    after (None at the end). `size` is how many rows a page reads, not how many it finds."""
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
        yield page["Items"], after
        if not after:
            return


def scan_words(segment: tuple[int, int]) -> Iterator[Item]:
    """Of every activated subscriber of one segment, paused or not, what can be counted about them."""
    number, total = segment
    scan = {
        "TableName": _table(),
        "ProjectionExpression": _COUNTED_FIELDS,
        "FilterExpression": "#status = :activated",
        "ExpressionAttributeNames": {"#status": "status"},
        "ExpressionAttributeValues": {":activated": {"S": ACTIVATED}},
        "Segment": number,
        "TotalSegments": total,
    }
    while True:
        page = raw.dynamodb("Scan", scan)
        yield from page["Items"]
        if "LastEvaluatedKey" not in page:
            return
        scan["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def scan_tagged(tags: Sequence[str], after: str | None, size: int) -> tuple[list[str], int, str | None]:
    """The ids of those who have one of these tags among the next rows, how many rows that were, and the id to go on
    after. As they are now: whoever got a tag before this was asked has it."""
    scan = {**_tagged(tags), "ProjectionExpression": "id", "ConsistentRead": True, "Limit": size}
    if after:
        scan["ExclusiveStartKey"] = {"id": {"S": after}}
    page = raw.dynamodb("Scan", scan)
    last = page.get("LastEvaluatedKey", {}).get("id", {}).get("S")
    return [item["id"]["S"] for item in page["Items"]], int(page["ScannedCount"]), last


def count_tagged(tags: Sequence[str], segment: tuple[int, int]) -> int:
    """Subscribers of one segment who have one of these tags, paused or not."""
    number, total = segment
    return _count({**_tagged(tags), "Select": "COUNT", "Segment": number, "TotalSegments": total})


def get_reachable(ids: Sequence[str]) -> Iterator[Item]:
    """The rows of those who would get a campaign now, in any order."""
    return (item for item in _get_activated(ids, f"{_FIELDS}, paused_at") if "paused_at" not in item)


def get_known(ids: Sequence[str]) -> Iterator[Item]:
    """The rows of those who are activated subscribers now, paused or not, in any order."""
    return _get_activated(ids, _KNOWN_FIELDS)


def _get_activated(ids: Sequence[str], fields: str) -> Iterator[Item]:
    wanted = [{"id": {"S": id}} for id in ids]
    while wanted:
        keys, later = wanted[:_MOST_KEYS], wanted[_MOST_KEYS:]
        request = {"Keys": keys, "ProjectionExpression": f"{fields}, #status", "ConsistentRead": True}
        request["ExpressionAttributeNames"] = {"#status": "status"}
        answer = raw.dynamodb("BatchGetItem", {"RequestItems": {_table(): request}})
        for item in answer["Responses"].get(_table(), []):
            if item["status"]["S"] == ACTIVATED:
                yield item
        wanted = answer.get("UnprocessedKeys", {}).get(_table(), {}).get("Keys", []) + later


def count(targeting: Targeting, activated_by: datetime) -> int:
    return _count({**_filter(targeting, activated_by), "Select": "COUNT", "ConsistentRead": False})


def count_unmailed(targeting: Targeting, activated_by: datetime, segment: tuple[int, int]) -> int:
    """How many of them no campaign was sent to since they were imported, in one segment."""
    number, total = segment
    scan = {**_filter(targeting, activated_by), "Select": "COUNT", "ConsistentRead": False}
    scan |= {"Segment": number, "TotalSegments": total}
    scan["FilterExpression"] += " AND attribute_exists(unmailed)"
    return _count(scan)


def clear_unmailed(ids: Sequence[str]) -> None:
    """A campaign was sent to them. Who has left meanwhile stays away."""
    for id in ids:
        update = {
            "TableName": _table(),
            "Key": {"id": {"S": id}},
            "UpdateExpression": "REMOVE unmailed",
            "ConditionExpression": "attribute_exists(unmailed)",
        }
        with suppress(Stale):
            raw.dynamodb("UpdateItem", update)


def count_up_to(most: int) -> int:
    scan: dict[str, Any] = {"TableName": _table(), "Select": "COUNT"}
    counted = 0
    while True:
        page = raw.dynamodb("Scan", scan | {"Limit": most - counted})
        counted += int(page["Count"])
        if counted >= most or "LastEvaluatedKey" not in page:
            return counted
        scan["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def _count(scan: dict[str, Any]) -> int:
    counted = 0
    while True:
        page = raw.dynamodb("Scan", scan)
        counted += int(page["Count"])
        if "LastEvaluatedKey" not in page:
            return counted
        scan["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def _tagged(tags: Sequence[str]) -> dict[str, Any]:
    values = {f":t{number}": {"S": tag} for number, tag in enumerate(tags)}
    condition = " OR ".join(f"contains(tags, {value})" for value in values)
    return {"TableName": _table(), "FilterExpression": condition, "ExpressionAttributeValues": values}


def _table() -> str:
    return f"{settings.current().prefix}-subscribers"


def _filter(targeting: Targeting, activated_by: datetime) -> dict[str, Any]:
    """The same as `matching.Rule`, asked of the table."""
    conditions = ["#status = :activated", "activated_at <= :by", "attribute_not_exists(paused_at)"]
    values = {":activated": {"S": ACTIVATED}, ":by": {"S": clock.text(activated_by)}}
    for name, terms in (("sources", targeting.sources), ("tags", targeting.tags)):
        conditions += _conditions(name, terms, values)
    for operator, moment in ((">=", targeting.joined_from), ("<", targeting.joined_until)):
        conditions += _joined_conditions(operator, moment, values)
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
        return f"contains({name},{value})"

    any_of = " OR ".join(has(word) for word in terms.any)
    all_of = [has(word) for word in terms.all]
    none_of = " OR ".join(has(word) for word in terms.none)
    return ([f"({any_of})"] if any_of else []) + all_of + ([f"NOT ({none_of})"] if none_of else [])


def _joined_conditions(operator: str, moment: datetime | None, values: dict[str, Any]) -> list[str]:
    """`matching.joined_at`, as a condition."""
    if moment is None:
        return []
    value = f":j{len(values)}"
    values[value] = {"S": clock.text(moment)}
    imported = f"attribute_exists(import_id) AND created_at {operator} {value}"
    signed_up = f"attribute_not_exists(import_id) AND activated_at {operator} {value}"
    return [f"(({imported}) OR ({signed_up}))"]
