"""Many subscribers at once, written straight into the table: signing them up one by one would take minutes."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import raw, tables
from chalicelib.kernel.aws.items import typed


def gather(
    people: int, *, activated_at: datetime | None = None, joined: datetime | None = None, **more: Any
) -> list[str]:
    """So many activated subscribers; their ids. `nickname` and the like are the same for all. With `joined` they were
    imported and no campaign was sent to them: the first joined then, and every other a minute earlier."""
    at = clock.text(activated_at or clock.now() - timedelta(days=1))
    rows = []
    for number in range(people):
        id = ids.new()
        rows.append(
            {
                "id": id,
                "email": f"p{number}-{id[-6:]}@example.org",
                "status": "activated",
                "unsubscribe_secret": "s" * 32,
                "created_at": at,
                "activated_at": at,
                **more,
            }
        )
        if joined:
            rows[-1]["unmailed"] = f"{clock.text(joined - timedelta(minutes=number))}#{id}"
    write("subscribers", rows)
    return [row["id"] for row in rows]


def gather_imported(people: int, *, joined: datetime | None = None, **more: Any) -> list[str]:
    """The same, imported and the newest first."""
    return gather(people, joined=joined or clock.now() - timedelta(days=300), **more)


def mark(subscriber_id: str, unmailed: str) -> None:
    update = {
        "TableName": tables.name("subscribers"),
        "Key": {"id": {"S": subscriber_id}},
        "UpdateExpression": "SET unmailed = :mark",
        "ExpressionAttributeValues": {":mark": {"S": unmailed}},
    }
    raw.dynamodb("UpdateItem", update)


def marked() -> set[str]:
    """Who is still known as imported and never mailed."""
    page = raw.dynamodb(
        "Scan", {"TableName": tables.name("subscribers"), "FilterExpression": "attribute_exists(unmailed)"}
    )
    return {item["id"]["S"] for item in page["Items"]}


def write(table: str, rows: Sequence[dict[str, Any]]) -> None:
    for first in range(0, len(rows), 25):
        puts = [{"PutRequest": {"Item": typed(row)["M"]}} for row in rows[first : first + 25]]
        raw.dynamodb("BatchWriteItem", {"RequestItems": {tables.name(table): puts}})


def leave(subscriber_id: str) -> None:
    raw.dynamodb("DeleteItem", {"TableName": tables.name("subscribers"), "Key": {"id": {"S": subscriber_id}}})
