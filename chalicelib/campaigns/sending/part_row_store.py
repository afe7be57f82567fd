"""The rows of `part_store` and `wave_store`: parts, plans and lists of people under the id of their delivery."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import json

from chalicelib.campaigns.sending.parts import Aside, Part, Plan, Progress
from chalicelib.campaigns.sending.waves import Waves
from chalicelib.kernel import ids, settings
from chalicelib.kernel.aws import raw
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.items import plain, typed

PLAN = "plan"
# Lists of people come after everything else, so that a query for the parts does not read them.
LISTS = "~"
_MOST_WRITES = 25
_ID, _TIME = 16, 8
_UNLESS_RECALLED = " AND attribute_not_exists(recalled)"


def table() -> str:
    return f"{settings.current().prefix}-sending"


def key(delivery_id: str, name: str) -> dict[str, Any]:
    return {"TableName": table(), "Key": {"delivery_id": {"S": delivery_id}, "part": {"S": name}}}


def put(item: dict[str, Any], condition: str) -> dict[str, Any]:
    return {"Put": {"TableName": table(), "Item": item, "ConditionExpression": condition}}


def put_over(item: dict[str, Any], version: int, unless_recalled: bool = False) -> dict[str, Any]:
    return {
        "TableName": table(),
        "Item": item,
        "ConditionExpression": "version = :version" + _UNLESS_RECALLED * unless_recalled,
        "ExpressionAttributeValues": {":version": {"N": str(version)}},
    }


def transact(writes: Sequence[dict[str, Any]]) -> bool:
    try:
        raw.dynamodb("TransactWriteItems", {"TransactItems": list(writes), "ClientRequestToken": ids.new()})
    except Stale:
        return False
    return True


def query(delivery_id: str, condition: str, values: dict[str, str], fields: str = "") -> Iterator[dict[str, Any]]:
    """Rows of a delivery, as they are now, whose name (`#part`) is so."""
    query: dict[str, Any] = {
        "TableName": table(),
        "KeyConditionExpression": f"delivery_id = :id AND {condition}",
        "ExpressionAttributeNames": {"#part": "part"},
        "ExpressionAttributeValues": typed({":id": delivery_id, **values})["M"],
        "ConsistentRead": True,
    }
    if fields:
        query["ProjectionExpression"] = fields
    while True:
        page = raw.dynamodb("Query", query)
        yield from (plain(item) for item in page["Items"])
        if "LastEvaluatedKey" not in page:
            return
        query["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def delete(names: Iterable[tuple[str, str]]) -> None:
    """Rows by delivery and name."""
    deletes = [{"DeleteRequest": {"Key": key(delivery_id, name)["Key"]}} for delivery_id, name in names]
    while deletes:
        now, later = deletes[:_MOST_WRITES], deletes[_MOST_WRITES:]
        answer = raw.dynamodb("BatchWriteItem", {"RequestItems": {table(): now}})
        deletes = answer.get("UnprocessedItems", {}).get(table(), []) + later


def plan_item(plan: Plan) -> dict[str, Any]:
    item = {"delivery_id": plan.delivery_id, "part": PLAN, "attempt": plan.attempt}
    return {name: typed(value) for name, value in item.items()}


def parse_plan(item: dict[str, Any]) -> Plan:
    waves = json.decode(item["waves"], type=Waves) if "waves" in item else None
    return Plan(item["delivery_id"], item["attempt"], item.get("stopped"), item.get("expires_at"), waves)


def waves_text(waves: Waves) -> str:
    """What was read is written the same, so that it can be compared with what is stored."""
    return json.encode(waves).decode()


def part_item(part: Part) -> dict[str, Any]:
    """Under a kilobyte with fifty people on it, because they are packed to sixteen bytes each."""
    item: dict[str, Any] = {
        "delivery_id": part.delivery_id,
        "part": part.name,
        "attempt": part.attempt,
        "progress": part.progress.value,
        "sent": part.sent,
        "failed": part.failed,
        "strikes": part.strikes,
        "holder": part.holder,
        "until": part.until,
        "version": part.version,
    }
    item |= {name: getattr(part, name) for name in ("wave", "aside", "lists") if getattr(part, name)}
    if part.waiting:
        item["waiting"] = pack_aside(part.waiting)
    if part.cursor:
        item["cursor"] = pack_ids([part.cursor])
    if part.claim:
        item |= {"claim": pack_ids(part.claim), "out": part.out}
    if part.expires_at:
        item["expires_at"] = part.expires_at
    return {name: typed(value) for name, value in item.items()}


def parse_part(item: dict[str, Any]) -> Part:
    cursor = unpack_ids(item.get("cursor", b""))
    return Part(
        item["delivery_id"],
        item["part"],
        attempt=item["attempt"],
        wave=item.get("wave", 0),
        waiting=unpack_aside(item.get("waiting", b"")),
        aside=item.get("aside", 0),
        lists=item.get("lists", 0),
        progress=Progress(item["progress"]),
        cursor=cursor[0] if cursor else None,
        claim=unpack_ids(item.get("claim", b"")),
        out=item.get("out", False),
        sent=item["sent"],
        failed=item["failed"],
        strikes=item["strikes"],
        holder=item["holder"],
        until=item["until"],
        version=item["version"],
        expires_at=item.get("expires_at"),
    )


def pack_ids(people: Sequence[str]) -> bytes:
    return b"".join(bytes.fromhex(person.replace("-", "")) for person in people)


def unpack_ids(data: bytes) -> tuple[str, ...]:
    digits = data.hex()
    return tuple(_dashed(digits[at : at + 32]) for at in range(0, len(digits), 32))


def pack_aside(people: Sequence[Aside]) -> bytes:
    return b"".join(person.joined.to_bytes(_TIME, "big") + pack_ids([person.id]) for person in people)


def unpack_aside(data: bytes) -> tuple[Aside, ...]:
    size = _TIME + _ID
    entries = (data[at : at + size] for at in range(0, len(data), size))
    return tuple(Aside(int.from_bytes(entry[:_TIME], "big"), unpack_ids(entry[_TIME:])[0]) for entry in entries)


def _dashed(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
