"""Waves in DynamoDB, beside the parts of their delivery: how far they are, on the plan, and lists of the people who
wait for one. A list is on one row, so that working through it costs no more than a part does."""

from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from chalicelib.campaigns.sending import part_row_store as rows
from chalicelib.campaigns.sending.part_store import Lost
from chalicelib.campaigns.sending.parts import Aside, Part, Plan
from chalicelib.campaigns.sending.waves import Waves
from chalicelib.kernel.aws import raw
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.items import plain, typed

_ASIDE = f"{rows.LISTS}aside/"
_ABSENT = "attribute_not_exists(delivery_id)"


def change(plan: Plan, after: Waves, opened: Sequence[Part] = ()) -> bool:
    """The waves are so from now on, and these parts open: in one transaction, which holds only if nothing about the
    waves has changed since the plan was read, and the delivery was not stopped."""
    values = {":after": rows.waves_text(after), ":attempt": plan.attempt}
    condition = "attempt = :attempt AND attribute_not_exists(stopped) AND "
    if plan.waves:
        values[":before"] = rows.waves_text(plan.waves)
        condition += "waves = :before"
    else:
        condition += "attribute_not_exists(waves)"
    update = {
        **rows.key(plan.delivery_id, rows.PLAN),
        "UpdateExpression": "SET waves = :after",
        "ConditionExpression": condition,
        "ExpressionAttributeValues": typed(values)["M"],
    }
    return rows.transact([{"Update": update}, *(rows.put(rows.part_item(part), _ABSENT) for part in opened)])


def save_with_list(part: Part, people: Sequence[Aside]) -> Part:
    """The part, and a list of those it has set aside, which are no longer on its row. Raises `Lost` like
    `part_store.save`."""
    after = replace(part, version=part.version + 1, lists=part.lists + 1)
    name = f"{_ASIDE}{part.name}/{part.lists}"
    item = {"delivery_id": part.delivery_id, "part": name, "people": rows.pack_aside(people)}
    list_put = rows.put({key: typed(value) for key, value in item.items()}, _ABSENT)
    if not rows.transact([{"Put": rows.put_over(rows.part_item(after), part.version)}, list_put]):
        raise Lost
    return after


def read_aside(delivery_id: str) -> list[Aside]:
    """Everybody who was set aside."""
    found = rows.query(delivery_id, "begins_with(#part, :aside)", {":aside": _ASIDE})
    return [person for item in found for person in rows.unpack_aside(item["people"])]


def write_list(delivery_id: str, part: str, people: Sequence[str]) -> None:
    """Whom this part of a wave is for. Written once: a twin that comes late has only seen who was left by then."""
    item = {"delivery_id": delivery_id, "part": rows.LISTS + part, "people": rows.pack_ids(people)}
    put = {"TableName": rows.table(), "Item": {key: typed(value) for key, value in item.items()}}
    with suppress(Stale):
        raw.dynamodb("PutItem", put | {"ConditionExpression": _ABSENT})


def read_list(delivery_id: str, part: str) -> tuple[str, ...] | None:
    """None if it has expired."""
    found = raw.dynamodb("GetItem", {**rows.key(delivery_id, rows.LISTS + part), "ConsistentRead": True}).get("Item")
    return rows.unpack_ids(plain(found)["people"]) if found else None


def forget_aside(delivery_id: str) -> None:
    """They are on the lists of waves by now."""
    _forget(delivery_id, _ASIDE)


def forget_wave(delivery_id: str, wave: str) -> None:
    """The wave whose parts begin with this is over: who was in it is nobody's business."""
    _forget(delivery_id, rows.LISTS + wave)


def forget_all(delivery_id: str) -> None:
    _forget(delivery_id, rows.LISTS)


def expire(delivery_id: str, at: int | None) -> None:
    """Keep the lists until then, or until they are not needed."""
    for name in _names(delivery_id, rows.LISTS):
        update = {**rows.key(delivery_id, name), "UpdateExpression": "REMOVE expires_at"}
        if at:
            update |= {"UpdateExpression": "SET expires_at = :at", "ExpressionAttributeValues": {":at": typed(at)}}
        with suppress(Stale):
            raw.dynamodb("UpdateItem", update | {"ConditionExpression": "attribute_exists(delivery_id)"})


def _forget(delivery_id: str, prefix: str) -> None:
    rows.delete((delivery_id, name) for name in _names(delivery_id, prefix))


def _names(delivery_id: str, prefix: str) -> list[str]:
    found = rows.query(delivery_id, "begins_with(#part, :prefix)", {":prefix": prefix}, fields="#part")
    return [item["part"] for item in found]
