"""The index that is searched, shard by shard. DynamoDB compares; only rows that match are sent and decoded. With
`raw` instead of pynamodb, because a search reads everybody."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from msgspec import Struct

from chalicelib.kernel import clock, settings
from chalicelib.kernel.aws import raw


class Terms(Struct, frozen=True):
    """What is asked of everybody; an empty text asks nothing. `text` is folded already."""

    text: str
    source: str
    tag: str
    status: str


class Position(NamedTuple):
    """Of a row in its shard; the order is that of the list."""

    created_at: str
    id: str


class Hits(Struct):
    """What a shard has so far: the newest matches, the number of all of them, how many rows were read, and where to
    read on (None at the end)."""

    matches: list[Position]
    count: int = 0
    looked_at: int = 0
    rest: Position | None = None


def search_shard(
    shard: str, terms: Terms, after: Position | None, keep: int, may_go_on: Callable[[Hits], bool]
) -> Hits:
    """Newest first. Once so many matches are kept, further ones are counted only."""
    query = _query(shard, terms)
    hits = Hits([], rest=after)
    while True:
        options: dict[str, Any] = {"ProjectionExpression": "id, created_at"}
        if len(hits.matches) >= keep:
            options = {"Select": "COUNT"}
        if hits.rest:
            options["ExclusiveStartKey"] = _key(shard, hits.rest)
        answer = raw.dynamodb("Query", query | options)
        hits.matches += [Position(item["created_at"]["S"], item["id"]["S"]) for item in answer.get("Items", ())]
        hits.count += int(answer["Count"])
        hits.looked_at += int(answer["ScannedCount"])
        last = answer.get("LastEvaluatedKey")
        hits.rest = Position(last["created_at"]["S"], last["id"]["S"]) if last else None
        if not hits.rest or not may_go_on(hits):
            return hits


def _query(shard: str, terms: Terms) -> dict[str, Any]:
    names, conditions, values = _filter(terms, clock.now())
    return {
        "TableName": f"{settings.current().prefix}-subscribers",
        "IndexName": "by_shard",
        "KeyConditionExpression": "#shard = :shard",
        "FilterExpression": " AND ".join(conditions),
        "ExpressionAttributeValues": {name: {"S": value} for name, value in values.items()}
        | {":shard": {"S": shard}},
        "ExpressionAttributeNames": {"#shard": "shard"} | names,
        "ScanIndexForward": False,
    }


def _filter(terms: Terms, now: datetime) -> tuple[dict[str, str], list[str], dict[str, str]]:
    """A sign-up that has expired is left out, even before the clean-up removes it."""
    conditions = ["(attribute_not_exists(confirmation_expires_at) OR confirmation_expires_at >= :now)"]
    names, values = {}, {":now": clock.text(now)}
    for name, word in (("folded", terms.text), ("sources", terms.source), ("tags", terms.tag)):
        if word:
            conditions.append(f"contains({name}, :{name})")
            values[f":{name}"] = word
    if terms.status:
        names["#status"] = "status"
        conditions.append("#status = :status")
        values[":status"] = terms.status
    return names, conditions, values


def _key(shard: str, position: Position) -> dict[str, Any]:
    return {"shard": {"S": shard}, "created_at": {"S": position.created_at}, "id": {"S": position.id}}
