"""Subscribers as CSV: UTF-8 with BOM, safe to open in a spreadsheet."""

import csv
import io
import json
from collections.abc import Iterator
from itertools import chain

from chalicelib.audience import listing
from chalicelib.audience.listing import Filter
from chalicelib.kernel.aws import files

BOM = "\ufeff"
COLUMNS = ("email", "nickname", "status", "activated_at")
# A spreadsheet takes a cell that begins with one of these for a formula, and anybody can choose a nickname.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # full-width ones in a Japanese Excel too
_ROWS_PER_PART = 1000
# Lambda allows answers of 6 MB, measured as JSON, in which an accented letter takes six bytes.
_LARGEST_ANSWER = 5_500_000
_TYPE, _NAME = "text/csv; charset=utf-8", "subscribers.csv"


def download(wanted: Filter) -> tuple[str | None, str | None]:
    """The file itself or, when it is too large for one answer, a signed link to it."""
    parts = csv_parts(wanted)
    held = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(json.dumps(part))
        if size > _LARGEST_ANSWER:
            chunks = (text.encode() for text in chain(held, parts))
            return None, files.publish(chunks, _TYPE, _NAME)
    return "".join(held), None


def csv_parts(wanted: Filter) -> Iterator[str]:
    """The file in parts, so that it is never in memory as a whole."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    buffer.write(BOM)
    writer.writerow(COLUMNS)
    for number, entry in enumerate(listing.iterate(wanted), 1):
        row = (entry.email, entry.nickname or "", entry.label, entry.activated_at or "")
        writer.writerow([_escape(cell) for cell in row])
        if number % _ROWS_PER_PART == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _escape(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
