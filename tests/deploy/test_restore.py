"""Restoring subscribers from restored tables: those who are missing, and nobody else."""

from datetime import UTC, datetime, timedelta

import boto3
import pytest

from chalicelib.kernel.aws import tables
from deploy import restore
from deploy.stage import Refused, Stage
from tests.conftest import received

STAGE = Stage("test", {})
NAMES = ("subscribers", "emails", "captures")


@pytest.fixture
def dynamodb(aws):
    return boto3.client("dynamodb")


@pytest.fixture
def reader(http, ses):
    """`reader("ada@example.net")`: sign somebody up, confirm unless told not to, and return the unsubscribe token."""
    from chalicelib.audience import jobs
    from chalicelib.audience.stores.subscribers import SubscriberRow

    def join(email, confirm=True):
        http.post("/api/subscribe", json={"email": email, "source": "blog"}, source_ip=f"192.0.2.{len(email)}")
        for message in received("audience"):
            jobs.handle(message)
        link = ses.mails(to=email)[0]["text"].partition("/confirm?token=")[2].split()[0]
        if confirm:
            assert http.get(f"/confirm?token={link}").status == 303
        row = next(row for row in SubscriberRow.scan() if row.email == email)
        return f"{row.id}.{row.unsubscribe_secret}"

    return join


@pytest.fixture
def back_up(dynamodb):
    """Copies of the tables, as a restore in the console would make them."""
    made = []

    def copy():
        for name in NAMES:
            described = dynamodb.describe_table(TableName=tables.name(name))["Table"]
            hashed = described["KeySchema"]
            keys = {part["AttributeName"] for part in hashed}
            dynamodb.create_table(
                TableName=f"{tables.name(name)}-restored",
                KeySchema=hashed,
                AttributeDefinitions=[
                    one for one in described["AttributeDefinitions"] if one["AttributeName"] in keys
                ],
                BillingMode="PAY_PER_REQUEST",
            )
            made.append(name)
            for row in dynamodb.scan(TableName=tables.name(name))["Items"]:
                dynamodb.put_item(TableName=f"{tables.name(name)}-restored", Item=row)

    yield copy
    for name in made:
        dynamodb.delete_table(TableName=f"{tables.name(name)}-restored")


def wipe(dynamodb):
    for name, keys in (("subscribers", ["id"]), ("emails", ["address"]), ("captures", ["subscriber_id", "source"])):
        for row in dynamodb.scan(TableName=tables.name(name))["Items"]:
            dynamodb.delete_item(TableName=tables.name(name), Key={key: row[key] for key in keys})


def stored(dynamodb):
    return {name: len(dynamodb.scan(TableName=tables.name(name))["Items"]) for name in NAMES}


def test_lost_subscribers_are_restored_completely(dynamodb, reader, back_up, http, capsys):
    token = reader("ada@example.net")
    back_up()
    wipe(dynamodb)
    restore.main(["--stage", "test"])
    assert stored(dynamodb) == {"subscribers": 0, "emails": 0, "captures": 0}
    restore.main(["--stage", "test", "--copy"])
    assert "1 restored" in capsys.readouterr().out
    assert stored(dynamodb) == {"subscribers": 1, "emails": 1, "captures": 1}
    assert http.get(f"/api/unsubscribe?token={token}").status == 200
    assert stored(dynamodb) == {"subscribers": 0, "emails": 0, "captures": 0}


def test_those_who_left_since_are_not_restored(dynamodb, reader, back_up, http, capsys):
    token = reader("ada@example.net")
    back_up()
    http.get(f"/api/unsubscribe?token={token}")
    restore.main(["--stage", "test", "--copy"])
    assert "0 restored" in capsys.readouterr().out
    assert stored(dynamodb)["subscribers"] == 0


def test_those_who_had_not_confirmed_are_not_restored(dynamodb, reader, back_up):
    reader("ada@example.net", confirm=False)
    back_up()
    wipe(dynamodb)
    assert restore.missing(boto3.client, STAGE, datetime.now(UTC)) == []


def test_an_address_that_signed_up_again_is_not_overwritten(dynamodb, reader, back_up, capsys):
    reader("ada@example.net")
    back_up()
    wipe(dynamodb)
    reader("ada@example.net")
    restore.main(["--stage", "test", "--copy"])
    assert "0 restored" in capsys.readouterr().out
    assert stored(dynamodb) == {"subscribers": 1, "emails": 1, "captures": 1}


def test_without_restored_tables_the_error_says_what_to_do(aws):
    with pytest.raises(Refused, match="gna-test-subscribers-restored is missing"):
        restore.main(["--stage", "test"])


def test_a_copy_older_than_the_events_is_refused(dynamodb, reader, back_up, monkeypatch):
    back_up()
    described = dynamodb.describe_table

    def old(**wanted):
        answer = described(**wanted)
        answer["Table"]["RestoreSummary"] = {"RestoreDateTime": datetime.now(UTC) - timedelta(days=31)}
        return answer

    monkeypatch.setattr(dynamodb, "describe_table", old)
    with pytest.raises(Refused, match="older than 30 days"):
        restore.main(["--stage", "test"], lambda service: dynamodb)
