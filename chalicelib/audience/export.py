"""Subscribers as CSV: UTF-8 with BOM, safe to open in a spreadsheet."""

import json
from collections.abc import Iterator
from itertools import islice

from chalicelib.audience import listing
from chalicelib.audience.listing import Entry, Filter
from chalicelib.audience.model import PENDING
from chalicelib.audience.stores import capture_metadata
from chalicelib.audience.stores.capture_metadata import Sent
from chalicelib.kernel import spreadsheets

COLUMNS = ("email", "nickname", "status", "activated_at")
FULL_COLUMNS = (*COLUMNS, "id", "created_at", "sources", "tags", "metadata", "paused_because")
_ENTRIES_AT_ONCE = 100


def csv_parts(wanted: Filter, full: bool = False) -> Iterator[str]:
    """The file in parts, so that it is never in memory as a whole."""
    if full:
        return spreadsheets.write(FULL_COLUMNS, _full_rows(wanted))
    return spreadsheets.write(COLUMNS, map(_row, listing.iterate(wanted)))


def _row(entry: Entry) -> tuple[str, ...]:
    return entry.email, entry.nickname or "", entry.label, entry.activated_at or ""


def _full_rows(wanted: Filter) -> Iterator[tuple[str, ...]]:
    """Of somebody who is pending, what waits for them to confirm it. Sources and tags may contain any separator, so
    lists are JSON."""
    entries, paused = listing.iterate(wanted), listing.list_reasons_of_pauses()
    while some := list(islice(entries, _ENTRIES_AT_ONCE)):
        waiting = capture_metadata.read_waiting([entry.id for entry in some if entry.status == PENDING])
        known = capture_metadata.read_confirmed((entry.id, source) for entry in some for source in entry.sources)
        sent: dict[str, dict[str, Sent]] = {}
        for (id, source), came in {**waiting, **known}.items():
            sent.setdefault(id, {})[source] = came
        for entry in some:
            cells = _sent_cells(entry, sent.get(entry.id, {}))
            yield (*_row(entry), entry.id, entry.created_at, *cells, paused.get(entry.id, ""))


def _sent_cells(entry: Entry, sent: dict[str, Sent]) -> tuple[str, str, str]:
    """Sources, tags, and metadata by source."""
    sources, tags = set(entry.sources), set(entry.tags)
    if entry.status == PENDING:
        sources |= set(sent)
        tags |= {tag for came in sent.values() for tag in came.tags}
    metadata = {source: came.metadata for source, came in sorted(sent.items()) if came.metadata}
    return _json(sorted(sources)), _json(sorted(tags)), _json(metadata) if metadata else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
