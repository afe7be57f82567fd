"""The blocks of a Markdown body as a form: each with its fields, its place, and a box that removes it.

Fields are named by the number of their block: `kind-3`, `place-3`, `text-3`.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct

from chalicelib.campaigns.content import blocks
from chalicelib.campaigns.content.blocks import Block, Divider, Heading, Image, Item, Text
from chalicelib.kernel.errors import Invalid
from chalicelib.web.request import Request
from chalicelib.web.text_size import html_size

KINDS = {"text": "Text", "heading": "Heading", "item": "Item", "image": "Image", "divider": "Divider"}
# What an item is made of; the last ones are kept and not shown.
ITEM_FIELDS = ("title", "link", "source", "kind_of", "duration", "picture", "alt", "excerpt", "note", "entry", "rest")
_MOST_BLOCKS = 300
_MOST_FIELDS = _MOST_BLOCKS * 14 + 50
_BYTES_FOR_BLOCKS, _MARKUP, _ITEM_MARKUP = 42_000, 700, 2_300


class Row(Struct, frozen=True):
    """One block: which kind, and its fields by name."""

    kind: str
    values: Mapping[str, str]

    @property
    def size(self) -> int:
        return (_ITEM_MARKUP if self.kind == "item" else _MARKUP) + sum(map(html_size, self.values.values()))


def rows_of(body: str) -> list[Row]:
    return [_row(block) for block in blocks.parse(body)]


def blank_rows() -> list[Row]:
    """One of each kind, to be filled in."""
    return [Row(kind, dict.fromkeys(ITEM_FIELDS if kind == "item" else _NAMES[kind], "")) for kind in KINDS]


def fits(rows: Sequence[Row]) -> bool:
    """Whether the page has room for them."""
    return len(rows) <= _MOST_BLOCKS and sum(row.size for row in rows) <= _BYTES_FOR_BLOCKS


def parse_rows(request: Request) -> tuple[list[Row], dict[str, str]]:
    """What was sent, in the order of the places, without what is to be removed; and the other fields."""
    try:
        fields = dict(parse_qsl(request.body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise Invalid("The form could not be read") from None
    fields = {name: value.replace("\r\n", "\n") for name, value in fields.items()}
    numbers = [number for number in range(_MOST_BLOCKS) if fields.get(f"kind-{number}") in KINDS]
    placed = sorted(numbers, key=lambda number: (_place(fields, number), number))
    rows = [_sent(fields, number) for number in placed if not fields.get(f"remove-{number}")]
    return [row for row in rows if row.kind == "divider" or any(row.values.values())], fields


def write_rows(rows: Sequence[Row]) -> str:
    return blocks.write(_block(row) for row in rows)


def _place(fields: Mapping[str, str], number: int) -> float:
    """Half a place is between two; without one it stays at its number."""
    text = fields.get(f"place-{number}", "").replace(",", ".").strip()
    try:
        return float(text) if text and len(text) <= 8 else float(number + 1)
    except ValueError:
        return float(number + 1)


def _sent(fields: Mapping[str, str], number: int) -> Row:
    kind = fields[f"kind-{number}"]
    names = ITEM_FIELDS if kind == "item" else _NAMES[kind]
    return Row(kind, {name: fields.get(f"{name}-{number}", "") for name in names})


_NAMES: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "heading": ("text", "level"),
    "image": ("url", "alt"),
    "divider": (),
}


def _row(block: Block) -> Row:
    match block:
        case Text(text):
            return Row("text", {"text": text})
        case Heading(text, level):
            return Row("heading", {"text": text, "level": str(level)})
        case Image(url, alt):
            return Row("image", {"url": url, "alt": alt})
        case Divider():
            return Row("divider", {})
        case Item():
            names = {name: "kind" if name == "kind_of" else name for name in ITEM_FIELDS}
            values = {name: getattr(block, attribute) for name, attribute in names.items()}
            return Row("item", {name: "" if value is None else str(value) for name, value in values.items()})


def _block(row: Row) -> Block:
    values = row.values
    match row.kind:
        case "heading":
            level = values.get("level", "")
            return Heading(values["text"], int(level) if level in set("123456") else 2)
        case "image":
            return Image(values["url"].strip(), values["alt"])
        case "divider":
            return Divider()
        case "item":
            return _item(values)
        case _:
            return Text(values["text"])


def _item(values: Mapping[str, str]) -> Item:
    duration = values["duration"].strip()
    if duration and not (duration.isascii() and duration.isdigit() and len(duration) <= 6):
        raise Invalid("A duration is a whole number of seconds")
    given: dict[str, Any] = {name: value for name, value in values.items() if name not in ("kind_of", "duration")}
    return Item(**given, kind=values["kind_of"], duration=int(duration) if duration else None)
