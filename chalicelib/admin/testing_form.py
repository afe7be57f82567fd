"""The form of a test email: to whom, and as whom it reads. What was typed is shown again if it is refused."""

import re

from msgspec import Struct

from chalicelib.audience import listing
from chalicelib.campaigns.review import previews, testing
from chalicelib.kernel import addresses
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import Invalid, NotFound
from chalicelib.web.request import Request

# Whose personal parts it has.
NOBODY, NAMED, READER = "nobody", "name", "reader"
LONGEST_LIST = 1_500
_LONGEST_LINE = 254
_BETWEEN = re.compile(r"[\s,;]+")


class TestForm(Struct, frozen=True):
    emails: str = ""
    reads_as: str = NOBODY
    nickname: str = ""
    reader: str = ""

    def recipients(self) -> tuple[Address, ...]:
        typed = [part for part in _BETWEEN.split(self.emails) if part]
        if not 1 <= len(typed) <= testing.MOST:
            raise Invalid(f"Type 1 to {testing.MOST} addresses, one per line or with commas between them")
        return testing.parse_recipients(None, typed)

    def chosen_nickname(self) -> str | None:
        if self.reads_as == NAMED:
            return previews.parse_nickname(self.nickname.strip())
        if self.reads_as != READER:
            return None
        try:
            return listing.find_by_address(addresses.parse(self.reader)).nickname
        except NotFound as failure:
            raise Invalid("Nobody has subscribed with the address you chose to read as") from failure


def parse_form(request: Request) -> TestForm:
    """`email` is what the form had when it took one address."""
    chosen = request.text("reads_as") or NOBODY
    return TestForm(
        emails=(request.text("emails") or request.text("email") or "")[: LONGEST_LIST + 1],
        reads_as=chosen if chosen in (NAMED, READER) else NOBODY,
        nickname=(request.text("nickname") or "")[:_LONGEST_LINE],
        reader=(request.text("reader") or "")[:_LONGEST_LINE],
    )
