"""Many subscribers at once, written straight into the table: signing them up one by one would take minutes."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from chalicelib.kernel import clock, ids
from chalicelib.kernel.aws import raw, tables
from chalicelib.kernel.aws.items import typed


def gather(people: int, *, activated_at: datetime | None = None, **more: Any) -> list[str]:
    """So many activated subscribers; their ids. `nickname` and the like are the same for all."""
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
    write("subscribers", rows)
    return [row["id"] for row in rows]


def write(table: str, rows: Sequence[dict[str, Any]]) -> None:
    for first in range(0, len(rows), 25):
        puts = [{"PutRequest": {"Item": typed(row)["M"]}} for row in rows[first : first + 25]]
        raw.dynamodb("BatchWriteItem", {"RequestItems": {tables.name(table): puts}})


def leave(subscriber_id: str) -> None:
    raw.dynamodb("DeleteItem", {"TableName": tables.name("subscribers"), "Key": {"id": {"S": subscriber_id}}})
