"""What must be true once everything has finished, read directly from the tables."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from local.options import PREFIX
from local.trial.people import LEFT, Person
from local.trial.stack import Stack

_TABLES = (
    "subscribers",
    "emails",
    "tokens",
    "captures",
    "census",
    "campaigns",
    "campaign-contents",
    "deliveries",
    "events",
    "items",
    "inbox",
    "follows",
    "creators",
    "connections",
)
COUNTS = ("recipients", "sent_count", "failure_count", "unknown_count")


class Truth:
    def __init__(self, stack: Stack) -> None:
        dynamodb = stack.aws("dynamodb")
        self.tables = {name: list(rows(dynamodb, name)) for name in _TABLES}
        self.everything = {table: json.dumps(list(rows(dynamodb, table)), default=str) for table in _names(dynamodb)}
        self._log = stack.log()

    def broken(self, people: Iterable[Person]) -> list[str]:
        people = list(people)
        checks = (
            self._one_each(),
            self._no_orphans(),
            self._sources(),
            self._counts(),
            self._promises(people),
            self._erased(people),
        )
        return [line for found in checks for line in found]

    def activated(self) -> set[str]:
        return {row["email"] for row in self.tables["subscribers"] if row["status"] == "activated"}

    def _one_each(self) -> Iterator[str]:
        by_address = Counter(row["email"].casefold() for row in self.tables["subscribers"])
        for address, count in by_address.items():
            if count > 1:
                yield f"{count} records of one address ({address})"

    def _no_orphans(self) -> Iterator[str]:
        people = {row["id"]: row for row in self.tables["subscribers"]}
        keys = {row["address"]: row["subscriber_id"] for row in self.tables["emails"]}
        for address, owner in keys.items():
            if owner not in people or people[owner]["email"].casefold() != address:
                yield f"an e-mail key without its subscriber ({owner})"
        for id, row in people.items():
            if keys.get(row["email"].casefold()) != id:
                yield f"a subscriber without an e-mail key ({id})"
        for row in self.tables["tokens"]:
            if row["subscriber_id"] in ("held", "backlog"):
                if row["subscriber_id"] == "held" and row["kind"] not in people:
                    yield f"a held confirmation of nobody ({row['kind']})"
            elif row["kind"] not in ("lift", "sign-up") and row["subscriber_id"] not in people:
                yield f"a {row['kind']} token of nobody ({row['subscriber_id']})"
        for row in self.tables["captures"]:
            if row["status"] != "EXPIRED" and row["subscriber_id"] not in people:
                yield f"a capture of nobody ({row['subscriber_id']})"

    def _sources(self) -> Iterator[str]:
        """What a person's row says of their sources is what their captures say."""
        captures = self.tables["captures"]
        for person in self.tables["subscribers"]:
            own = [row for row in captures if row["subscriber_id"] == person["id"]]
            if {row["source"] for row in own if row["status"] == "CONFIRMED"} != set(person.get("sources", ())):
                yield f"a subscriber with other sources than their captures ({person['id']})"
            if {row["source"] for row in own if "request_id" in row} != set(person.get("asked_sources", ())):
                yield f"a subscriber with other requests than their captures ({person['id']})"

    def _counts(self) -> Iterator[str]:
        counted = sum(int(row.get("joined", 0)) - int(row.get("left", 0)) for row in self.tables["census"])
        if counted != len(self.activated()):
            yield f"the counts say {counted}, the table has {len(self.activated())} activated"
        placed = sum(int(row.get("people", 0)) for row in self.tables["census"])
        known = sum(row["status"] == "activated" and "shard" in row for row in self.tables["subscribers"])
        if placed != known:
            yield f"the counts by second say {placed}, the table has {known} activated with a shard"

    def _promises(self, people: list[Person]) -> Iterator[str]:
        """An answer is a promise. Without an answer nothing was promised."""
        here = {row["email"]: row for row in self.tables["subscribers"]}
        for person in people:
            row = here.get(person.email, {})
            found = row.get("status")
            if person.promise in LEFT and found and not _shared(person.email):
                yield f"{person.email} was promised to have left and is {found}"
            if person.unsure:
                continue
            if person.promise == "confirmed" and found != "activated":
                yield f"{person.email} was promised to be confirmed and is {found or 'gone'}"
            if person.promise == "confirmed" and person.nickname not in ("?", row.get("nickname", "")):
                yield f"{person.email} was promised another nickname"
            if person.promise == "accepted" and not found and not self._is_suppressed(person.email):
                yield f"{person.email} was promised a mail and is gone"

    def _is_suppressed(self, email: str) -> bool:
        """The form does not reveal a do-not-contact mark, and such a sign-up is not kept."""
        from chalicelib.audience import model
        from chalicelib.kernel import addresses

        return model.address_pseudonym(addresses.key(email)) in self.everything.get("suppressions", "")

    def _erased(self, people: list[Person]) -> Iterator[str]:
        """Nothing is kept of people who left, nothing of what somebody changed, and nobody is in a log."""
        for person in people:
            known = [text for text in (person.email, person.nickname, person.wanted, *person.given) if len(text) > 1]
            if any(text in self._log for text in (*known, *person.gone)):
                yield f"{person.email} is in the log"
            gone = [*person.gone, *(known if person.promise in LEFT else ())]
            for table, text in self.everything.items():
                if table == "tokens" and person.awaits_lift:
                    continue  # the link they asked for waits for its 15 minutes, with the address it was mailed to
                if any(erased in text for erased in map(_quoted, gone) if not _shared(erased)):
                    yield f"{person.email} has left or changed and is still in {table}"


def _quoted(text: str) -> str:
    """As it stands in a dump, and not as a part of something longer; a capture's metadata is a dump in a dump."""
    return text if text.endswith("zq") else f'"{text}"'


def _shared(address: str) -> bool:
    """Several people wanted this address, so it says nothing about any of them."""
    return "shared" in address


def _names(dynamodb: Any) -> list[str]:
    names = dynamodb.list_tables()["TableNames"]
    return [name.removeprefix(f"{PREFIX}-") for name in names if name.startswith(f"{PREFIX}-")]


def rows(dynamodb: Any, table: str) -> Iterator[dict[str, Any]]:
    for page in dynamodb.get_paginator("scan").paginate(TableName=f"{PREFIX}-{table}", ConsistentRead=True):
        for item in page["Items"]:
            yield {name: next(iter(value.values())) for name, value in item.items()}


def crowd(stack: Stack, count: int, *more: str) -> list[str]:
    """Write this many activated subscribers and some named ones directly into the tables, and count them; return the
    addresses of the many."""
    from chalicelib.kernel import clock, ids

    dynamodb, now = stack.aws("dynamodb"), clock.text(clock.now())
    addresses = [f"crowd{number}@crowd.example.org" for number in range(count)]
    people = [
        {
            "id": ids.new(),
            "email": address,
            "status": "activated",
            "unsubscribe_secret": ids.secret(),
            "created_at": now,
            "activated_at": now,
        }
        for address in (*addresses, *more)
    ]
    _put(dynamodb, "subscribers", people)
    _put(dynamodb, "emails", [{"address": person["email"], "subscriber_id": person["id"]} for person in people])
    day = {"kind": {"S": "subscribers"}, "slot": {"S": f"{now[:10]}#0"}}
    dynamodb.update_item(
        TableName=f"{PREFIX}-census",
        Key=day,
        UpdateExpression="ADD joined :n, #l :z",
        ExpressionAttributeNames={"#l": "left"},
        ExpressionAttributeValues={":n": {"N": str(len(people))}, ":z": {"N": "0"}},
    )
    return addresses


def _put(dynamodb: Any, table: str, rows: list[dict[str, str]]) -> None:
    for first in range(0, len(rows), 25):
        puts = [
            {"PutRequest": {"Item": {name: {"S": value} for name, value in row.items()}}}
            for row in rows[first : first + 25]
        ]
        dynamodb.batch_write_item(RequestItems={f"{PREFIX}-{table}": puts})
