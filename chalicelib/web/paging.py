"""`?page=&per_page=` of numbered lists, and what their answers have in common."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from chalicelib.kernel.errors import Invalid
from chalicelib.web.request import Request

_DEFAULT, _MOST = 20, 100
_LAST = 1_000_000


class PageQuery(Struct):
    page: Annotated[int, Meta(ge=1, le=_LAST)] = 1
    per_page: Annotated[int, Meta(ge=1, le=_MOST)] = _DEFAULT


class PageBody(Struct):
    """Each list adds its `items`."""

    page: Annotated[int, Meta(ge=1)]
    per_page: Annotated[int, Meta(ge=1, le=_MOST)]
    total: Annotated[int, Meta(ge=0)]


def requested(request: Request) -> tuple[int, int]:
    """The number of the page, and its size."""
    return _number(request.query, "page", 1, _LAST), _number(request.query, "per_page", _DEFAULT, _MOST)


def _number(query: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = query.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= most):
        raise Invalid(f"{name} must be a whole number from 1 to {most}")
    return int(text)
