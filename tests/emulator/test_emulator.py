"""The embedded AWS itself: what the other tests in this folder, and the local runner, take for granted."""

import socket
from pathlib import Path

import pytest

from chalicelib.kernel import limits
from chalicelib.kernel.aws import queues, tables
from local.emulator import TEMPLATE, Emulator
from tests.conftest import received


def test_the_app_is_well_on_it(http):
    assert http.get("/health").json["status"] == "ok"


def test_it_starts_empty_one(sqs):
    queues.send("audience", {"x": 1})


def test_it_starts_empty_two(emulator):
    assert received("audience") == []


def test_it_listens_on_the_loopback_interface_only(emulator):
    port = int(emulator.url.rsplit(":", 1)[1])
    listening = [
        line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"
    ]
    assert f"0100007F:{port:04X}" in listening
    assert f"00000000:{port:04X}" not in listening


def test_tables_forget_what_has_expired(emulator):
    table = tables.name("limits")
    found = emulator.client("dynamodb").describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    assert found == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at"}


NEW_TABLE = """
  NewTable:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: {Fn::Sub: "${Prefix}-new"}
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: key, AttributeType: S}]
      KeySchema: [{AttributeName: key, KeyType: HASH}]
"""


def test_data_survives_a_restart_and_a_changed_template_is_applied(tmp_path):
    first = Emulator(tmp_path / "data")
    first.start()
    first.deploy("trial")
    first.client("dynamodb").put_item(TableName="trial-limits", Item={"key": {"S": "kept"}})
    sqs = first.client("sqs")
    sqs.send_message(QueueUrl=sqs.get_queue_url(QueueName="trial-audience")["QueueUrl"], MessageBody="kept")
    picture = {"Bucket": "trial-media-000000000000", "Key": "public/kept.png"}
    first.client("s3").put_object(**picture, Body=b"kept", ContentType="image/png")
    first.stop()

    changed = tmp_path / "resources.yaml"
    changed.write_text(TEMPLATE.read_text().rstrip() + NEW_TABLE)
    second = Emulator(tmp_path / "data")
    second.start()
    second.deploy("trial", changed)
    dynamodb, sqs = second.client("dynamodb"), second.client("sqs")
    url = sqs.get_queue_url(QueueName="trial-audience")["QueueUrl"]
    assert dynamodb.scan(TableName="trial-limits")["Items"] == [{"key": {"S": "kept"}}]
    assert "trial-new" in dynamodb.list_tables()["TableNames"]
    assert [message["Body"] for message in sqs.receive_message(QueueUrl=url)["Messages"]] == ["kept"]
    found = second.client("s3").get_object(**picture)
    assert (found["Body"].read(), found["ContentType"]) == (b"kept", "image/png")
    second.stop()
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", int(second.url.rsplit(":", 1)[1])), 1):
        pass


def test_a_limit_holds_against_callers_at_the_same_moment(emulator, together):
    spent = together(*[lambda: limits.spend("trial", "somebody", 3, 86400) for _ in range(10)])
    assert sum(not isinstance(result, Exception) for result in spent) == 3
