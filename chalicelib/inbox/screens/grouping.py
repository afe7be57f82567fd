"""Chosen entries under the headings of the compose page."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.inbox import outline
from chalicelib.inbox.composing import MOST_SECTIONS
from chalicelib.inbox.model import Entry
from chalicelib.inbox.screens.views import EntryView
from chalicelib.web.text_size import html_size

_SPARE = 2
# Of a section, in bytes.
_MARKUP = 400


class Piece(Struct, frozen=True):
    """An entry with the note it has now. `was` is how a later change of that is noticed."""

    one: EntryView
    note: str
    was: str


class Part(Struct, frozen=True):
    heading: str
    wanted: int
    pieces: tuple[Piece, ...]


class Arranged(Struct, frozen=True):
    """One row of the form."""

    id: str
    note: str
    was: str
    at: int
    place: int


def group(pieces: Sequence[Piece], entries: Sequence[Entry], planned: Sequence[outline.Section]) -> list[Part]:
    """Each under the heading it is meant for, and at the top if there is no room for it. The outline's headings come
    first, and a few are left to be named."""
    wanted = {section.heading: section.wanted for section in planned}
    headings = _choose(list(wanted), [entry.section for entry in entries])
    meant: Mapping[str, list[Piece]] = defaultdict(list)
    for piece, entry in zip(pieces, entries, strict=True):
        meant[entry.section if entry.section in headings else ""].append(piece)
    named = [Part(heading, wanted.get(heading, 0), tuple(meant[heading])) for heading in headings]
    return [*named, *[Part("", 0, ())] * min(_SPARE, MOST_SECTIONS - len(named))]


def _choose(planned: Sequence[str], meant: Sequence[str]) -> list[str]:
    """The top has none. Those that nothing is meant for are left out first."""
    named = list(dict.fromkeys(["", *planned, *meant]))
    by_need = sorted(named, key=lambda heading: heading != "" and heading not in meant)
    chosen = set(by_need[:MOST_SECTIONS])
    return [heading for heading in named if heading in chosen]


def keep(pieces: Sequence[Piece], rows: Sequence[Arranged], headings: Sequence[str]) -> list[Part]:
    """As they were sent."""
    by_id = {piece.one.id: piece for piece in pieces}
    placed = [(row.at, replace(by_id[row.id], note=row.note)) for row in rows if row.id in by_id]
    known = range(1, len(headings) + 1)
    return [
        Part(heading, 0, tuple(piece for at, piece in placed if at == number or (number == 1 and at not in known)))
        for number, heading in enumerate(headings or [""], 1)
    ]


def size_of(heading: str) -> int:
    """What a section without pieces takes of the page, in bytes."""
    return _MARKUP + html_size(heading)
