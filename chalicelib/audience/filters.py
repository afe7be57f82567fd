"""Whom a list or a search of subscribers is about, as a query says it."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct, field

from chalicelib.audience import folding
from chalicelib.audience.model import ACTIVATED, PENDING
from chalicelib.audience.stores.listing import Item
from chalicelib.audience.stores.search import Terms
from chalicelib.kernel.errors import Invalid
from chalicelib.web import schemas
from chalicelib.web.schemas import Reads

_LONGEST_SEARCH = 254
# Who is paused is an activated subscriber, but can be listed apart.
PAUSED = "paused"


def _check_search(text: str) -> str:
    text = text.strip()
    if len(text) > _LONGEST_SEARCH:
        raise Invalid(f"A search may have at most {_LONGEST_SEARCH} characters")
    return text


def _check_word(text: str) -> str:
    return _check_search(text).lower()


def _check_status(text: str) -> str:
    status = _check_word(text)
    if status not in ("", PENDING, ACTIVATED, PAUSED):
        raise Invalid(f"status must be {PENDING}, {ACTIVATED} or {PAUSED}")
    return status


_SHORT = Meta(max_length=_LONGEST_SEARCH)
_STATUSES = Meta(extra_json_schema={"enum": ["", PENDING, ACTIVATED, PAUSED]})


class Filter(Struct, frozen=True):
    """Whom to list, as a query asks for it: everybody, or those who match all that is given."""

    text: Annotated[str, _SHORT, Meta(description="Part of the address or of the nickname"), Reads(_check_search)] = (
        field(default="", name="q")
    )
    source: Annotated[str, _SHORT, Reads(_check_word)] = ""
    tag: Annotated[str, _SHORT, Reads(_check_word)] = ""
    status: Annotated[str, _STATUSES, Reads(_check_status)] = ""

    @property
    def reads_everybody(self) -> bool:
        return bool(self.text or self.source or self.tag)

    @property
    def terms(self) -> Terms:
        """As they are asked of the index. The few who are paused have one of their own."""
        return Terms(folding.fold(self.text), self.source, self.tag, self.status)

    def matches(self, item: Item) -> bool:
        """On a row as it is stored: of a million that are read, only those that match become entries."""
        nickname = item["nickname"]["S"] if "nickname" in item else None
        if self.text and not folding.finds(self.text, item["email"]["S"], nickname):
            return False
        return _has(item, "sources", self.source) and _has(item, "tags", self.tag)


def parse_filter(query: Mapping[str, str]) -> Filter:
    """From the query of a request, for the API and the dashboard alike."""
    return schemas.read(Filter, query)


def _has(item: Item, name: str, word: str) -> bool:
    return not word or (name in item and word in item[name]["SS"])
