"""The row of what editors have changed, as every process reads it twice a minute. Not by pynamodb, because most pages
need no other table."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from chalicelib.kernel import clock, settings
from chalicelib.kernel.aws import raw

KEY = "publication"
CURRENT = 0


class Stored(Struct, frozen=True):
    """`overrides` are the fields of the publication that were changed, and nothing else; `at` is when that was."""

    version: int = 0
    overrides: dict[str, Any] = field(default_factory=dict)
    at: datetime | None = None


def find() -> Stored:
    """As it is now (strongly consistent)."""
    key = {"id": {"S": KEY}, "number": {"N": str(CURRENT)}}
    table = f"{settings.current().prefix}-site"
    item = raw.dynamodb("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True}).get("Item")
    return parse(item) if item else Stored()


def parse(item: Mapping[str, Any]) -> Stored:
    """The row as DynamoDB answers."""
    at = clock.parse(item["at"]["S"]) if "at" in item else None
    return Stored(int(item["version"]["N"]), json.loads(item["overrides"]["S"]), at)
