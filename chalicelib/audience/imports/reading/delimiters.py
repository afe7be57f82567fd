"""What stands between cells: the candidate that cuts the first rows most evenly."""

import re
from itertools import islice

from chalicelib.audience.imports.reading import formats, headers, mapping
from chalicelib.audience.imports.reading.model import DELIMITERS, WHOLE_LINE
from chalicelib.audience.imports.reading.records import read_records

_NAMED_LINE = re.compile(r"[^<>]*<[^<>]*(?:@|%40)[^<>]*>\s*\Z")
# No line with one person is longer, and patterns take their time with long ones.
_LONGEST_NAMED_LINE = 1000
_EVEN_ROWS = 50
_MOST_LINES_ABOVE = 5
# The first line that Excel understands as a hint.
_HINT = re.compile(r"sep=([,;|\t])\s*\Z", re.IGNORECASE)


def read_hint(line: str) -> str | None:
    match = _HINT.match(line.strip(' \ufeff"\r'))
    return match[1] if match else None


def count_above(lines: list[str]) -> int:
    """How many lines stand above one that names a column of addresses; none if there is no such line."""
    for place, line in enumerate(lines[: _MOST_LINES_ABOVE + 1]):
        if "@" in line:
            break
        if any(_names_addresses(cell) for delimiter in DELIMITERS for cell in line.split(delimiter)):
            return place
    return 0


def _names_addresses(cell: str) -> bool:
    name = formats.normalise(cell.strip(' "'))
    return headers.find_field(name, formats.Format(formats.GENERIC, ())) == "email"


def are_recipients(lines: list[str], delimiter: str) -> bool:
    """Whether all there is is one line of addresses, as it is copied from an email."""
    full = [line for line in lines if line.strip()]
    if len(full) != 1 or delimiter not in (",", ";"):
        return False
    cells = [cell for cell in full[0].split(delimiter) if cell.strip()]
    return len(cells) > 1 and all(map(mapping.looks_like_address, cells))


def guess(lines: list[str]) -> str:
    full = [line for line in lines if line.strip()]
    if not full or _is_pasted(full):
        return WHOLE_LINE
    scores = {delimiter: _score(full, delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: scores[delimiter])
    return best if scores[best][0] > 0 else WHOLE_LINE


def _is_pasted(lines: list[str]) -> bool:
    """Addresses, one a line, bare or behind a name. A comma after each of them would be a column; after some, it is
    a mistake."""
    alone = [sum(1 for part in re.split(r"[,;|\t]", line) if part.strip()) == 1 for line in lines]
    named = [len(line) <= _LONGEST_NAMED_LINE and _NAMED_LINE.match(line) is not None for line in lines]
    if "@" not in lines[0] and "%40" not in lines[0] and not named[0]:
        return False
    fitting = sum(map(max, alone, named))
    bare = any(one and not re.search(r"[,;|\t]", line) for one, line in zip(alone, lines, strict=True)) or any(named)
    return bare and fitting >= 0.8 * len(lines)


def _score(lines: list[str], delimiter: str) -> tuple[float, float, int]:
    """Known names in the header, how many rows are as wide as the first, and how wide that is."""
    rows = [
        record.cells
        for record in islice(read_records(iter([(line, False) for line in lines]), delimiter), _EVEN_ROWS)
    ]
    width = len(rows[0]) if rows else 0
    if width < 2:
        return 0, 0, 0
    format = formats.Format(formats.GENERIC, ())
    known = sum(1 for cell in rows[0] if headers.find_field(formats.normalise(cell), format))
    even = sum(1 for row in rows if len(row) == width) / len(rows)
    return 0.1 + known, even, width
