"""Rules for every table and queue in `deploy/resources.yaml`."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

FILE = Path(__file__).parent.parent.parent / "deploy" / "resources.yaml"
RESOURCES = yaml.safe_load(FILE.read_text())["Resources"]
QUEUES = {name: r["Properties"] for name, r in RESOURCES.items() if r["Type"] == "AWS::SQS::Queue"}
TABLES = {name: r["Properties"] for name, r in RESOURCES.items() if r["Type"] == "AWS::DynamoDB::Table"}


def test_no_resource_is_defined_twice():
    nodes = yaml.compose(FILE.read_text()).value
    names = [key.value for section, values in nodes if section.value == "Resources" for key, _ in values.value]
    assert not [name for name, times in Counter(names).items() if times > 1]


@pytest.mark.parametrize("name", QUEUES)
def test_every_queue_has_a_dead_letter_queue(name):
    if name.endswith("DeadLetters"):
        assert QUEUES[name]["MessageRetentionPeriod"] == (604800 if name == "MailEventsDeadLetters" else 1209600)
    else:
        redrive = QUEUES[name]["RedrivePolicy"]
        assert redrive["deadLetterTargetArn"] == {"Fn::GetAtt": [f"{name.removesuffix('Queue')}DeadLetters", "Arn"]}
        assert redrive["maxReceiveCount"] >= 3


@pytest.mark.parametrize("name", TABLES)
def test_every_table_defines_only_the_attributes_of_its_keys(name):
    table = TABLES[name]
    schemas = [table["KeySchema"], *(index["KeySchema"] for index in table.get("GlobalSecondaryIndexes", []))]
    keys = {key["AttributeName"] for schema in schemas for key in schema}
    assert keys == {attribute["AttributeName"] for attribute in table["AttributeDefinitions"]}
    assert table["BillingMode"] == "PAY_PER_REQUEST"


def test_names_begin_with_the_prefix():
    for properties in [*TABLES.values(), *QUEUES.values()]:
        name = properties.get("TableName") or properties["QueueName"]
        assert name["Fn::Sub"].startswith("${Prefix}-")
