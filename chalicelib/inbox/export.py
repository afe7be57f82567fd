"""Everything an owner keeps, to take away: as JSON, as a table, or as a list to read. Newest first, made piece by
piece."""

import heapq
import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from enum import StrEnum
from itertools import groupby, islice

from msgspec import to_builtins

from chalicelib.inbox import listing_store, serializers, service
from chalicelib.inbox.model import EntryDetail, State
from chalicelib.inbox.uses import Use
from chalicelib.kernel import clock, deadlines, spreadsheets
from chalicelib.kernel.errors import Unavailable

COLUMNS = (
    *("id", "state", "provider", "content_type", "title", "creator", "canonical_url", "excerpt"),
    *("duration_seconds", "published_at", "received_at", "note", "suggestion", "used_in"),
)
_TOGETHER = 100
# A request ends after 29 seconds, and a large file has to be put aside within them, too.
_SECONDS = 20.0
# Also what would begin a list or underline a heading: "1. x", "- x", "===".
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|!~&]|(?<=[0-9])[.)](?=\s|\Z)|^[-+=]")
SUGGESTED = "A member suggests:"


Kept = tuple[EntryDetail, Sequence[Use]]


class Format(StrEnum):
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def write(owner: str, format: Format, states: Sequence[State]) -> Iterator[str]:
    """The file in parts, so that it is never in memory as a whole."""
    return _WRITERS[format](_list_kept(owner, states))


def _list_kept(owner: str, states: Sequence[State]) -> Iterator[Kept]:
    time_left = deadlines.seconds_left(_SECONDS)
    lists = [listing_store.list_state(owner, state) for state in states]
    found = heapq.merge(*lists, key=lambda one: one[0], reverse=True)
    while together := [entry for _, entry in islice(found, _TOGETHER)]:
        if not time_left():
            raise Unavailable("There is too much for one file: export one state at a time")
        uses = service.find_uses(owner, [entry.id for entry in together])
        yield from ((detail, uses.get(detail.entry.id, ())) for detail in service.with_items(together))


def _write_json(kept: Iterator[Kept]) -> Iterator[str]:
    yield '{"items": ['
    for number, (detail, uses) in enumerate(kept):
        fields = to_builtins(serializers.entry_body(detail, uses))
        if detail.entry.suggestion:  # which of the note is not the editors'
            fields["suggestion"] = detail.entry.suggestion
        yield f"{',' if number else ''}\n{json.dumps(fields, ensure_ascii=False)}"
    yield "\n]}\n"


def _write_csv(kept: Iterator[Kept]) -> Iterator[str]:
    return spreadsheets.write(COLUMNS, (_row(detail, uses) for detail, uses in kept))


def _write_markdown(kept: Iterator[Kept]) -> Iterator[str]:
    """A list for each day on which something was received."""
    yield "# Inbox, bookmarks and archive\n"
    for day, received in groupby(kept, lambda one: one[0].entry.received_at.date()):
        yield f"\n## {_name_day(day)}\n\n"
        yield from (_line(detail) for detail, _ in received)


_WRITERS: dict[Format, Callable[[Iterator[Kept]], Iterator[str]]] = {
    Format.JSON: _write_json,
    Format.CSV: _write_csv,
    Format.MARKDOWN: _write_markdown,
}


def _row(detail: EntryDetail, uses: Sequence[Use]) -> tuple[str, ...]:
    entry, item = detail.entry, detail.item
    return (
        *(entry.id, entry.state.value, entry.provider.value, entry.content_type.value),
        *(item.title, item.creator, item.canonical_url, item.excerpt),
        "" if item.duration_seconds is None else str(item.duration_seconds),
        clock.text(item.published_at) if item.published_at else "",
        clock.text(entry.received_at),
        entry.note,
        entry.suggestion,
        "; ".join(use.subject for use in uses),
    )


def _line(detail: EntryDetail) -> str:
    """`- [Title](<link>) · Source · bookmarked`, with the note below it: that is Markdown of its author, as in a
    campaign. What members suggested is text."""
    entry, item = detail.entry, detail.item
    title = f"[{_escape(item.title)}](<{item.canonical_url}>)" if item.canonical_url else _escape(item.title)
    kept = "" if entry.state is State.INBOX else entry.state.lower()
    line = " · ".join(filter(None, (title, _escape(item.creator), kept)))
    suggested = [f"{SUGGESTED} {_escape(entry.suggestion)}"] if entry.suggestion else []
    between = [""] if entry.note and suggested else []
    noted = "".join(f"  > {text}".rstrip() + "\n" for text in (*entry.note.splitlines(), *between, *suggested))
    return f"- {line}\n{noted}"


def _name_day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _escape(text: str) -> str:
    """On one line, and nothing in it that Markdown would take for more than text."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))
