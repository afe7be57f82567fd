"""Rows of the index that lists subscribers by status, newest first. With `raw` instead of pynamodb, because a search
reads everybody."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from chalicelib.audience.model import ACTIVATED
from chalicelib.kernel import clock, settings
from chalicelib.kernel.aws import raw

Item = dict[str, Any]
Cursor = dict[str, Any]

_PAUSED = "by_pause"


def list_items(
    status: str, now: datetime, after: Cursor | None = None, page_size: int | None = None
) -> Iterator[Item]:
    """A sign-up that has expired is left out, even before the clean-up removes it."""
    moment = clock.text(now)
    cursor = after
    while True:
        answer = _query(status, cursor, **({"Limit": page_size} if page_size else {}))
        for item in answer["Items"]:
            if "confirmation_expires_at" not in item or item["confirmation_expires_at"]["S"] >= moment:
                yield item
        cursor = answer.get("LastEvaluatedKey")
        if cursor is None:
            return


def list_paused_items() -> Iterator[Item]:
    """Last paused first."""
    cursor: Cursor | None = None
    while True:
        answer = _query(ACTIVATED, cursor, IndexName=_PAUSED)
        yield from answer["Items"]
        cursor = answer.get("LastEvaluatedKey")
        if cursor is None:
            return


def count_paused() -> int:
    counted = 0
    cursor: Cursor | None = None
    while True:
        answer = _query(ACTIVATED, cursor, IndexName=_PAUSED, Select="COUNT")
        counted += int(answer["Count"])
        cursor = answer.get("LastEvaluatedKey")
        if cursor is None:
            return counted


def skip(status: str, count: int) -> Cursor | None:
    """The position in the index after so many rows; None when there are no more than that."""
    cursor: Cursor | None = None
    while count > 0:
        answer = _query(status, cursor, Select="COUNT", Limit=count)
        count -= answer["Count"]
        cursor = answer.get("LastEvaluatedKey")
        if cursor is None:
            return None
    return cursor


def newest_words(status: str, most: int) -> list[Item]:
    """Sources and tags of the newest rows, in one request."""
    options = {"Limit": most, "ProjectionExpression": "sources, tags"}
    items: list[Item] = _query(status, None, **options)["Items"]
    return items


def newest_ids(status: str, most: int) -> list[str]:
    """Of the newest rows, in one request."""
    found = _query(status, None, Limit=most, ProjectionExpression="id")["Items"]
    return [item["id"]["S"] for item in found]


def _query(status: str, cursor: Cursor | None, **options: Any) -> Any:
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
