"""DynamoDB items as `raw` sends and receives them: every value with its type."""

import base64
from collections.abc import Mapping
from typing import Any


def plain(item: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """DynamoDB's typed form of an item as plain values."""
    return {name: _plain(value) for name, value in item.items()}


def typed(value: Any) -> dict[str, Any]:
    """A plain value in DynamoDB's typed form."""
    match value:
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case int() | float():
            return {"N": str(value)}
        case bytes():
            return {"B": base64.b64encode(value).decode()}
        case None:
            return {"NULL": True}
        case set() | frozenset():
            return {"SS": sorted(value)}
        case Mapping():
            return {"M": {name: typed(part) for name, part in value.items()}}
        case _:
            return {"L": [typed(part) for part in value]}


def _plain(value: Mapping[str, Any]) -> Any:
    kind, content = next(iter(value.items()))
    match kind:
        case "S" | "BOOL":
            return content
        case "N":
            return float(content) if "." in content or "e" in content.lower() else int(content)
        case "B":
            return base64.b64decode(content)
        case "NULL":
            return None
        case "SS":
            return frozenset(content)
        case "M":
            return plain(content)
        case _:
            return [_plain(part) for part in content]
