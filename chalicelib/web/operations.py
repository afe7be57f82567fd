"""What the OpenAPI document says about a handler, written beside it: `@operation("Compose a campaign", …)`.

Nothing here is needed to answer a request: `web/openapi.py` builds the document when it is requested.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from chalicelib.web.routing import Handler

JSON, HTML, TEXT, CSV = "application/json", "text/html", "text/plain", "text/csv"

REFUSALS = {
    400: "Invalid request; see `error`",
    404: "Not found",
    409: "Not allowed in the current state; see `error`",
    429: "Too many requests; `Retry-After` says when to try again",
}


class Answer(Struct, frozen=True):
    """`body` is a struct, another type, or None where there is none."""

    description: str
    body: Any = None
    content: str = JSON


class Operation(Struct, frozen=True):
    """The fields of `queries` are the parameters; `refusals` say why, by status."""

    summary: str
    tag: str
    answers: Mapping[int, Answer]
    refusals: Mapping[int, str]
    body: Any = None
    queries: tuple[type[Struct], ...] = ()
    headers: Mapping[str, str] = {}


_described: dict[Handler, Operation] = {}


def operation(
    summary: str,
    *,
    tag: str,
    answers: Mapping[int, Answer],
    body: Any = None,
    query: type[Struct] | tuple[type[Struct], ...] = (),
    headers: Mapping[str, str] | None = None,
    refuses: tuple[int, ...] = (),
    because: Mapping[int, str] | None = None,
) -> Callable[[Handler], Handler]:
    """`refuses` lists statuses with their usual reason, `because` those with a reason of their own."""
    refusals = {status: REFUSALS[status] for status in refuses} | dict(because or {})
    queries = query if isinstance(query, tuple) else (query,)

    def describe(handler: Handler) -> Handler:
        _described[handler] = Operation(summary, tag, answers, refusals, body, queries, headers or {})
        return handler

    return describe


def described(handler: Handler) -> Operation | None:
    return _described.get(handler)
