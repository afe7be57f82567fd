"""The OpenAPI document of a list of routes, built from what is declared beside their handlers and in their bodies."""

import re
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from chalicelib.web.operations import JSON, Answer, Operation, described
from chalicelib.web.routing import ADMIN, GUEST, MEMBER, Route, load

Part = dict[str, Any]

_PARAMETER = re.compile(r"\{(\w+)\}")
_ERROR = {"$ref": "#/components/schemas/Error"}
# Statuses of guarded calls by guard, and of every call.
_OFF = {404: "Not found, or `MEMBERS` is off"}
_GUARDED = {
    "": {},
    ADMIN: {401: "Missing token", 403: "Invalid or expired token, or cross-site request"},
    GUEST: _OFF | {403: "Cross-site request"},
    MEMBER: _OFF | {401: "Authentication required", 403: "Cross-site request"},
}
_SECURITY = {ADMIN: "access", MEMBER: "session"}
_ALWAYS = {500: "Misconfigured, or a defect; details are in the log", 503: "A service does not answer; try again"}


class Error(Struct):
    error: str


def describe(routes: Iterable[Route]) -> tuple[Part, Part]:
    """`paths` of every call whose handler is described, and the schemas they refer to. A page may lead to the same
    handler as a call."""
    calls = [route for route in routes if route.path.startswith(("/api/", "/admin/api/"))]
    found = [(route, operation) for route in calls if (operation := described(load(route.handler)))]
    schemas = _Schemas([Error, *(kind for _, operation in found for kind in _kinds(operation))])
    paths: Part = {}
    for route, operation in found:
        for method in route.methods:
            if method != "HEAD":
                call = {"operationId": _operation_id(route, calls), **_call(route, operation, schemas)}
                paths.setdefault(route.path, {})[method.lower()] = call
    return dict(sorted(paths.items())), schemas.components


class _Schemas:
    """JSON Schema of every type that is used, by type."""

    def __init__(self, kinds: list[Any]) -> None:
        self._kinds = kinds
        self._written, components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
        # Defaults such as tuples become what JSON has for them.
        self.components: Part = msgspec.json.decode(msgspec.json.encode(components))

    def schema(self, kind: Any) -> Part:
        """`A | B` is one of several structs, told apart by their fields."""
        if isinstance(kind, UnionType):
            return {"oneOf": [self.schema(choice) for choice in get_args(kind)]}
        return dict(self._written[self._kinds.index(kind)])

    def properties(self, kind: type[Struct]) -> Part:
        name = self.schema(kind)["$ref"].rpartition("/")[2]
        properties: Part = self.components[name]["properties"]
        return properties


def _kinds(operation: Operation) -> list[Any]:
    bodies = [operation.body, *operation.queries, *(answer.body for answer in operation.answers.values())]
    choices = [get_args(body) if isinstance(body, UnionType) else (body,) for body in bodies]
    return [kind for kinds in choices for kind in kinds if kind is not None]


def _call(route: Route, operation: Operation, schemas: _Schemas) -> Part:
    call: Part = {
        "summary": operation.summary,
        "tags": [operation.tag],
        "responses": _responses(route, operation, schemas),
    }
    if parameters := _parameters(route, operation, schemas):
        call["parameters"] = parameters
    if operation.body is not None:
        call["requestBody"] = {
            "required": _is_required(operation.body),
            "content": {JSON: {"schema": schemas.schema(operation.body)}},
        }
    if route.guard in _SECURITY:
        call["security"] = [{_SECURITY[route.guard]: []}]
    return call


def _operation_id(route: Route, routes: list[Route]) -> str:
    """The handler's name; with the caller's in front where the same handler answers editors and members."""
    name = route.handler.rpartition(":")[2]
    guards = {other.guard for other in routes if other.handler == route.handler}
    return _camel_case(f"{route.guard}_{name}" if len(guards) > 1 else name)


def _is_required(body: Any) -> bool:
    """A body may be left out where every field of it may."""
    return not isinstance(body, type) or any(field.required for field in fields(body))


def _responses(route: Route, operation: Operation, schemas: _Schemas) -> Part:
    refusals = {**_GUARDED[route.guard], **_ALWAYS, **operation.refusals}
    written = {str(status): _refusal(reason) for status, reason in refusals.items()}
    return written | {str(status): _response(answer, schemas) for status, answer in operation.answers.items()}


def _response(answer: Answer, schemas: _Schemas) -> Part:
    if answer.body is None and answer.content == JSON:
        return {"description": answer.description}
    schema = schemas.schema(answer.body) if answer.body is not None else {"type": "string"}
    return {"description": answer.description, "content": {answer.content: {"schema": schema}}}


def _refusal(reason: str) -> Part:
    return {"description": reason, "content": {JSON: {"schema": _ERROR}}}


def _parameters(route: Route, operation: Operation, schemas: _Schemas) -> list[Part]:
    text = {"type": "string"}
    found: list[Part] = [
        {"name": name, "in": "path", "required": True, "schema": text} for name in _PARAMETER.findall(route.path)
    ]
    found += [parameter for query in operation.queries for parameter in _query_parameters(query, schemas)]
    found += [
        {"name": name, "in": "header", "required": True, "description": description, "schema": text}
        for name, description in operation.headers.items()
    ]
    return found


def _query_parameters(query: type[Struct], schemas: _Schemas) -> Iterator[Part]:
    """A field's description is the parameter's, where readers of the document look for it."""
    for field in fields(query):
        schema = dict(schemas.properties(query)[field.encode_name])
        description = {"description": schema.pop("description")} if "description" in schema else {}
        yield {"name": field.encode_name, "in": "query", **description, "schema": schema}


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
