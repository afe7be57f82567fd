"""`make restore`: brings back subscribers who are in a restored copy of the tables but no longer in the tables.

First restore `subscribers`, `emails` and `captures` to the same point in time in the DynamoDB console, each with
`-restored` appended to its name. Those who left since then, or had not confirmed, are not restored, and existing
subscribers are not changed.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
from botocore.exceptions import ClientError

from chalicelib.kernel import clock
from chalicelib.kernel.plurals import count_of
from deploy import stage as stages
from deploy.stack import Clients
from deploy.stage import Refused, Stage

Row = dict[str, Any]

_GONE = ("UNSUBSCRIBED", "DO_NOT_CONTACT_SET")
# Who left is known from the events, which are kept this long.
_EVENTS_KEPT = timedelta(days=30)
_MOST_CAPTURES = 97  # a transaction holds a hundred rows


@dataclass
class Person:
    row: Row
    address: Row
    captures: list[Row] = field(default_factory=list)


def missing(clients: Clients, stage: Stage, now: datetime) -> list[Person]:
    """The subscribers who could be restored."""
    dynamodb, prefix = clients("dynamodb"), stage.prefix
    for table in ("subscribers", "emails", "captures"):
        _check_age(dynamodb, f"{prefix}-{table}-restored", now)
    here = {row["id"]["S"] for row in _scan(dynamodb, f"{prefix}-subscribers", "id")}
    gone = {row["aggregate_id"]["S"] for row in _scan(dynamodb, f"{prefix}-events") if row["type"]["S"] in _GONE}
    addresses = {row["subscriber_id"]["S"]: row for row in _scan(dynamodb, f"{prefix}-emails-restored")}
    people = {
        id: Person(row, addresses[id])
        for row in _scan(dynamodb, f"{prefix}-subscribers-restored")
        if (id := row["id"]["S"]) not in here | gone and id in addresses and row["status"]["S"] == "activated"
    }
    for capture in _scan(dynamodb, f"{prefix}-captures-restored"):
        if capture["subscriber_id"]["S"] in people:
            # A request whose confirmation was held then is not held now: the clean-up lets it expire.
            if "waits_until" in capture:
                capture["waits_until"] = {"S": min(capture["waits_until"]["S"], clock.text(now))}
            people[capture["subscriber_id"]["S"]].captures.append(capture)
    return list(people.values())


def restore(clients: Clients, stage: Stage, person: Person) -> bool:
    """Restore a person completely or not at all; not if the address now belongs to someone else."""
    prefix = stage.prefix
    writes = [
        _put(f"{prefix}-subscribers", person.row, "id"),
        _put(f"{prefix}-emails", person.address, "address"),
        *(_put(f"{prefix}-captures", capture, "subscriber_id") for capture in person.captures[:_MOST_CAPTURES]),
    ]
    try:
        clients("dynamodb").transact_write_items(TransactItems=writes)
    except ClientError as failure:
        if failure.response["Error"]["Code"] != "TransactionCanceledException":
            raise
        return False
    return True


def look_again(clients: Clients, stage: Stage) -> None:
    """A copy of an earlier version lacks what searches need: the next clean-up looks through everybody."""
    key = {"kind": {"S": "search"}, "slot": {"S": "filling"}}
    clients("dynamodb").delete_item(TableName=f"{stage.prefix}-census", Key=key)


def _check_age(dynamodb: Any, table: str, now: datetime) -> None:
    try:
        found = dynamodb.describe_table(TableName=table)["Table"]
    except dynamodb.exceptions.ResourceNotFoundException:
        raise Refused(f"{table} is missing: restore it to a point in time in the DynamoDB console") from None
    restored_to = found.get("RestoreSummary", {}).get("RestoreDateTime", now)
    if now - restored_to > _EVENTS_KEPT:
        raise Refused(f"{table} is older than {_EVENTS_KEPT.days} days: it is no longer known who left since then")


def _scan(dynamodb: Any, table: str, *names: str) -> Iterator[Row]:
    projection = {"ProjectionExpression": ", ".join(names)} if names else {}
    for page in dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True, **projection):
        yield from page["Items"]


def _put(table: str, row: Row, key: str) -> dict[str, Any]:
    return {"Put": {"TableName": table, "Item": row, "ConditionExpression": f"attribute_not_exists({key})"}}


def main(arguments: list[str] | None = None, clients: Clients = boto3.client) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", default="dev")
    parser.add_argument("--copy", action="store_true", help="restore them; without it they are only counted")
    options = parser.parse_args(arguments)
    stage = stages.Stage(options.stage, {})
    people = missing(clients, stage, datetime.now(UTC))
    who = count_of(len(people), "person is", "people are")
    print(f"{who} in the restored tables but not in {stage.prefix}, and did not leave")
    if options.copy:
        restored = sum(restore(clients, stage, person) for person in people)
        if restored:
            look_again(clients, stage)
        print(f"{restored} restored")


if __name__ == "__main__":
    main()
