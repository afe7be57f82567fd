"""How many activated subscribers signed up in which second, beside the daily counts: numbers, nothing about anybody.

A deep page of the list is found by adding them up. Everybody who joins or leaves changes the row of the second they
signed up in; rows that have become many are merged into one for about a thousand people, the first of them. From an
anchor on, everything is counted in rows from there on, however they were merged."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.kernel import settings
from chalicelib.kernel.aws import raw, tables
from chalicelib.kernel.aws.failures import Stale
from chalicelib.kernel.aws.tables import Delete, Update, Write

_KIND = "places"


class PlaceRow(tables.Row):
    """`slot` is a second, as the beginning of a time in text. `people` may be below zero beside an anchor that counts
    those who have left."""

    class Meta:
        table_name = tables.name("census")

    kind = UnicodeAttribute(hash_key=True)
    slot = UnicodeAttribute(range_key=True)
    people = NumberAttribute()
    anchor = BooleanAttribute(null=True)


class Place(Struct, frozen=True):
    slot: str
    people: int
    anchor: bool


def move_write(slot: str, people: int) -> Write:
    return Update(PlaceRow(_KIND, slot), [PlaceRow.people.add(people)])


def anchored_write(slot: str, people: int) -> Write:
    return Update(PlaceRow(_KIND, slot), [PlaceRow.people.add(people), PlaceRow.anchor.set(True)])


def newest_first() -> list[Place]:
    """As they are now: some forty bytes each, so that one request reads twenty thousand."""
    query: dict[str, Any] = {
        "TableName": f"{settings.current().prefix}-census",
        "KeyConditionExpression": "#kind = :kind",
        "ExpressionAttributeNames": {"#kind": "kind"},
        "ExpressionAttributeValues": {":kind": {"S": _KIND}},
        "ConsistentRead": True,
        "ScanIndexForward": False,
    }
    found: list[Place] = []
    while True:
        answer = raw.dynamodb("Query", query)
        found += map(_parse, answer["Items"])
        if "LastEvaluatedKey" not in answer:
            return found
        query["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def anchor_write(place: Place) -> Write:
    """Provided the row is there still: rows are merged oldest first, so all that is newer is counted apart, too."""
    return Update(PlaceRow(_KIND, place.slot), [PlaceRow.anchor.set(True)], PlaceRow.people == place.people)


def merge_writes(anchor: Place, others: Sequence[Place]) -> list[Write]:
    """Counted in the anchor's row from now on, provided none of them has changed meanwhile."""
    people = sum(place.people for place in others)
    merged = Update(PlaceRow(_KIND, anchor.slot), [PlaceRow.people.add(people)], PlaceRow.anchor == True)  # noqa: E712
    return [merged, *(_delete_write(place) for place in others)]


def forget(place: Place) -> bool:
    """False if it has changed meanwhile."""
    try:
        tables.transact(_delete_write(place))
    except Stale:
        return False
    return True


def _delete_write(place: Place) -> Write:
    unchanged = (PlaceRow.people == place.people) & PlaceRow.anchor.does_not_exist()
    return Delete(PlaceRow(_KIND, place.slot), unchanged)


def _parse(item: dict[str, Any]) -> Place:
    return Place(item["slot"]["S"], int(item["people"]["N"]), "anchor" in item)


def sum_of(places: Iterable[Place]) -> int:
    return sum(place.people for place in places)
