"""The API as its callers depend on it: of each call the parameters, the fields that are sent, and those answered."""

from typing import Any

from chalicelib.admin import openapi

Contract = dict[str, dict[str, str]]


def described() -> Contract:
    """What the document says, by call: field names with those of what is inside them, and every status."""
    document = openapi.document()
    return {
        f"{method.upper()} {path}": _call(call, document["components"]["schemas"])
        for path, item in document["paths"].items()
        for method, call in item.items()
    }


def _call(call: dict[str, Any], schemas: dict[str, Any]) -> dict[str, str]:
    found = {
        "parameters": sorted(f"{one['in']}:{one['name']}" for one in call.get("parameters", [])),
        "sent": _fields(_schema(call.get("requestBody", {})), schemas),
    }
    for status, answer in call["responses"].items():
        found[status] = _fields(_schema(answer), schemas) if status < "400" else []
    return {part: " ".join(names) for part, names in found.items()}


def _schema(part: dict[str, Any]) -> dict[str, Any]:
    return next((content["schema"] for content in part.get("content", {}).values()), {})


def _fields(schema: dict[str, Any], schemas: dict[str, Any], before: str = "") -> list[str]:
    """Every field, those inside another as `outer.inner`."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    found = []
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), schema.get("items", {})):
        found += _fields(choice, schemas, before) if choice else []
    for name, inner in schema.get("properties", {}).items():
        found += [before + name, *_fields(inner, schemas, f"{before}{name}.")]
    return sorted(set(found))
