"""CSV that is safe to open in a spreadsheet: UTF-8 with BOM, and nothing in it that is taken for a formula."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

BOM = "\ufeff"
# A spreadsheet takes a cell that begins with one of these for a formula, and anybody can choose a nickname or a
# title. The full-width ones are for a Japanese Excel. Where the list separator is a semicolon or a tab, a cell also
# begins after that: the quotes around the field are not at the beginning of a cell then, and protect nothing.
_FORMULA = re.compile(r"(?:^(?=[\t\r])|(?:^|(?<=[;\t\r\n]))(?=[ \"]*[=+\-@＝＋－＠]))")
_ESCAPED = re.compile(r"(?:^'(?=[\t\r])|(?:^|(?<=[;\t\r\n]))'(?=[ \"]*[=+\-@＝＋－＠]))")
_ROWS_PER_PART = 1000
_LARGEST_PART = 1_000_000


def write(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The file in parts, so that it is never in memory as a whole."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    buffer.write(BOM)
    writer.writerow(columns)
    for number, row in enumerate(rows, 1):
        writer.writerow([escape(cell) for cell in row])
        if number % _ROWS_PER_PART == 0 or buffer.tell() > _LARGEST_PART:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def escape(cell: str) -> str:
    """With an apostrophe where a formula would begin: the text stays readable, and stays text."""
    return _FORMULA.sub("'", cell)


def unescape(cell: str) -> str:
    """What was given to `escape`, unless an apostrophe stood there before: escaping twice is escaping once."""
    return _ESCAPED.sub("", cell)
