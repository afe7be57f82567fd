"""Bodies, declared once: a struct says which fields there are, and each field's type says how it is read.

    Subject = Annotated[str, Meta(max_length=250, examples=["Hello"]), Reads(check_subject)]

    class NewCampaign(Struct):
        subject: Subject
        preheader: Preheader = ""

Reading, limits and error texts come from `Reads`, the OpenAPI document from the type and its `Meta`, and the JSON of
an answer from the struct itself. A field without `Reads` is read by its type.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct, UnsetType
from msgspec.structs import fields as struct_fields

from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid

Body = TypeVar("Body", bound=Struct)
Check = Callable[[Any], Any]

Moment = Annotated[str, Meta(extra_json_schema={"format": "date-time"}, examples=["2026-11-16T08:30:00.000Z"])]
Id = Annotated[str, Meta(extra_json_schema={"format": "uuid"}, examples=["0193a5c4-11f0-7a6b-8c01-2d3e4f506172"])]
EmailAddress = Annotated[
    str, Meta(max_length=254, extra_json_schema={"format": "email"}, examples=["ada@example.org"])
]
Count = Annotated[int, Meta(ge=0)]


class Reads(Struct, frozen=True):
    """Takes what was sent for a field (None if nothing was), returns it checked or raises `Invalid`."""

    check: Check


class _Field(Struct, frozen=True):
    name: str
    sent_as: str
    required: bool
    check: Check


def read(body: type[Body], sent: Mapping[str, Any]) -> Body:
    """The body with every field checked, in the order of its declaration. What was not sent takes its default; what
    must be there is checked as None, so that the field's own rule says what is missing."""
    given = {
        field.name: field.check(sent.get(field.sent_as))
        for field in _fields(body)
        if field.required or field.sent_as in sent
    }
    return body(**given)


def build(body: type[Body], source: object, /, **given: Any) -> Body:
    """An answer made from what it shows: fields of the same name are taken over, times and states as text."""
    values = {field.name: getattr(source, field.name) for field in _fields(body) if field.name not in given} | given
    return body(**{name: _json_value(value) for name, value in values.items()})


def text(name: str, longest: int | None = None) -> Reads:
    """Text, or nothing."""

    def check(value: Any) -> str | None:
        if value is not None and not isinstance(value, str):
            raise Invalid(f"{name} must be text")
        if value is not None and longest is not None and len(value) > longest:
            raise Invalid(f"{name} must be at most {longest} characters")
        return value

    return Reads(check)


def flag(name: str) -> Reads:
    def check(value: Any) -> bool:
        if not isinstance(value, bool):
            raise Invalid(f"{name} must be true or false")
        return value

    return Reads(check)


def choice(name: str, choices: Iterable[str]) -> Reads:
    """One of a few words; `choices` may be an enumeration of them."""
    words = tuple(str(word) for word in choices)

    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            raise Invalid(f"{name} must be one of: {', '.join(words)}")
        return value

    return Reads(check)


def whole_number(name: str, required: bool = False) -> Reads:
    """A whole number, or nothing unless it is `required`."""

    def check(value: Any) -> int | None:
        if value is None and required:
            raise Invalid(f"{name} is required")
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise Invalid(f"{name} must be a whole number")
        return value

    return Reads(check)


@cache
def _fields(body: type[Struct]) -> tuple[_Field, ...]:
    return tuple(
        _Field(
            field.name,
            field.encode_name,
            field.default is NODEFAULT and field.default_factory is NODEFAULT,
            _check(field.encode_name, field.type).check,
        )
        for field in struct_fields(body)
    )


def _check(name: str, kind: Any) -> Reads:
    plain, notes = _unwrap(kind)
    found = next((note for note in notes if isinstance(note, Reads)), None)
    longest = next((note.max_length for note in notes if isinstance(note, Meta)), None)
    by_type: dict[Any, Callable[[str], Reads]] = {bool: flag, int: whole_number}
    return found or (text(name, longest) if plain is str else by_type.get(plain, _as_it_is)(name))


def _unwrap(kind: Any) -> tuple[Any, list[Any]]:
    """`str` of `Annotated[str, …] | None`, and what is noted of it."""
    if get_origin(kind) is Annotated:
        inner, *notes = get_args(kind)
        plain, inner_notes = _unwrap(inner)
        return plain, [*notes, *inner_notes]
    if get_origin(kind) in (Union, UnionType):
        choices = [choice for choice in get_args(kind) if choice not in (NoneType, UnsetType)]
        return _unwrap(choices[0]) if len(choices) == 1 else (kind, [])
    return kind, []


def _as_it_is(name: str) -> Reads:
    return Reads(lambda value: value)


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return clock.text(value)
    return value.value if isinstance(value, Enum) else value
