"""Checks an answer against `provider_fields.json`: no field unknown or missing, and all of the right type."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_TYPES: dict[str, Any] = json.loads((Path(__file__).parent / "provider_fields.json").read_text())
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")


def problems(value: Any, kind: Any, place: str = "$") -> list[str]:
    return list(_problems(value, kind, place))


def _problems(value: Any, kind: Any, place: str) -> Iterator[str]:
    if isinstance(kind, list):
        if not isinstance(value, list):
            yield f"{place}: not a list"
            return
        for number, each in enumerate(value):
            yield from _problems(each, kind[0], f"{place}[{number}]")
    elif isinstance(kind, dict):
        yield from _of_object(value, kind, place)
    else:
        yield from _of_name(value, kind, place)


def _of_object(value: Any, kind: dict[str, Any], place: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{place}: not an object"
        return
    fields = _fields(kind)
    for name in value.keys() - {name.rstrip("?") for name in fields}:
        yield f"{place}.{name}: unknown"
    for name, inner in fields.items():
        if name.rstrip("?") in value:
            yield from _problems(value[name.rstrip("?")], inner, f"{place}.{name}")
        elif not name.endswith("?"):
            yield f"{place}.{name}: missing"


def _fields(kind: dict[str, Any]) -> dict[str, Any]:
    own = {name: inner for name, inner in kind.items() if name != "&"}
    return own | (_fields(_TYPES[kind["&"]]) if "&" in kind else {})


def _of_name(value: Any, kind: str, place: str) -> Iterator[str]:
    """Alternatives are named types, or the words of an enumeration."""
    found = []
    for one in kind.split("|"):
        wrong = list(_of_object(value, _TYPES[one], place)) if one in _TYPES else _wrong(value, one, place)
        if not wrong:
            return
        found += wrong
    yield from found


def _wrong(value: Any, kind: str, place: str) -> list[str]:
    fits = {
        "string": isinstance(value, str),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
        "null": value is None,
        "count": isinstance(value, str) and value.isdigit(),
        "instant": isinstance(value, str) and bool(_INSTANT.match(value)),
    }
    return [] if fits.get(kind, value == kind) else [f"{place}: not {kind}"]
