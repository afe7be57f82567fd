"""What a delivery costs in write units: one for a kilobyte of a row, doubled by the transaction, and one for a
kilobyte in each index that has the row."""

import math

import boto3
import pytest
from msgspec.structs import replace

from chalicelib.events.store import EventRow
from chalicelib.inbox import service
from chalicelib.inbox.entry_store import EntryRow
from chalicelib.inbox.item_row_store import ItemRow
from chalicelib.inbox.model import DESK
from tests.rooms.inbox.things import NOON, to, video

pytestmark = pytest.mark.usefixtures("aws")

# As long as those of most videos are, and ids as long as ours are.
USUAL = replace(video("dQw4w9WgXcQ"), title="t" * 80, creator="c" * 30, creator_id="c" * 36, excerpt="e" * 450)
FOLLOW_ID = "0193a5c4-11f0-7a6b-8c01-2d3e4f506172"


def size(row, names=None):
    return sum(
        len(name.encode()) + len(str(next(iter(value.values()))).encode())
        for name, value in row.serialize().items()
        if names is None or name in names
    )


def index_units(kind, row):
    described = boto3.client("dynamodb").describe_table(TableName=kind.Meta.table_name)["Table"]
    primary = {key["AttributeName"] for key in described["KeySchema"]}
    units = 0
    for index in described["GlobalSecondaryIndexes"]:
        keys = {key["AttributeName"] for key in index["KeySchema"]}
        if keys <= set(row.serialize()):
            names = None if index["Projection"]["ProjectionType"] == "ALL" else keys | primary
            units += math.ceil(size(row, names) / 1024)
    return units


def units(*kinds):
    """Of writing every row that is stored now in one transaction."""
    return sum(2 * math.ceil(size(row) / 1024) + index_units(kind, row) for kind in kinds for row in kind.scan())


def test_a_delivery_to_one_owner():
    service.deliver(USUAL, to(DESK, follow_id=FOLLOW_ID), NOON)
    assert units(ItemRow, EntryRow, EventRow) == 11


def test_every_further_recipient():
    service.deliver(USUAL, to(*(f"{number:036}" for number in range(25)), follow_id=FOLLOW_ID), NOON)
    assert units(EntryRow) == 25 * 5
