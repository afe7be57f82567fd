"""The forms of the import pages: how a file is to be read, and on what terms people are imported."""

from collections.abc import Mapping
from datetime import date

from msgspec import Struct

from chalicelib.admin import import_words
from chalicelib.audience.imports import model
from chalicelib.audience.imports.model import Columns, Consent, Joined
from chalicelib.audience.imports.reading import model as reading
from chalicelib.audience.imports.reading.model import Wanted
from chalicelib.audience.imports.service import Start
from chalicelib.kernel.errors import Invalid

_LONGEST_ECHO = 500
# A form has at most fifty fields, and a page at most 60 KB.
_MOST_SHOWN = 24
_TEXTS = ("joined", "last_mailed", "statement", "source", "tags", "exported_on")


class Column(Struct, frozen=True):
    number: int
    name: str
    field: str


def read_wanted(fields: Mapping[str, str], columns: Columns) -> Wanted:
    """What the page shows is all there is to say: a column that is not shown is not read. With another delimiter or
    encoding, the columns on the page are no longer those of the file, and are guessed again."""
    delimiter = {name: value for name, _, value in import_words.DELIMITERS}.get(fields.get("delimiter", ""))
    encoding = fields.get("encoding") or None
    header = {"yes": True, "no": False}.get(fields.get("header", ""))
    same = delimiter in (None, columns.delimiter) and encoding in (None, columns.encoding)
    wanted = Wanted(
        mapping=_read_mapping(fields, len(columns.columns)) if same else None,
        delimiter=delimiter,
        encoding=encoding,
        header=header if same or header != columns.header else None,
        date_format=fields.get("date_format") or None,
        status=model.STATUSES.get(fields.get("status", "")),
    )
    wanted.check()
    return wanted


def _read_mapping(fields: Mapping[str, str], width: int) -> dict[str, int | None] | None:
    chosen = {name: field for name, field in fields.items() if name.startswith("column_") and field}
    if not any(name.startswith("column_") for name in fields):
        return None
    mapping: dict[str, int | None] = dict.fromkeys(reading.FIELDS)
    for name, field in chosen.items():
        number = read_number(name.removeprefix("column_"))
        if field not in mapping or number is None or number >= width:
            raise Invalid("The columns could not be read: load the page again")
        if mapping[field] is not None:
            raise Invalid(f"Two columns are both “{reading.FIELDS[field]}”: choose one of them")
        mapping[field] = number
    if mapping["email"] is None:
        raise Invalid("Choose the column with the email address")
    return mapping


def read_number(text: str) -> int | None:
    """Of a column; None if it is none that a file could have."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else None


def read_start(fields: Mapping[str, str]) -> Start:
    source, tags = model.check_capture(fields.get("source"), _split(fields.get("tags", "")))
    return Start(read_consent(fields), source, tags, exported_on=read_exported_on(fields))


def read_consent(fields: Mapping[str, str]) -> Consent:
    """The same question for a whole list and for one person."""
    joined = fields.get("joined", "")
    if joined not in list(Joined):
        raise Invalid("Say how they joined")
    last_mailed = model.check_day("The date of your last email", fields.get("last_mailed"))
    if joined == Joined.UNSURE:
        return Consent(Joined.UNSURE, "", last_mailed)
    if not fields.get("statement", "").strip():
        raise Invalid("Say in your own words how they joined")
    return Consent(Joined(joined), model.check_statement(fields["statement"]), last_mailed)


def read_exported_on(fields: Mapping[str, str]) -> date | None:
    return model.check_day("The date of the export", fields.get("exported_on"))


def read_typed(fields: Mapping[str, str]) -> dict[str, str]:
    """As it was filled in, to show it again."""
    return {name: fields.get(name, "")[:_LONGEST_ECHO] for name in _TEXTS}


def choose_columns(columns: Columns, start: int) -> tuple[list[Column], int | None]:
    """The columns the page has room for: those that are used, and of the others the first from `start` on. And where
    the next page of them begins, if there is one."""
    fields = {number: field for field, number in columns.mapping.items()}
    others = [number for number in range(len(columns.columns)) if number not in fields]
    room = max(1, _MOST_SHOWN - len(fields))
    shown = sorted({*fields, *others[start : start + room]})
    found = [Column(number, columns.columns[number], fields.get(number, "")) for number in shown]
    return found, start + room if start + room < len(others) else None


def _split(text: str) -> list[str]:
    return [tag for tag in text.split(",") if tag.strip()]
