"""`?limit=&cursor=` of lists without numbered pages, and what their answers have in common.

A cursor says where the next page begins. It is signed for one list of one owner, so that nobody can read from a place
we did not name.
"""

import base64
import hmac
from typing import Annotated

from msgspec import Meta, Struct

from chalicelib.kernel import pseudonyms
from chalicelib.kernel.errors import Invalid
from chalicelib.web.request import Request

_DEFAULT, _MOST = 20, 100
_LONGEST = 1_000
_SIGNATURE = 32


class CursorQuery(Struct):
    limit: Annotated[int, Meta(ge=1, le=_MOST)] = _DEFAULT
    cursor: Annotated[str, Meta(max_length=_LONGEST, description="`next_cursor` of the page before")] = ""


class CursorBody(Struct):
    """Each list adds its `items`."""

    next_cursor: str | None
    has_more: bool


def requested_limit(request: Request, default: int = _DEFAULT, most: int = _MOST) -> int:
    text = request.query.get("limit", "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= most):
        raise Invalid(f"limit must be a whole number from 1 to {most}")
    return int(text)


def sign(place: str | None, scope: str) -> str | None:
    """`scope` names the list and its owner; `place` is None after the last page."""
    if place is None:
        return None
    return f"{base64.urlsafe_b64encode(place.encode()).decode().rstrip('=')}.{_signature(place, scope)}"


def read(request: Request, scope: str) -> str | None:
    """The place a cursor names; None at the beginning of the list."""
    text = request.query.get("cursor", "")
    if not text:
        return None
    encoded, _, signature = text[:_LONGEST].rpartition(".")
    try:
        place = base64.b64decode(encoded + "=" * (-len(encoded) % 4), b"-_", validate=True).decode()
    except ValueError:
        raise _invalid() from None
    if not hmac.compare_digest(_signature(place, scope).encode(), signature.encode(errors="replace")):
        raise _invalid()
    return place


def _signature(place: str, scope: str) -> str:
    return pseudonyms.derive(f"cursor {scope}", place)[:_SIGNATURE]


def _invalid() -> Invalid:
    return Invalid("cursor is not valid")
