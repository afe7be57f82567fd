"""The report: every row that was not imported, with its line and the reason, as a file that can be imported again.

It names people who are strangers here, so it lives as long as a file would: a day. The worker writes it in parts, one
for each call, and a part that a dead worker took with it is judged again from the file.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from chalicelib.audience.imports import uploads
from chalicelib.audience.imports.judging import Verdict
from chalicelib.audience.imports.model import Import
from chalicelib.audience.imports.reading.model import Status
from chalicelib.kernel import clock, spreadsheets

COLUMNS = ("email", "name", "status", "joined_at", "tags", "file", "line", "result", "reason")
_WORDS = {
    Status.MAILABLE: "",
    Status.UNCONFIRMED: "unconfirmed",
    Status.BOUNCED: "bounced",
    Status.LEFT: "unsubscribed",
    Status.COMPLAINED: "complained",
}


class Part:
    """What is being written of the report in this call, on disk."""

    def __init__(self, folder: Path, start: int) -> None:
        self.start = start
        self.path = folder / "report"
        self._stream = self.path.open("w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._stream)

    def add(self, verdicts: Iterable[Verdict]) -> None:
        self._writer.writerows(map(_cells, filter(lambda verdict: verdict.is_reported, verdicts)))

    def keep(self, import_id: str) -> None:
        """A second try writes the same part again."""
        self._stream.close()
        uploads.keep_part(import_id, self.start, self.path)

    def close(self) -> None:
        self._stream.close()


def write(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """The whole report, of rows judged now."""
    return spreadsheets.write(COLUMNS, (_cells(verdict) for verdict in verdicts if verdict.is_reported))


def read(found: Import) -> Iterator[str] | None:
    """The report that was kept; None if a part of it is gone."""
    parts = [uploads.read_part(found.id, start) for start in found.parts]
    whole = [part for part in parts if part is not None]
    return _joined(whole) if len(whole) == len(parts) else None


def _joined(parts: Iterable[Iterator[str]]) -> Iterator[str]:
    header = io.StringIO()
    csv.writer(header).writerow(COLUMNS)
    yield spreadsheets.BOM + header.getvalue()
    for part in parts:
        yield from part


def _cells(verdict: Verdict) -> list[str]:
    row = verdict.row
    cells = (
        row.typed,
        row.name or "",
        _WORDS[row.status],
        clock.text(row.joined_at) if row.joined_at else "",
        _tags(row.tags),
        row.file,
        str(row.line),
        str(verdict.result),
        verdict.reason,
    )
    return [spreadsheets.escape(cell) for cell in cells]


def _tags(tags: Iterable[str]) -> str:
    """For people to read; as JSON where a tag contains what would cut it in two."""
    words = sorted(tags)
    plain = not any(mark in word for word in words for mark in ',;"[')
    return ",".join(words) if plain else json.dumps(words, ensure_ascii=False)
