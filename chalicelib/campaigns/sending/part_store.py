"""Parts of deliveries in DynamoDB, written with `kernel/aws/raw`: settling a batch and claiming the next is one write
of less than a kilobyte, and it happens for every fifty mails.

All of a part is written at once and only over the version that was read, so a write that is repeated because its
answer was lost can neither count twice nor undo what another worker did.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from chalicelib.campaigns.sending import part_row_store as rows
from chalicelib.campaigns.sending.parts import Part, Plan, Progress
from chalicelib.kernel.aws import raw
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.items import plain, typed

_PACE = "pace"
_RECALLED = "recalled"


class Lost(Exception):
    """Somebody else has the part now, or it has changed since it was read."""


class Recalled(Lost):
    """Its worker is to look at the plan before it sends more. Nothing else about the part has changed."""


def begin(plan: Plan, parts: Sequence[Part]) -> bool:
    """Write the plan and its parts in one transaction; False if that had been done before."""
    puts = [rows.put(rows.plan_item(plan), "attribute_not_exists(delivery_id)")]
    puts += [rows.put(rows.part_item(part), "attribute_not_exists(delivery_id)") for part in parts]
    return rows.transact(puts)


def find_plan(delivery_id: str) -> Plan | None:
    found = raw.dynamodb("GetItem", {**rows.key(delivery_id, rows.PLAN), "ConsistentRead": True}).get("Item")
    if not found:
        return None
    return rows.parse_plan(plain(found))


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
        **rows.key(part.delivery_id, part.name),
        "UpdateExpression": f"SET {_RECALLED} = :yes",
        "ConditionExpression": "progress = :open",
        "ExpressionAttributeValues": typed({":yes": True, ":open": Progress.OPEN.value})["M"],
    }
    with suppress(Stale):
        raw.dynamodb("UpdateItem", update)


def list_parts(delivery_id: str) -> list[Part]:
    """Every part, as it is now."""
    return view(delivery_id)[1]


def view(delivery_id: str) -> tuple[Plan | None, list[Part]]:
    """The plan and every part, as they are now."""
    plan, parts = None, []
    for item in rows.query(delivery_id, "#part < :lists", {":lists": rows.LISTS}):
        if item["part"] == rows.PLAN:
            plan = rows.parse_plan(item)
        else:
            parts.append(rows.parse_part(item))
    return plan, parts


def take(delivery_id: str, name: str, holder: str, now: int, until: int) -> Part | None:
    """Lease the part; None if it is not open or belongs to somebody."""
    values = {":holder": holder, ":until": until, ":one": 1, ":now": now, ":open": Progress.OPEN.value}
    update = {
        **rows.key(delivery_id, name),
        "UpdateExpression": "SET holder = :holder, #until = :until, version = version + :one",
        "ConditionExpression": "progress = :open AND #until < :now",
        "ExpressionAttributeNames": {"#until": "until"},
        "ExpressionAttributeValues": typed(values)["M"],
        "ReturnValues": "ALL_NEW",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    try:
        return rows.parse_part(plain(raw.dynamodb("UpdateItem", update)["Attributes"]))
    except Stale as failure:
        if failure.found and failure.found[0]["holder"] == holder:
            return rows.parse_part(failure.found[0])  # our own first try, whose answer was lost
        return None


def save(part: Part, *, unless_recalled: bool = False) -> Part:
    """Write it over the version it came from; raises `Lost` if that is not what is stored. This takes the mark of
    `recall` off the row; with `unless_recalled` it raises `Recalled` instead and writes nothing."""
    item = rows.part_item(replace(part, version=part.version + 1))
    put = {**rows.put_over(item, part.version, unless_recalled), "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
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
    item = rows.part_item(replace(part, version=part.version + 1))
    puts = [rows.put(rows.part_item(each), "attribute_not_exists(delivery_id)") for each in owed]
    if not rows.transact([{"Put": rows.put_over(item, part.version)}, *puts]):
        raise Lost
    return replace(part, version=part.version + 1)


def forget(parts: Sequence[Part]) -> None:
    """Nothing is owed: delete the parts. The plan stays until it expires."""
    rows.delete((part.delivery_id, part.name) for part in parts)


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
        **rows.key(_PACE, _PACE),
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


def _change_plan(delivery_id: str, expression: str, condition: str, values: dict[str, Any]) -> bool:
    update = {
        **rows.key(delivery_id, rows.PLAN),
        "UpdateExpression": expression,
        "ConditionExpression": condition,
        "ExpressionAttributeValues": typed(values)["M"],
    }
    try:
        raw.dynamodb("UpdateItem", update)
    except Stale:
        return False
    return True
