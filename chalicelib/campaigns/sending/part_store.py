"""Parts of deliveries in DynamoDB, written with `kernel/aws/raw`: settling a batch and claiming the next is one write
of less than a kilobyte, and it happens for every fifty mails.

All of a part is written at once and only over the version that was read, so a write that is repeated because its
answer was lost can neither count twice nor undo what another worker did.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from chalicelib.campaigns.sending.parts import Part, Plan, Progress
from chalicelib.kernel import ids, settings
from chalicelib.kernel.aws import raw
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.items import plain, typed

_PLAN = "plan"
_PACE = "pace"
_MOST_WRITES = 25
_RECALLED = "recalled"
_UNLESS_RECALLED = f" AND attribute_not_exists({_RECALLED})"


class Lost(Exception):
    """Somebody else has the part now, or it has changed since it was read."""


class Recalled(Lost):
    """Its worker is to look at the plan before it sends more. Nothing else about the part has changed."""


def begin(plan: Plan, parts: Sequence[Part]) -> bool:
    """Write the plan and its parts in one transaction; False if that had been done before."""
    puts = [_put(_plan_item(plan), "attribute_not_exists(delivery_id)")]
    puts += [_put(_item(part), "attribute_not_exists(delivery_id)") for part in parts]
    return _transact(puts)


def find_plan(delivery_id: str) -> Plan | None:
    found = raw.dynamodb("GetItem", {**_key(delivery_id, _PLAN), "ConsistentRead": True}).get("Item")
    if not found:
        return None
    item = plain(found)
    return Plan(delivery_id, item["attempt"], item.get("stopped"), item.get("expires_at"))


def open_attempt(plan: Plan, attempt: int) -> bool:
    """Record that the owed parts of this attempt are open, and that nothing stops it any more; False if that had been
    done before. A twin that comes late must not undo a stop of this attempt."""
    update = "SET attempt = :n REMOVE stopped, expires_at"
    return _change_plan(plan.delivery_id, update, "attempt < :n", {":n": attempt})


def stop(delivery_id: str, attempt: int, reason: str) -> bool:
    """The first reason is kept. False if the plan is not at this attempt: then it is not the one to be stopped."""
    update = "SET stopped = if_not_exists(stopped, :reason)"
    return _change_plan(delivery_id, update, "attempt = :n", {":reason": reason, ":n": attempt})


def recall(part: Part) -> None:
    """Make its worker look at the plan before the next claim. The version stays, so the worker can still settle the
    batch it has sent; a part that is done meanwhile is left alone."""
    update = {
        **_key(part.delivery_id, part.name),
        "UpdateExpression": f"SET {_RECALLED} = :yes",
        "ConditionExpression": "progress = :open",
        "ExpressionAttributeValues": typed({":yes": True, ":open": Progress.OPEN.value})["M"],
    }
    with suppress(Stale):
        raw.dynamodb("UpdateItem", update)


def list_parts(delivery_id: str) -> list[Part]:
    """Every part, as it is now."""
    parts: list[Part] = []
    query = {
        "TableName": _table(),
        "KeyConditionExpression": "delivery_id = :id",
        "ExpressionAttributeValues": {":id": {"S": delivery_id}},
        "ConsistentRead": True,
    }
    while True:
        page = raw.dynamodb("Query", query)
        items = (plain(item) for item in page["Items"])
        parts += [_part(item) for item in items if item["part"] != _PLAN]
        if "LastEvaluatedKey" not in page:
            return parts
        query["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def take(delivery_id: str, name: str, holder: str, now: int, until: int) -> Part | None:
    """Lease the part; None if it is not open or belongs to somebody."""
    values = {":holder": holder, ":until": until, ":one": 1, ":now": now, ":open": Progress.OPEN.value}
    update = {
        **_key(delivery_id, name),
        "UpdateExpression": "SET holder = :holder, #until = :until, version = version + :one",
        "ConditionExpression": "progress = :open AND #until < :now",
        "ExpressionAttributeNames": {"#until": "until"},
        "ExpressionAttributeValues": typed(values)["M"],
        "ReturnValues": "ALL_NEW",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    try:
        return _part(plain(raw.dynamodb("UpdateItem", update)["Attributes"]))
    except Stale as failure:
        if failure.found and failure.found[0]["holder"] == holder:
            return _part(failure.found[0])  # our own first try, whose answer was lost
        return None


def save(part: Part, *, unless_recalled: bool = False) -> Part:
    """Write it over the version it came from; raises `Lost` if that is not what is stored. This takes the mark of
    `recall` off the row; with `unless_recalled` it raises `Recalled` instead and writes nothing."""
    item = _item(replace(part, version=part.version + 1))
    put = {**_put_over(item, part.version, unless_recalled), "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    try:
        raw.dynamodb("PutItem", put)
    except Stale as failure:
        found = failure.found[0] if failure.found else {}
        is_recalled = found.pop(_RECALLED, False)
        if is_recalled and found["version"] == part.version:
            raise Recalled from None
        if found != plain(item):
            raise Lost from None
    return replace(part, version=part.version + 1)


def save_owing(part: Part, owed: Sequence[Part]) -> Part:
    """The same, together with the parts for people it owes a mail."""
    item = _item(replace(part, version=part.version + 1))
    puts = [_put(_item(each), "attribute_not_exists(delivery_id)") for each in owed]
    if not _transact([{"Put": _put_over(item, part.version)}, *puts]):
        raise Lost
    return replace(part, version=part.version + 1)


def forget(parts: Sequence[Part]) -> None:
    """Nothing is owed: delete the parts. The plan stays until it expires."""
    table = _table()
    deletes = [{"DeleteRequest": {"Key": _key(part.delivery_id, part.name)["Key"]}} for part in parts]
    while deletes:
        now, later = deletes[:_MOST_WRITES], deletes[_MOST_WRITES:]
        answer = raw.dynamodb("BatchWriteItem", {"RequestItems": {table: now}})
        deletes = answer.get("UnprocessedItems", {}).get(table, []) + later


def expire(delivery_id: str, parts: Sequence[Part], at: int) -> None:
    """Keep the parts and the plan until then."""
    for part in parts:
        save(replace(part, expires_at=at))
    _change_plan(delivery_id, "SET expires_at = :at", "attribute_exists(delivery_id)", {":at": at})


def book(free: int, taken: int | None) -> int | None:
    """Move the moment from which mails may be sent from `taken` (None if never set) to `free`.

    Returns None when that worked, else the moment that is stored."""
    values: dict[str, Any] = {":free": free}
    condition = "attribute_not_exists(free_from)"
    if taken is not None:
        condition, values[":taken"] = "free_from = :taken", taken
    update = {
        **_key(_PACE, _PACE),
        "UpdateExpression": "SET free_from = :free",
        "ConditionExpression": condition,
        "ExpressionAttributeValues": typed(values)["M"],
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    try:
        raw.dynamodb("UpdateItem", update)
    except Stale as failure:
        return int(failure.found[0]["free_from"]) if failure.found else 0
    return None


def _table() -> str:
    return f"{settings.current().prefix}-sending"


def _key(delivery_id: str, name: str) -> dict[str, Any]:
    return {"TableName": _table(), "Key": {"delivery_id": {"S": delivery_id}, "part": {"S": name}}}


def _put(item: dict[str, Any], condition: str) -> dict[str, Any]:
    return {"Put": {"TableName": _table(), "Item": item, "ConditionExpression": condition}}


def _put_over(item: dict[str, Any], version: int, unless_recalled: bool = False) -> dict[str, Any]:
    return {
        "TableName": _table(),
        "Item": item,
        "ConditionExpression": "version = :version" + _UNLESS_RECALLED * unless_recalled,
        "ExpressionAttributeValues": {":version": {"N": str(version)}},
    }


def _transact(writes: Sequence[dict[str, Any]]) -> bool:
    try:
        raw.dynamodb("TransactWriteItems", {"TransactItems": list(writes), "ClientRequestToken": ids.new()})
    except Stale:
        return False
    return True


def _change_plan(delivery_id: str, expression: str, condition: str, values: dict[str, Any]) -> bool:
    update = {
        **_key(delivery_id, _PLAN),
        "UpdateExpression": expression,
        "ConditionExpression": condition,
        "ExpressionAttributeValues": typed(values)["M"],
    }
    try:
        raw.dynamodb("UpdateItem", update)
    except Stale:
        return False
    return True


def _plan_item(plan: Plan) -> dict[str, Any]:
    item = {"delivery_id": plan.delivery_id, "part": _PLAN, "attempt": plan.attempt}
    return {name: typed(value) for name, value in item.items()}


def _item(part: Part) -> dict[str, Any]:
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
    if part.cursor:
        item["cursor"] = pack_ids([part.cursor])
    if part.claim:
        item |= {"claim": pack_ids(part.claim), "out": part.out}
    if part.expires_at:
        item["expires_at"] = part.expires_at
    return {name: typed(value) for name, value in item.items()}


def _part(item: dict[str, Any]) -> Part:
    cursor = unpack_ids(item.get("cursor", b""))
    return Part(
        item["delivery_id"],
        item["part"],
        attempt=item["attempt"],
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


def _dashed(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
