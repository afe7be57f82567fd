"""Recognises how an upload is to be read: everything is guessed, and the owner may choose otherwise."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import dropwhile, islice

from msgspec.structs import replace

from chalicelib.audience.imports.reading import dates, delimiters, encodings, formats, headers, mapping, statuses
from chalicelib.audience.imports.reading.files import Text, Upload
from chalicelib.audience.imports.reading.model import (
    DATES,
    MOST_COLUMNS,
    WHOLE_LINE,
    Reading,
    Sheet,
    Status,
    Wanted,
)
from chalicelib.audience.imports.reading.records import Record, read_records
from chalicelib.kernel.errors import Invalid

_SAMPLED_LINES = 200
_SAMPLED_CHARACTERS = 1_000_000
_LONGEST_COLUMN_NAME = 100


def recognise(upload: Upload, wanted: Wanted | None = None) -> Reading:
    wanted = wanted or Wanted()
    wanted.check()
    found = _recognise_all(upload, wanted)
    texts = {text.name: text for text in upload.texts}
    dated = [
        replace(sheet, date_format=wanted.date_format or _tell_dates(texts[sheet.file], sheet))
        for sheet in _map_as_wanted(found, wanted)
    ]
    return Reading(tuple(dated), (*upload.ignored, *found.ignored))


def _recognise_all(upload: Upload, wanted: Wanted) -> Reading:
    if len(upload.texts) == 1:
        return Reading((_recognise(upload.texts[0], wanted, upload.name),))
    guessed = _in_order(_recognise(text, Wanted(status=wanted.status), upload.name) for text in upload.texts)
    texts = {text.name: text for text in upload.texts}
    sheets = [_recognise(texts[sheet.file], _fit(wanted, sheet, guessed), upload.name) for sheet in guessed.sheets]
    return Reading(tuple(sheets), guessed.ignored)


def _in_order(sheets: Iterable[Sheet]) -> Reading:
    """Those with addresses, most restrictive first, so that of several rows of one person the first is usually the
    one that counts."""
    found = sorted(sheets, key=lambda sheet: (-(sheet.status or Status.MAILABLE), sheet.file))
    kept = [sheet for sheet in found if "email" in sheet.mapping] or found
    return Reading(tuple(kept), tuple(sheet.file for sheet in found if sheet not in kept))


def _fit(wanted: Wanted, sheet: Sheet, guessed: Reading) -> Wanted:
    """What the owner chose, seeing the main file, is for files like that. One with another delimiter is still read by
    its own: otherwise those who left would be lost with it."""
    main = guessed.main
    return replace(
        wanted,
        delimiter=wanted.delimiter if sheet.delimiter == main.delimiter else None,
        encoding=wanted.encoding if sheet.encoding == main.encoding else None,
        header=wanted.header if sheet.header == main.header else None,
    )


def read_body(text: Text, sheet: Sheet) -> Iterator[Record]:
    """Its records without the header, also where it stands again because files were joined."""
    lines = encodings.read_lines(text, sheet.encoding)
    records = read_records(lines, sheet.delimiter, 0 if sheet.recipients else len(sheet.columns))
    body = islice(dropwhile(lambda record: record.line <= sheet.above, records), sheet.header, None)
    first = sheet.columns[0] if sheet.header else None
    for record in body:
        if sheet.recipients:
            yield from _spread(record)
        elif record.cells[0] != first or _column_names(record.cells) != sheet.columns:
            yield record


def _spread(record: Record) -> list[Record]:
    return [Record(record.line, [cell], record.problem) for cell in record.cells if cell.strip()]


def _recognise(text: Text, wanted: Wanted, upload_name: str) -> Sheet:
    encoding = wanted.encoding or encodings.guess(text)
    lines = _sample(text, encoding)
    hint = delimiters.read_hint(lines[0]) if lines else None
    above = max(hint is not None, 0 if wanted.header is False else delimiters.count_above(lines))
    delimiter = wanted.delimiter if wanted.delimiter is not None else hint or delimiters.guess(lines[above:])
    recipients = not wanted.header and delimiters.are_recipients(lines, delimiter)
    records = list(read_records(((line, False) for line in lines[above:]), delimiter))
    if recipients:
        records = [each for record in records for each in _spread(record)]
    rows = [record.cells for record in records]
    header = headers.is_header(rows) if wanted.header is None else wanted.header
    sheet = Sheet(
        file=text.name,
        format=formats.LINES,
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        columns=_name_columns(rows, header),
        mapping={},
        status=_most_restrictive(statuses.read_file_name(text.name or upload_name), wanted.status),
        above=above,
        recipients=recipients,
    )
    return _with_header(sheet, rows[1:]) if header else _without_header(sheet, rows)


def _with_header(sheet: Sheet, rows: list[list[str]]) -> Sheet:
    names = [formats.normalise(name) for name in sheet.columns]
    format = formats.recognise(names)
    mapped, repeated = mapping.guess(names, rows, format)
    status = _most_restrictive(sheet.status, formats.tell_status(format.name, names))
    return replace(sheet, format=format.name, mapping=mapped, repeated=repeated, status=status)


def _without_header(sheet: Sheet, rows: list[list[str]]) -> Sheet:
    mapped = mapping.guess_headerless(rows, len(sheet.columns))
    if sheet.delimiter == WHOLE_LINE or sheet.recipients:
        return replace(sheet, mapping=mapped or {"email": 0})
    # Its files have no header, the name before the address, and the status in the name of the file.
    is_sendy = sheet.status is not None and mapped.get("email") == 1 and mapped.get("name") == 0
    return replace(sheet, mapping=mapped, format="sendy" if is_sendy else formats.GENERIC)


def _most_restrictive(*said: Status | None) -> Status | None:
    return max((each for each in said if each is not None), default=None)


def _sample(text: Text, encoding: str) -> list[str]:
    lines, size = [], 0
    for line, _ in islice(encodings.read_lines(text, encoding), _SAMPLED_LINES):
        lines.append(line)
        size += len(line)
        if size > _SAMPLED_CHARACTERS:
            break
    return lines


def _name_columns(rows: list[list[str]], header: bool) -> tuple[str, ...]:
    """Without a header, as many as most rows have."""
    widths = Counter(map(len, rows)).most_common(1)
    width = len(rows[0]) if header and rows else (widths[0][0] if widths else 1)
    if width > MOST_COLUMNS:
        raise Invalid(f"The file has more than {MOST_COLUMNS} columns")
    if header and rows:
        return _column_names(rows[0])
    return tuple(f"Column {number}" for number in range(1, width + 1))


def _column_names(cells: list[str]) -> tuple[str, ...]:
    return tuple(cell.strip().strip("\ufeff")[:_LONGEST_COLUMN_NAME] for cell in cells)


def _map_as_wanted(reading: Reading, wanted: Wanted) -> list[Sheet]:
    if wanted.mapping is None:
        return list(reading.sheets)
    main = reading.main
    chosen = mapping.check(wanted.mapping, len(main.columns))
    refused = mapping.refused(wanted.mapping, main.mapping)
    gone = {field for field, column in main.mapping.items() if column in refused}
    mapped = []
    for sheet in reading.sheets:
        places = _translation(main, sheet)
        there = {field: place for field, column in chosen.items() if (place := places.get(column)) is not None}
        not_there = {place for column in refused if (place := places.get(column)) is not None}
        fields = mapping.choose(there, not_there, sheet.mapping)
        repeated = [each for each in sheet.repeated if each[0] not in gone and each[1] not in fields.values()]
        mapped.append(replace(sheet, mapping=fields, repeated=tuple(repeated)))
    return mapped


def _translation(main: Sheet, other: Sheet) -> dict[int, int | None]:
    """Where the columns of the main file are in another one, by name."""
    if other.columns == main.columns:
        return {place: place for place in range(len(main.columns))}
    places = {formats.normalise(name): place for place, name in reversed(list(enumerate(other.columns)))}
    return {place: places.get(formats.normalise(name)) for place, name in enumerate(main.columns)}


def _tell_dates(text: Text, sheet: Sheet) -> str | None:
    """Whether the day or the month comes first, by the first date in the file that can be only one of both. None if
    there are no such dates."""
    columns = {column for field, column in sheet.mapping.items() if field in DATES}
    ambiguous = None
    for number, record in enumerate(read_body(text, sheet) if columns else ()):
        if number > _SAMPLED_LINES and ambiguous is None:
            break
        for cell in (record.cells[column] for column in columns if column < len(record.cells)):
            told = dates.tell_order(cell) if cell else None
            if told:
                return told
            ambiguous = ambiguous or (cell if told == "" else None)
    return dates.usual_order(ambiguous) if ambiguous else None
