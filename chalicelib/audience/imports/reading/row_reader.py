"""Rows of an upload, one after the other: whatever stands in a line becomes a row, and never an exception."""

import ipaddress
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from chalicelib.audience import model
from chalicelib.audience.imports.reading import address_cells, cells, dates, recogniser, statuses
from chalicelib.audience.imports.reading.files import Upload
from chalicelib.audience.imports.reading.model import RESTRICTING, Reading, Row, Sheet, Status
from chalicelib.audience.imports.reading.records import Record
from chalicelib.kernel import clock

TOO_MANY_CELLS = "The row has more cells than the header"
TOO_FEW_CELLS = "The row has fewer cells than the header"
NO_COLUMN = "No column is chosen for the email address"
_PROOF_DATES = ("joined_at", "optin_at", "confirmed_at")
_IPS = ("optin_ip", "confirm_ip")
_LONGEST_PROOF = 100


def rows(upload: Upload, reading: Reading, skip: int = 0) -> Iterator[Row]:
    """All rows, file by file, without the first `skip`."""
    texts = {text.name: text for text in upload.texts}
    number = 0
    for sheet in reading.sheets:
        interpreter = _Interpreter(sheet)
        for record in recogniser.read_body(texts[sheet.file], sheet):
            if number >= skip:
                yield interpreter.read(record, number)
            number += 1


class _Interpreter:
    """Reads the records of one file."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._width = len(sheet.columns)
        self._email = sheet.mapping.get("email")
        signals = [(field, column) for field, column in sheet.mapping.items() if field in RESTRICTING]
        self._signals = (*signals, *sheet.repeated)
        self._needed = max((column for _, column in self._signals), default=-1)
        self._dates = [(field, sheet.mapping[field]) for field in _PROOF_DATES if field in sheet.mapping]
        self._ips = [(field, sheet.mapping[field]) for field in _IPS if field in sheet.mapping]
        self._latest = dates.latest()

    def read(self, record: Record, number: int) -> Row:
        values = cells.unescape(record.cells, self._sheet.format)
        cell = values[self._email] if self._email is not None and self._email < len(values) else ""
        found = address_cells.find_address(cell)
        misshapen = record.problem or self._misshapen(values)
        return Row(
            number=number,
            file=self._sheet.file,
            line=record.line,
            cells=record.cells,
            typed=found.typed,
            address=None if misshapen else found.address,
            problem=misshapen or found.problem,
            misread=found.address if misshapen else None,
            repaired=found.repaired,
            status=self._unknown(values) if misshapen else self._status(values),
            **({} if misshapen else self._details(values, found)),
        )

    def _misshapen(self, values: list[str]) -> str | None:
        """Cells beyond the header mean that others may have moved too, and a status must not be cut off."""
        if self._email is None:
            return NO_COLUMN
        if len(values) > self._width and any(map(str.strip, values[self._width :])):
            return TOO_MANY_CELLS
        return TOO_FEW_CELLS if len(values) <= self._needed else None

    def _status(self, values: list[str]) -> Status:
        status = self._sheet.status or Status.MAILABLE
        for field, column in self._signals:
            if column < len(values) and (cell := values[column]):
                said = statuses.read_signal(field, cell, self._sheet.format)
                if said is not None and said > status:
                    status = said
        return status

    def _unknown(self, values: list[str]) -> Status:
        """Of a misshapen row: what restricts may stand in another cell, so it must not seem mailable in a report."""
        words = [cell for cell in values if statuses.is_status_word(cell)]
        said = [statuses.read_signal("status", word, self._sheet.format) or Status.MAILABLE for word in words]
        return max(self._status(values), *said, Status.UNCONFIRMED if self._signals else Status.MAILABLE)

    def _details(self, values: list[str], found: address_cells.Found) -> dict[str, Any]:
        """Everything that a row may have and need not."""
        details: dict[str, Any] = {}
        dropped: list[str] = []
        self._add_name(details, dropped, values, found)
        self._add_proof(details, values)
        if cell := self._cell(values, "tags"):
            details["tags"], lost = cells.read_tags(cell)
            dropped += ["tags"] * lost
        self._add_metadata(details, dropped, values)
        if dropped:
            details["dropped"] = tuple(dropped)
        return details

    def _cell(self, values: list[str], field: str) -> str:
        column = self._sheet.mapping.get(field)
        return values[column] if column is not None and column < len(values) else ""

    def _add_name(
        self, details: dict[str, Any], dropped: list[str], values: list[str], found: address_cells.Found
    ) -> None:
        text = self._cell(values, "name").strip()
        if not text:
            text = f"{self._cell(values, 'first_name').strip()} {self._cell(values, 'last_name').strip()}".strip()
        text = text or found.name
        if not text or text == found.typed:
            return
        name = cells.fit_name(text)
        details["name"] = name
        if name != text:
            dropped.append("name")

    def _add_proof(self, details: dict[str, Any], values: list[str]) -> None:
        proof = {}
        for field, column in self._dates:
            if column < len(values) and (cell := values[column].strip()):
                moment = dates.parse(cell, self._sheet.date_format, self._latest)
                details[field] = moment
                if moment or not statuses.says_nothing(cell):
                    proof[field] = clock.text(moment) if moment else cell[:_LONGEST_PROOF]
        if origin := self._cell(values, "origin").strip():
            proof["origin"] = origin[:_LONGEST_PROOF]
        details["proof"] = proof
        # Where a file has a column for the time of the form, no other date stands for it.
        if "optin_at" not in self._sheet.mapping:
            details["optin_at"] = details.get("joined_at")
        details["joined_at"] = details.get("joined_at") or details.get("optin_at") or details.get("confirmed_at")
        if self._ips:
            read = {
                field: _ip(values[column][:_LONGEST_PROOF]) for field, column in self._ips if column < len(values)
            }
            details["ips"] = {field: ip for field, ip in read.items() if ip}

    def _add_metadata(self, details: dict[str, Any], dropped: list[str], values: list[str]) -> None:
        if cell := self._cell(values, "sources"):
            details["sources"] = cells.read_words(cell)
        if not statuses.says_nothing(cell := self._cell(values, "paused").strip()):
            details["paused"] = cell if cell in model.REASONS_TO_PAUSE else model.EDITOR
        if not (cell := self._cell(values, "metadata").strip()) or cell in ("{}", "null"):
            return
        key = "metadata_by_source" if self._sheet.format == "gna" else "metadata"
        read = cells.read_metadata_by_source(cell) if self._sheet.format == "gna" else cells.read_metadata(cell)
        if read:
            details[key] = read
        else:
            dropped.append("metadata")


@lru_cache(maxsize=4096)
def _ip(cell: str) -> str | None:
    try:
        return str(ipaddress.ip_address(cell.strip()))
    except ValueError:
        return None
