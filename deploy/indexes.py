"""New indexes of a table that exists, one after the other: DynamoDB adds one at a time, so CloudFormation refuses an
update that adds two."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

Template = Mapping[str, Any]

_TABLE = "AWS::DynamoDB::Table"


def steps(deployed: Template, wanted: Template) -> Iterator[dict[str, Any]]:
    """What is deployed, with all new indexes but one of each table, in as many updates as it takes. The last ones
    are left to the update that follows, which is the only one as a rule."""
    current = deepcopy(dict(deployed))
    while _add_one_each(current, wanted):
        yield deepcopy(current)


def _add_one_each(current: dict[str, Any], wanted: Template) -> bool:
    added = False
    for name, resource in wanted["Resources"].items():
        table = current["Resources"].get(name)
        if resource["Type"] != _TABLE or not table or table["Type"] != _TABLE:
            continue
        new = _new_indexes(table["Properties"], resource["Properties"])
        if len(new) > 1:
            _add(table["Properties"], new[0], resource["Properties"]["AttributeDefinitions"])
            added = True
    return added


def _new_indexes(deployed: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    known = {index["IndexName"] for index in deployed.get("GlobalSecondaryIndexes", ())}
    return [index for index in wanted.get("GlobalSecondaryIndexes", ()) if index["IndexName"] not in known]


def _add(table: dict[str, Any], index: dict[str, Any], definitions: list[dict[str, Any]]) -> None:
    """With the attributes that are keys then, and no others: CloudFormation refuses those, too."""
    table["GlobalSecondaryIndexes"] = [*table.get("GlobalSecondaryIndexes", ()), index]
    known = {one["AttributeName"] for one in table["AttributeDefinitions"]}
    keys = {part["AttributeName"] for part in index["KeySchema"]}
    table["AttributeDefinitions"] = [
        *table["AttributeDefinitions"],
        *(one for one in definitions if one["AttributeName"] in keys - known),
    ]
