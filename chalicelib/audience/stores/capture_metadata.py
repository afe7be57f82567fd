"""The metadata of many captures, for exports. With `raw` instead of pynamodb, because an export reads everybody's."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from chalicelib.kernel import settings
from chalicelib.kernel.aws import raw

Key = tuple[str, str]  # the subscriber's id and the source

_MOST_KEYS = 100


def read(keys: Sequence[Key]) -> dict[Key, Any]:
    """What there is, by key; a capture without metadata is left out."""
    return {
        (item["subscriber_id"]["S"], item["source"]["S"]): json.loads(item["metadata"]["S"])
        for item in _items([{"subscriber_id": {"S": id}, "source": {"S": source}} for id, source in keys])
        if "metadata" in item
    }


def _items(wanted: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    table = f"{settings.current().prefix}-captures"
    while wanted:
        now, later = wanted[:_MOST_KEYS], wanted[_MOST_KEYS:]
        request = {
            "Keys": now,
            "ProjectionExpression": "subscriber_id, #source, metadata",
            "ExpressionAttributeNames": {"#source": "source"},
        }
        answer = raw.dynamodb("BatchGetItem", {"RequestItems": {table: request}})
        yield from answer["Responses"].get(table, [])
        wanted = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", []) + later
