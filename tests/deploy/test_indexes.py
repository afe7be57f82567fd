"""An upgrade that adds several indexes to a table adds them one at a time."""

from copy import deepcopy

import yaml

from deploy import indexes, stack
from local.emulator import TEMPLATE

WANTED = yaml.safe_load(TEMPLATE.read_text())


def without(*names):
    """The template as it was before these indexes of the subscribers."""
    before = deepcopy(WANTED)
    table = before["Resources"]["SubscribersTable"]["Properties"]
    table["GlobalSecondaryIndexes"] = [i for i in table["GlobalSecondaryIndexes"] if i["IndexName"] not in names]
    schemas = (table["KeySchema"], *(index["KeySchema"] for index in table["GlobalSecondaryIndexes"]))
    keys = {part["AttributeName"] for schema in schemas for part in schema}
    table["AttributeDefinitions"] = [one for one in table["AttributeDefinitions"] if one["AttributeName"] in keys]
    return before


def names(template):
    table = template["Resources"]["SubscribersTable"]["Properties"]
    return [index["IndexName"] for index in table["GlobalSecondaryIndexes"]]


def test_two_new_indexes_are_two_updates():
    (step,) = indexes.steps(without("by_pause", "by_shard"), WANTED)
    assert names(step) == ["by_status", "by_pause"]
    assert step == without("by_shard")


def test_one_new_index_or_none_is_no_extra_update():
    assert list(indexes.steps(without("by_shard"), WANTED)) == []
    assert list(indexes.steps(WANTED, WANTED)) == []
    assert list(indexes.steps({"Resources": {}}, WANTED)) == []


def test_every_update_adds_at_most_one_index():
    before = without("by_status", "by_pause", "by_shard")
    assert [names(step) for step in indexes.steps(before, WANTED)] == [["by_status"], ["by_status", "by_pause"]]
    assert names(before) == []


def test_they_are_deployed_before_the_rest_with_the_parameters_there_are(monkeypatch):
    changes = []
    monkeypatch.setattr(stack, "_status", lambda *given: "UPDATE_COMPLETE")
    monkeypatch.setattr(stack, "_deployed", lambda *given: without("by_pause", "by_shard"))
    monkeypatch.setattr(stack, "outputs", lambda *given: {})
    monkeypatch.setattr(stack, "_change", lambda _, name, template, given, exists: changes.append((template, given)))
    stack.apply(lambda service: None, "gna-test", WANTED, {"Prefix": "gna-test"})
    (first, kept), (last, given) = changes
    assert names(first) == ["by_status", "by_pause"]
    assert kept == [{"ParameterKey": name, "UsePreviousValue": True} for name in WANTED["Parameters"]]
    assert (last, given) == (WANTED, [{"ParameterKey": "Prefix", "ParameterValue": "gna-test"}])
