"""The OpenAPI document of a list of routes, from what is declared beside their handlers and in their bodies."""

import re
from collections.abc import Iterable
from types import UnionType
from typing import Any, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from chalicelib.web.operations import JSON, Answer, Operation, described
from chalicelib.web.routing import Route, load

Part = dict[str, Any]

_PARAMETER = re.compile(r"\{(\w+)\}")
_ERROR = {"$ref": "#/components/schemas/Error"}
# What any guarded call may answer, and what any call may.
_GUARDED = {401: "Missing token", 403: "Invalid or expired token, or cross-site request"}
_ALWAYS = {500: "Misconfigured, or a defect; details are in the log", 503: "A service does not answer; try again"}


class Error(Struct):
    error: str


def describe(routes: Iterable[Route]) -> tuple[Part, Part]:
    """`paths` and the schemas they refer to, of every route whose handler is described."""
    found = [(route, told) for route in routes if (told := described(load(route.handler)))]
    schemas = _Schemas([Error, *(kind for _, told in found for kind in _kinds(told))])
    paths: Part = {}
    for route, told in found:
        for method in route.methods:
            if method != "HEAD":
                paths.setdefault(route.path, {})[method.lower()] = _call(route, told, schemas)
    return dict(sorted(paths.items())), schemas.components


class _Schemas:
    """JSON Schema of every type that is used, by type."""

    def __init__(self, kinds: list[Any]) -> None:
        self._kinds = kinds
        self._written, self.components = msgspec.json.schema_components(
            kinds, ref_template="#/components/schemas/{name}"
        )

    def of(self, kind: Any) -> Part:
        """`A | B` is one of several structs, which one being told by its fields."""
        if isinstance(kind, UnionType):
            return {"oneOf": [self.of(choice) for choice in get_args(kind)]}
        return dict(self._written[self._kinds.index(kind)])

    def properties(self, kind: type[Struct]) -> Part:
        properties: Part = self.components[kind.__name__]["properties"]
        return properties


def _kinds(told: Operation) -> list[Any]:
    bodies = [told.body, told.query, *(answer.body for answer in told.answers.values())]
    choices = [get_args(body) if isinstance(body, UnionType) else (body,) for body in bodies]
    return [kind for kinds in choices for kind in kinds if kind is not None]


def _call(route: Route, told: Operation, schemas: _Schemas) -> Part:
    call: Part = {
        "operationId": _camel_case(route.handler.rpartition(":")[2]),
        "summary": told.summary,
        "tags": [told.tag],
        "responses": _responses(route, told, schemas),
    }
    if parameters := _parameters(route, told, schemas):
        call["parameters"] = parameters
    if told.body is not None:
        call["requestBody"] = {"required": True, "content": {JSON: {"schema": schemas.of(told.body)}}}
    if route.guard:
        call["security"] = [{"access": []}]
    return call


def _responses(route: Route, told: Operation, schemas: _Schemas) -> Part:
    refusals = {**(_GUARDED if route.guard else {}), **_ALWAYS, **told.refusals}
    written = {str(status): _refusal(reason) for status, reason in refusals.items()}
    return written | {str(status): _response(answer, schemas) for status, answer in told.answers.items()}


def _response(answer: Answer, schemas: _Schemas) -> Part:
    if answer.body is None and answer.content == JSON:
        return {"description": answer.description}
    schema = schemas.of(answer.body) if answer.body is not None else {"type": "string"}
    return {"description": answer.description, "content": {answer.content: {"schema": schema}}}


def _refusal(reason: str) -> Part:
    return {"description": reason, "content": {JSON: {"schema": _ERROR}}}


def _parameters(route: Route, told: Operation, schemas: _Schemas) -> list[Part]:
    text = {"type": "string"}
    found: list[Part] = [
        {"name": name, "in": "path", "required": True, "schema": text} for name in _PARAMETER.findall(route.path)
    ]
    if told.query:
        schema = schemas.properties(told.query)
        found += [
            {"name": field.encode_name, "in": "query", "schema": schema[field.encode_name]}
            for field in fields(told.query)
        ]
    found += [
        {"name": name, "in": "header", "required": True, "description": said, "schema": text}
        for name, said in told.headers.items()
    ]
    return found


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
