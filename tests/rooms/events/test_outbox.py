"""Events are written with the change they are about, in order, small, and without personal data."""

import json

import boto3
import pytest

from chalicelib.events import model, outbox
from chalicelib.events.model import EventType
from chalicelib.kernel import ids
from chalicelib.kernel.aws import queues, tables


def stored() -> list[dict[str, dict[str, str]]]:
    return boto3.client("dynamodb").scan(TableName=queues.name("events"))["Items"]


def test_an_event_is_written_with_the_change(aws: None) -> None:
    subscriber = ids.new()
    tables.transact(outbox.event_write(EventType.SUBSCRIPTION_CREATED, subscriber, {"subscriber_id": subscriber}))
    (item,) = stored()
    assert item["aggregate_id"]["S"] == subscriber
    assert item["type"]["S"] == "SUBSCRIPTION_CREATED"
    assert item["pending"] == item["id"]
    assert "processed_at" not in item
    assert "expires_at" not in item


def test_ids_given_in_one_moment_keep_their_order() -> None:
    given = [outbox._next_id() for _ in range(5_000)]
    assert given == sorted(given)
    assert len(set(given)) == 5_000
    assert all(ids.is_id(id) for id in given)


def test_an_undocumented_field_is_refused() -> None:
    with pytest.raises(ValueError, match="email"):
        outbox.event_write(EventType.UNSUBSCRIBED, ids.new(), {"email": "ada@example.org"})


def test_an_address_where_a_form_names_its_source_is_left_out(aws: None) -> None:
    tables.transact(
        outbox.event_write(EventType.SUBSCRIPTION_CREATED, "a", {"subscriber_id": "a", "source": "ada@b.org"})
    )
    (item,) = stored()
    assert json.loads(item["payload"]["S"]) == {"subscriber_id": "a", "source": None}


@pytest.mark.parametrize("type", EventType)
def test_every_type_fits_one_kilobyte(aws: None, type: EventType) -> None:
    tables.transact(outbox.event_write(type, ids.new(), model.EXAMPLES[type]))
    (item,) = stored()
    size = sum(len(name) + len(value["S"]) for name, value in item.items())
    assert size < 700
