"""Rows of the index that lists subscribers by status, newest first. With `raw` instead of pynamodb, because a search
reads everybody."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from msgspec import Struct

from chalicelib.audience.model import ACTIVATED
from chalicelib.kernel import clock, settings
from chalicelib.kernel.aws import raw

Item = dict[str, Any]
Cursor = dict[str, Any]

_PAUSED = "by_pause"


class Spot(Struct, frozen=True):
    """Where to read on: after the row of this cursor, and only those who signed up before this moment."""

    cursor: Cursor | None = None
    before: str | None = None


BEGINNING = Spot()


def list_items(status: str, now: datetime, spot: Spot = BEGINNING, page_size: int | None = None) -> Iterator[Item]:
    """A sign-up that has expired is left out, even before the clean-up removes it."""
    moment = clock.text(now)
    cursor = spot.cursor
    while True:
        answer = _query(status, cursor, spot.before, **({"Limit": page_size} if page_size else {}))
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


def skip(status: str, count: int, before: str | None = None) -> Spot | None:
    """After so many rows, of those who signed up before this moment; None when there are no more than that."""
    cursor: Cursor | None = None
    while count > 0:
        answer = _query(status, cursor, before, Select="COUNT", Limit=count)
        count -= answer["Count"]
        cursor = answer.get("LastEvaluatedKey")
        if cursor is None:
            return None
    return Spot(cursor, before)


def oldest_ids(status: str, most: int, after: Cursor | None) -> tuple[list[str], Cursor | None]:
    """In one request, with the key to go on after (None at the end)."""
    answer = _query(status, after, Limit=most, ProjectionExpression="id", ScanIndexForward=True)
    return [item["id"]["S"] for item in answer["Items"]], answer.get("LastEvaluatedKey")


def newest_words(status: str, most: int) -> list[Item]:
    """Sources and tags of the newest rows, in one request."""
    options: dict[str, Any] = {"Limit": most, "ProjectionExpression": "sources, tags"}
    items: list[Item] = _query(status, None, **options)["Items"]
    return items


def newest_ids(status: str, most: int) -> list[str]:
    """Of the newest rows, in one request."""
    found = _query(status, None, Limit=most, ProjectionExpression="id")["Items"]
    return [item["id"]["S"] for item in found]


def _query(status: str, cursor: Cursor | None, before: str | None = None, **options: Any) -> Any:
    parameters: dict[str, Any] = {
        "TableName": f"{settings.current().prefix}-subscribers",
        "IndexName": "by_status",
        "KeyConditionExpression": "#status = :status",
        "ExpressionAttributeNames": {"#status": "status"},
        "ExpressionAttributeValues": {":status": {"S": status}},
        "ScanIndexForward": False,
        **options,
    }
    if before:
        parameters["KeyConditionExpression"] += " AND created_at < :before"
        parameters["ExpressionAttributeValues"][":before"] = {"S": before}
    if cursor:
        parameters["ExclusiveStartKey"] = cursor
    return raw.dynamodb("Query", parameters)
