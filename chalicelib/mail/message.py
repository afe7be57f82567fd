"""One mail to one person, complete and checked. How it is sent is not known here."""

import re
import unicodedata
from collections.abc import Mapping

from msgspec import Struct, field

from chalicelib.kernel.errors import Invalid

LONGEST_SUBJECT = 500  # what an author may write, with room for the reader's name
TEST_MARK = "[Test] "
LONGEST_HEADER = 995
LONGEST_LINE = 996
MOST_HEADERS = 15

_CONTROL = frozenset({"Cc", "Cs", "Zl", "Zp"})
_HEADER_NAME = re.compile(r"[!-9;-~]{1,126}\Z")
_HEADER_VALUE = re.compile(rf"[ -~]{{1,{LONGEST_HEADER}}}\Z")


class Message(Struct, frozen=True):
    """Refuses values that would end a header early, or that SES would refuse."""

    to: str
    subject: str
    html: str
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_subject(self.subject)
        check_headers(self.headers)
        if not self.to.isprintable() or "@" not in self.to:
            raise Invalid("Email address is not valid")


def mark(subject: str) -> str:
    """The subject of a test: the same, after the mark, which is there once."""
    return TEST_MARK + subject.removeprefix(TEST_MARK)


def check_subject(subject: str) -> None:
    if not subject.strip():
        raise Invalid("The subject is empty")
    # Not `isprintable`, which refuses the invisible joiners that many emoji and scripts need.
    if any(unicodedata.category(character) in _CONTROL for character in subject):
        raise Invalid("The subject must be one line without control characters")
    # The mark is no part of what an author wrote.
    if len(subject.removeprefix(TEST_MARK)) > LONGEST_SUBJECT:
        raise Invalid(f"The subject is longer than {LONGEST_SUBJECT} characters")


def check_headers(headers: Mapping[str, str]) -> None:
    if len(headers) > MOST_HEADERS:
        raise Invalid(f"An email can have at most {MOST_HEADERS} headers")
    for name, content in headers.items():
        if not _HEADER_NAME.match(name):
            raise Invalid("A header name is not valid")
        if not _HEADER_VALUE.match(content):
            raise Invalid(f"The header {name} must be one line of at most {LONGEST_HEADER} ASCII characters")
        if len(name) + len(content) > LONGEST_LINE:
            raise Invalid(f"The header {name} has more than {LONGEST_LINE} characters together with its name")
