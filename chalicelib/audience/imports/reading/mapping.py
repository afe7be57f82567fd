"""Which column is what: by its name, or by what stands in it."""

import re
from collections.abc import Sequence

from chalicelib.audience.imports.reading import headers, statuses
from chalicelib.audience.imports.reading.formats import Format
from chalicelib.audience.imports.reading.model import ALWAYS_READ, RESTRICTING
from chalicelib.kernel.errors import Invalid

_ADDRESS = re.compile(r"\s*(?:[^<>]*<)?(?:mailto:)?[^@\s<>]+(?:@|%40)[^@\s<>]+\.[^@\s<>]+>?\s*\Z", re.IGNORECASE)
_NAME = re.compile(r"[^\d@/:]*[^\W\d_][^\d@/:]*\Z")

# No address or name is longer, and patterns take their time with long cells.
_LONGEST = 500

Rows = Sequence[Sequence[str]]


def guess(names: list[str], rows: Rows, format: Format) -> tuple[dict[str, int], tuple[tuple[str, int], ...]]:
    """Field → column, and the further columns that repeat a restricting one."""
    columns: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        if (field := headers.find_field(name, format)) and _is_plausible(field, name, column, rows):
            columns.setdefault(field, []).append(column)
    mapped = {field: places[0] for field, places in columns.items()}
    email = find_email(columns.get("email", []), rows, len(names))
    mapped.pop("email", None)
    if email is not None:
        mapped = {"email": email} | {field: column for field, column in mapped.items() if column != email}
    if "state" in names and "status" not in mapped and _are_statuses(rows, names.index("state")):
        mapped["status"] = names.index("state")
    repeated = [(field, place) for field in RESTRICTING for place in columns.get(field, [])[1:] if place != email]
    return _settle(mapped, rows), tuple(repeated)


def guess_headerless(rows: Rows, width: int) -> dict[str, int]:
    """Only the address, the name beside it (Sendy: name, address) and a status can be told from what they contain."""
    email = find_email([], rows, width)
    if email is None:
        return {}
    mapped = {"email": email}
    for column in sorted(range(width), key=lambda column: (abs(column - email), column)):
        cells = [row[column].strip() for row in rows if column < len(row) and row[column].strip()]
        if column == email or not cells:
            continue
        if "status" not in mapped and _are_mostly_statuses(cells):
            mapped["status"] = column
        elif "name" not in mapped and abs(column - email) == 1 and all(map(_looks_like_name, cells)):
            mapped["name"] = column
    return mapped


def find_email(named: list[int], rows: Rows, width: int) -> int | None:
    """Of the columns with the right name, or else of all, the one with the most addresses. A named one without any
    is believed only if no other has some."""

    def count(column: int) -> int:
        return sum(1 for row in rows if column < len(row) and looks_like_address(row[column]))

    best = max(named, key=count, default=None)
    if best is not None and (count(best) or not rows):
        return best
    other = max(range(width), key=count, default=None)
    if other is not None and count(other):
        return other
    return best


def looks_like_address(cell: str) -> bool:
    return len(cell) <= _LONGEST and _ADDRESS.match(cell) is not None


def _looks_like_name(cell: str) -> bool:
    return len(cell) <= _LONGEST and _NAME.match(cell) is not None


def check(wanted: dict[str, int | None], width: int) -> dict[str, int]:
    """The columns the owner chose."""
    if wanted.get("email") is None:
        raise Invalid("mapping must say which column has the email address")
    for field, column in wanted.items():
        if column is not None and (
            isinstance(column, bool) or not isinstance(column, int) or not 0 <= column < width
        ):
            raise Invalid(f"mapping: {field} must be the number of a column, from 0")
    return {field: column for field, column in wanted.items() if column is not None}


def choose(chosen: dict[str, int], refused: set[int], guessed: dict[str, int]) -> dict[str, int]:
    """What the owner chose, and of the guesses those that restrict, unless the owner refused the column or wants it
    for something else."""
    email = {"email": guessed["email"]} if "email" in guessed and "email" not in chosen else {}
    taken = {column for field, column in chosen.items() if guessed.get(field) != column}
    kept = {
        field: column
        for field, column in guessed.items()
        if field in ALWAYS_READ and field not in chosen and column not in taken | refused
    }
    return chosen | email | kept


def refused(wanted: dict[str, int | None], guessed: dict[str, int]) -> set[int]:
    """Columns that were guessed to be something, and are not to be read. Nothing is said about a field that was not
    there: another file of the upload may have it. A column that was two things is read if it stays one of them."""
    still = {column for column in wanted.values() if column is not None}
    return {column for field, column in guessed.items() if wanted.get(field, column) is None} - still


def _is_plausible(field: str, name: str, column: int, rows: Rows) -> bool:
    """A few names are used for other things too, such as `active` or `segments`; their cells tell."""
    if field != "subscribed" or name not in ("active", "is active"):
        return True
    cells = [row[column] for row in rows if column < len(row) and row[column].strip()]
    return not cells or any(statuses.is_yes_or_no(cell) for cell in cells)


def _are_statuses(rows: Rows, column: int) -> bool:
    """`State` can also be a part of the United States."""
    cells = [row[column] for row in rows if column < len(row) and row[column].strip()]
    return bool(cells) and sum(map(statuses.is_status_word, cells)) > len(cells) / 2


def _are_mostly_statuses(cells: Sequence[str]) -> bool:
    """Among them may be a word nobody knows, which is not mailable, or a header the owner takes for a row."""
    return 2 * sum(map(statuses.is_status_word, cells)) >= len(cells)


def _settle(mapped: dict[str, int], rows: Rows) -> dict[str, int]:
    """`Name` beside `Last name` is the first name. `Subscribed` and `Confirmed` may hold the date since when."""
    if "name" in mapped and "last_name" in mapped and "first_name" not in mapped:
        mapped["first_name"] = mapped.pop("name")
    for field, date in (("subscribed", "joined_at"), ("confirmed", "confirmed_at")):
        if field in mapped and date not in mapped:
            cells = [row[mapped[field]] for row in rows if mapped[field] < len(row)]
            if any(map(statuses.begins_like_a_date, cells)):
                mapped[date] = mapped[field]
    return mapped
