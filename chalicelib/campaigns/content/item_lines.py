"""An item of a campaign, and the lines between `:::item` and `:::` that it is written in.

Its text belongs to the editor: it does not change when the source does. Title, source and excerpt are plain text, the
note is Markdown. Lines nobody can read are kept in `rest`.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

LONGEST = {
    "title": 300,
    "link": 2_000,
    "source": 200,
    "kind": 40,
    "picture": 2_000,
    "alt": 300,
    "excerpt": 600,
    "note": 2_000,
}

_ENDS = re.compile(r":::[ \t]*\Z")
_FIELD = re.compile(r"[a-z][a-z_-]{0,29}:")
_ENTRY = re.compile(r"[0-9a-f]{32}\Z")
_DURATION = re.compile(r"[0-9]{1,6}\Z", re.ASCII)
_WEB = ("https://", "http://")
# What members share has no page of its own to lead to.
_WITHOUT_PAGE = ("sighting",)


class Item(Struct, frozen=True):
    """`duration` is in seconds, `entry` the inbox entry it came from. `picture` is a public copy of ours, except in
    campaigns from a feed. `rest` are lines that no field could be made of."""

    title: str = ""
    link: str = ""
    source: str = ""
    kind: str = ""
    duration: int | None = None
    picture: str = ""
    alt: str = ""
    entry: str = ""
    excerpt: str = ""
    note: str = ""
    rest: str = ""
    closed: bool = True

    @property
    def problems(self) -> list[str]:
        """Why it cannot go out as it is, in words that follow the item's name."""
        needed = ("title",) if self.kind.lower() in _WITHOUT_PAGE else ("title", "link")
        found = [f"no {name}" for name in needed if not getattr(self, name)]
        found += ["a link that is no web address"] if self.link and not self.link.startswith(_WEB) else []
        found += [
            f"a {name} of more than {most:,} characters"
            for name, most in LONGEST.items()
            if len(getattr(self, name)) > most
        ]
        found += ["lines that cannot be read"] if self.rest else []
        return found if self.closed else [*found, "no line “:::” at its end"]


_NAMES = tuple(name for name in Item.__struct_fields__ if name not in ("rest", "closed"))


def read(lines: Sequence[str], at: int) -> tuple[Item, int]:
    """The item whose first field stands at line `at`, and the number of the first line after it.

    A line that cannot belong to an item ends one that was never closed, so it does not swallow the text below it."""
    fields: list[list[str]] = []
    while at < len(lines) and not _ENDS.match(lines[at]):
        line = lines[at]
        if fields and (not line.strip() or line[0] in " \t"):
            fields[-1].append(line)
        elif _FIELD.match(line.lstrip(" \t")):
            # Two spaces at the end of a line are a line break of the note.
            fields.append([line.lstrip(" \t")])
        elif line.strip():
            return _item(fields, closed=False), at
        at += 1
    return _item(fields, closed=at < len(lines)), at + 1


def write(item: Item) -> str:
    """Line breaks remain only in the note."""
    lines = [":::item"]
    for name in _NAMES:
        value = getattr(item, name)
        first, *more = _tidy(name, "" if value is None else str(value)).split("\n")
        if first:
            lines += [f"{name}: {first}", *(f"  {line}" if line else "" for line in more)]
    return "\n".join([*lines, *([item.rest] if item.rest else []), ":::"])


def _item(fields: Sequence[Sequence[str]], closed: bool) -> Item:
    values: dict[str, str | int] = {}
    rest: list[str] = []
    for first, *more in fields:
        name, _, begins = first.partition(":")
        text = _tidy(name, "\n".join([begins, *map(_outdent, more)]))
        if name not in _NAMES or (text and (name in values or not _is_valid(name, text))):
            rest += [first, *(line for line in more if line.strip())]
        elif text:
            values[name] = int(text) if name == "duration" else text
    return Item(**values, rest="\n".join(rest), closed=closed)  # type: ignore[arg-type]


def _tidy(name: str, text: str) -> str:
    """One line, or for the note several."""
    if name != "note":
        return " ".join(text.split())
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line if line.strip() else "" for line in lines).strip()


def _outdent(line: str) -> str:
    return line[1:] if line.startswith(("\t", " ")) and line[:2] != "  " else line[2:]


def _is_valid(name: str, text: str) -> bool:
    if name == "duration":
        return bool(_DURATION.match(text))
    return name != "entry" or bool(_ENTRY.match(text))
