"""From lines to cells. Like the csv module, but a broken quote costs one row instead of the rest of the file, and no
row is longer than a bound."""

import csv
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from chalicelib.audience.imports.reading.model import WHOLE_LINE

# A quoted cell may contain line breaks, such as notes: up to these bounds, its end is looked for.
_MOST_LINES = 200
_LONGEST_RECORD = 262_144
# After so many quotes without an end in one file, no further line is read ahead: it would be in vain, and slow.
_MOST_UNCLOSED = 100
_SHOWN_OF_LONG_LINE = 200
TOO_LONG = "The line is too long"
BROKEN_QUOTES = "The quotes in this line do not match"

Lines = Iterator[tuple[str, bool]]


class Record(NamedTuple):
    line: int
    cells: list[str]
    problem: str | None = None


def read_records(lines: Lines, delimiter: str, width: int = 0) -> Iterator[Record]:
    """Every line that is not empty. `width` is how many cells a row has, if that is known: it helps to tell where a
    broken quote was meant to end."""
    if delimiter == WHOLE_LINE:
        return _whole_lines(lines)
    return _Records(lines, delimiter, width).read()


def _whole_lines(lines: Lines) -> Iterator[Record]:
    for number, (line, cut) in enumerate(lines, 1):
        if cut:
            yield Record(number, [line[:_SHOWN_OF_LONG_LINE]], TOO_LONG)
        elif line.strip():
            yield Record(number, [_unquote(line)])


def _unquote(line: str) -> str:
    bare = line.strip()
    if len(bare) > 1 and bare[0] == bare[-1] == '"' and '"' not in bare[1:-1]:
        return bare[1:-1]
    return line


class _Records:
    def __init__(self, lines: Lines, delimiter: str, width: int) -> None:
        self._lines = lines
        self._ahead: deque[tuple[str, bool]] = deque()
        self._delimiter = delimiter
        self._width = width
        self._number = 0
        self._unclosed = 0

    def read(self) -> Iterator[Record]:
        while (item := self._next()) is not None:
            line, cut = item
            number = self._number
            if cut:
                yield Record(number, [line[:_SHOWN_OF_LONG_LINE]], TOO_LONG)
                continue
            # Most lines have no quotes at all.
            record = Record(number, line.split(self._delimiter)) if '"' not in line else self._quoted(line)
            if any(map(str.strip, record.cells)):
                yield record

    def _next(self) -> tuple[str, bool] | None:
        item = self._ahead.popleft() if self._ahead else next(self._lines, None)
        self._number += item is not None
        return item

    def _quoted(self, line: str) -> Record:
        number = self._number
        used = [line]
        try:
            cells = next(csv.reader(self._feed(used), delimiter=self._delimiter, strict=True))
        except (csv.Error, StopIteration):
            cells = []
        if cells and self._fits(cells):
            return Record(number, cells)
        self._put_back(used)
        if cells and len(used) == 1:
            return Record(number, self._mend(line) or cells)
        mended = self._mend(line)
        return Record(number, mended or line.split(self._delimiter), None if mended else BROKEN_QUOTES)

    def _feed(self, used: list[str]) -> Iterator[str]:
        """The line, and as many more as the csv module asks for, up to the bounds."""
        yield used[0] + "\n"
        if self._unclosed >= _MOST_UNCLOSED:
            return
        size = len(used[0])
        while len(used) < _MOST_LINES and size < _LONGEST_RECORD and (item := self._next()) is not None:
            line, cut = item
            if cut or size + len(line) > _LONGEST_RECORD:
                self._ahead.appendleft(item)
                self._number -= 1
                return
            used.append(line)
            size += len(line)
            yield line + "\n"

    def _put_back(self, used: list[str]) -> None:
        if len(used) > 1:
            self._unclosed += 1
            self._ahead.extendleft((line, False) for line in reversed(used[1:]))
            self._number -= len(used) - 1

    def _fits(self, cells: list[str]) -> bool:
        return len(cells) == self._width or not self._width

    def _mend(self, line: str) -> list[str] | None:
        """Sendy puts quotes around every cell and does not double those within, so cells end where `","` stands.
        Others put spaces beside the quotes, or forget the quotes around a cell that has some."""
        bare = line.strip()
        if len(bare) > 1 and bare[0] == bare[-1] == '"':
            cells = bare[1:-1].split(f'"{self._delimiter}"')
            if self._fits(cells):
                return cells
        try:
            cells = next(csv.reader([line], delimiter=self._delimiter, skipinitialspace=True, strict=True))
        except csv.Error:
            cells = [_unquote(cell) for cell in line.split(self._delimiter)]
            if any(cell.count('"') % 2 for cell in cells):
                return None
        return cells if self._fits(cells) else None
