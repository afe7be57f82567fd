"""What came with the sign-ups of many people, for exports. With `raw` instead of pynamodb, because an export reads
everybody's."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from chalicelib.kernel import settings
from chalicelib.kernel.aws import raw

Key = tuple[str, str]  # the subscriber's id and the source

_MOST_KEYS = 100


class Sent(Struct, frozen=True):
    """What one sign-up sent along."""

    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] | None = None


def read_confirmed(keys: Iterable[Key]) -> dict[Key, Sent]:
    return {
        key: Sent(_words(item, "tags"), json.loads(item["metadata"]["S"]) if "metadata" in item else None)
        for key, item in _captures(keys)
    }


def read_waiting(subscriber_ids: Sequence[str]) -> dict[Key, Sent]:
    """What waits for these people to confirm it."""
    asked = _items("subscribers", [{"id": {"S": id}} for id in subscriber_ids], "id, asked_sources")
    keys = [(item["id"]["S"], source) for item in asked for source in _words(item, "asked_sources")]
    found = {}
    for key, item in _captures(keys):
        if "request" in item:
            request = json.loads(item["request"]["S"])
            found[key] = Sent(tuple(request["tags"]), request["metadata"])
    return found


def _captures(keys: Iterable[Key]) -> Iterator[tuple[Key, dict[str, Any]]]:
    wanted = [{"subscriber_id": {"S": id}, "source": {"S": source}} for id, source in keys]
    reserved = {"#source": "source", "#request": "request"}
    for item in _items("captures", wanted, "subscriber_id, #source, tags, metadata, #request", reserved):
        yield (item["subscriber_id"]["S"], item["source"]["S"]), item


def _items(
    name: str, wanted: list[dict[str, Any]], fields: str, names: dict[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    table = f"{settings.current().prefix}-{name}"
    while wanted:
        now, later = wanted[:_MOST_KEYS], wanted[_MOST_KEYS:]
        request: dict[str, Any] = {"Keys": now, "ProjectionExpression": fields}
        request |= {"ExpressionAttributeNames": names} if names else {}
        answer = raw.dynamodb("BatchGetItem", {"RequestItems": {table: request}})
        yield from answer["Responses"].get(table, [])
        wanted = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", []) + later


def _words(item: dict[str, Any], name: str) -> tuple[str, ...]:
    return tuple(item[name]["SS"]) if name in item else ()
