"""`?page=&per_page=` as every list takes them."""

from collections.abc import Mapping
from typing import Any

from chalicelib.kernel.errors import Invalid
from chalicelib.web.request import Request

_DEFAULT, _MOST = 20, 100
_LAST = 1_000_000


def requested(request: Request) -> tuple[int, int]:
    """Which page, of how many items."""
    return _number(request.query, "page", 1, _LAST), _number(request.query, "per_page", _DEFAULT, _MOST)


def page_body(items: list[Any], page: int, per_page: int, total: int) -> dict[str, Any]:
    return {"items": items, "page": page, "per_page": per_page, "total": total}


def _number(query: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = query.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= most):
        raise Invalid(f"{name} must be a whole number from 1 to {most}")
    return int(text)
