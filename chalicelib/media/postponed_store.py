"""Messages that are put on a queue hours later. SQS itself holds one back for 15 minutes at most."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct
from pynamodb.attributes import UnicodeAttribute
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.kernel import clock
from chalicelib.kernel.aws import tables

SEND = "send"


class Postponed(Struct, frozen=True):
    queue: str
    message: Mapping[str, Any]


class _DueIndex(GlobalSecondaryIndex["PostponedRow"]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    todo = UnicodeAttribute(hash_key=True)
    due_at = UnicodeAttribute(range_key=True)


class PostponedRow(tables.Row):
    class Meta:
        table_name = tables.name("media")

    id = UnicodeAttribute(hash_key=True)
    queue = UnicodeAttribute()
    message = UnicodeAttribute()
    todo = UnicodeAttribute()
    due_at = UnicodeAttribute()
    due = _DueIndex()


def add(postponed: Postponed, due_at: datetime) -> None:
    """Once, however often the same message is postponed; the last moment counts."""
    text = json.dumps(postponed.message, sort_keys=True)
    id = "postponed " + hashlib.sha256(f"{postponed.queue}\n{text}".encode()).hexdigest()[:32]
    row = PostponedRow(id, queue=postponed.queue, message=text, todo=SEND, due_at=clock.text(due_at))
    tables.put(row)


def list_due(now: datetime) -> Iterator[str]:
    for row in tables.query_index(PostponedRow.due, SEND, range_key_condition=_DueIndex.due_at <= clock.text(now)):
        yield row.id


def find(id: str) -> Postponed | None:
    row = tables.get(PostponedRow, id)
    return Postponed(row.queue, json.loads(row.message)) if row else None


def forget(id: str) -> None:
    tables.delete(PostponedRow(id))
