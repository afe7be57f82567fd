"""What is read from an import file: the values and words of reading, without input or output."""

from datetime import datetime
from enum import IntEnum
from typing import Any

from msgspec import Struct

from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import Invalid

DELIMITERS = (",", ";", "\t", "|")
# Instead of a delimiter: a line is one cell, as in a pasted list of addresses.
WHOLE_LINE = ""
UTF_8, UTF_16, WINDOWS_1252 = "utf-8", "utf-16", "windows-1252"
ENCODINGS = (UTF_8, UTF_16, WINDOWS_1252)
DAY_FIRST, MONTH_FIRST = "DD/MM/YYYY", "MM/DD/YYYY"
DATE_FORMATS = (DAY_FIRST, MONTH_FIRST)
MOST_COLUMNS = 500

# What a column can be, and what pages call it.
FIELDS = {
    "email": "Email address",
    "name": "Name",
    "first_name": "First name",
    "last_name": "Last name",
    "status": "Status",
    "subscribed": "Wants email (yes or no)",
    "mail_off": "Wants no email (yes or no)",
    "confirmed": "Confirmed (yes or no)",
    "tags": "Tags",
    "joined_at": "Joined on",
    "optin_at": "Form sent on",
    "confirmed_at": "Confirmed on",
    "left_at": "Unsubscribed on",
    "bounced_at": "Bounced on",
    "complained_at": "Complained on",
    "reason": "Reason for leaving",
    "optin_ip": "IP address of the form",
    "confirm_ip": "IP address of the confirmation",
    "origin": "Where they came from",
    "metadata": "Metadata (JSON)",
    "sources": "Sources (JSON)",
    "paused": "Paused because",
}
# Columns that can keep somebody from being mailed.
RESTRICTING = ("status", "subscribed", "mail_off", "confirmed", "left_at", "bounced_at", "complained_at", "reason")
# Columns that are read unless the owner says otherwise.
ALWAYS_READ = (*RESTRICTING, "paused")
DATES = ("joined_at", "optin_at", "confirmed_at", "left_at", "bounced_at", "complained_at")


class Status(IntEnum):
    """What a row says about somebody. The higher, the more restrictive, so that `max` of several is what counts.

    A complaint is worst for everybody's mail, and is kept as do-not-contact. Leaving is the person's own decision,
    and weighs more than a bounce, which is the mailbox's. Both weigh more than never having confirmed, which one new
    confirmation would mend.
    """

    MAILABLE = 0
    UNCONFIRMED = 1
    BOUNCED = 2
    LEFT = 3
    COMPLAINED = 4


class Wanted(Struct, frozen=True):
    """What the owner chose; None is guessed. A field mapped to None is not read."""

    mapping: dict[str, int | None] | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    date_format: str | None = None
    status: Status | None = None

    def check(self) -> None:
        if self.delimiter is not None and self.delimiter not in (*DELIMITERS, WHOLE_LINE):
            raise Invalid("delimiter must be a comma, a semicolon, a tab, a vertical bar or empty")
        if self.encoding is not None and self.encoding not in ENCODINGS:
            raise Invalid(f"encoding must be one of {', '.join(ENCODINGS)}")
        if self.date_format is not None and self.date_format not in DATE_FORMATS:
            raise Invalid(f"date_format must be one of {', '.join(DATE_FORMATS)}")
        if not set(self.mapping or ()) <= set(FIELDS):
            raise Invalid(f"mapping may contain only {', '.join(FIELDS)}")


class Sheet(Struct, frozen=True):
    """How one CSV text is read."""

    file: str
    format: str
    delimiter: str
    encoding: str
    header: bool
    columns: tuple[str, ...]
    mapping: dict[str, int]
    date_format: str | None = None
    # What the file as a whole says: Mailchimp has no status column, but a file for each status.
    status: Status | None = None
    # Columns that repeat the name of a restricting one: they count as well.
    repeated: tuple[tuple[str, int], ...] = ()
    # How many lines stand above the header: a title, or a hint for Excel, `sep=;`.
    above: int = 0
    # Whether every cell is an address of its own, as in the recipients of an email.
    recipients: bool = False


class Reading(Struct, frozen=True):
    """How an upload is read: all of it in `sheets`, and what describes the main one as properties."""

    sheets: tuple[Sheet, ...]
    # Files of a zip that hold no addresses.
    ignored: tuple[str, ...] = ()

    @property
    def main(self) -> Sheet:
        """The file with the people to mail, if there is one."""
        return min(self.sheets, key=lambda sheet: sheet.status or Status.MAILABLE)

    @property
    def format(self) -> str:
        return self.main.format

    @property
    def delimiter(self) -> str:
        return self.main.delimiter

    @property
    def encoding(self) -> str:
        return self.main.encoding

    @property
    def header(self) -> bool:
        return self.main.header

    @property
    def columns(self) -> tuple[str, ...]:
        return self.main.columns

    @property
    def mapping(self) -> dict[str, int]:
        return self.main.mapping

    @property
    def date_format(self) -> str | None:
        """None if no date in the file can be taken for two."""
        return self.main.date_format


class Row(Struct, frozen=True, kw_only=True):
    """One person in a file, or a line that could have been one."""

    number: int  # from 0, through all files
    file: str  # the name in a zip, or empty
    line: int  # the physical line at which it begins, from 1
    cells: list[str]
    typed: str  # the address as repaired
    address: Address | None
    problem: str | None
    # Of a misshapen row: it adds nobody, but what it says against mailing somebody holds for their other rows.
    misread: Address | None = None
    repaired: bool = False
    name: str | None = None
    tags: frozenset[str] = frozenset()
    status: Status = Status.MAILABLE
    joined_at: datetime | None = None
    optin_at: datetime | None = None
    confirmed_at: datetime | None = None
    # The dates and other columns that tell how somebody joined, for the capture.
    proof: dict[str, str] = {}
    ips: dict[str, str] = {}
    metadata: dict[str, Any] | None = None
    # From our own export alone.
    sources: tuple[str, ...] = ()
    metadata_by_source: dict[str, dict[str, Any]] = {}
    paused: str | None = None
    # Fields that had to be left out or shortened.
    dropped: tuple[str, ...] = ()
