"""The address in a cell: a few habits of mail programs are repaired and told, anything else is refused with a reason
that says what is wrong without repeating it."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from chalicelib.kernel import addresses
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import Invalid

MISSING = "No email address"
_LONGEST = 1000
_NAMED = re.compile(r"([^<>]*)<([^<>]*)>\Z")
_MAILTO = re.compile(r"mailto:", re.IGNORECASE)
_USUAL_LOCAL = re.compile(r"[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*\Z")
# Below this, no part of an address can be too long.
_FAR_FROM_TOO_LONG = 60


class Found(NamedTuple):
    typed: str
    address: Address | None
    problem: str | None
    repaired: bool
    name: str  # of `Name <address>`


def find_address(cell: str) -> Found:
    if len(cell) > _LONGEST:
        return Found("", None, "The email address is too long", False, "")
    name, typed = _repair(cell)
    repaired = typed != cell
    if not typed:
        return Found("", None, MISSING, False, "")
    try:
        return Found(typed, _parse(typed), None, repaired, name)
    except Invalid as refusal:
        return Found(typed, None, _explain(typed) or refusal.reason, repaired, name)


def _repair(cell: str) -> tuple[str, str]:
    name, typed = "", cell.strip()
    if typed.endswith(">") and (match := _NAMED.match(typed)):
        name, typed = match[1].strip().strip("\"'").strip(), match[2].strip()
    if ":" in typed and (prefix := _MAILTO.match(typed)):
        typed = typed[prefix.end() :].strip()
    if "%40" in typed and "@" not in typed:
        typed = typed.replace("%40", "@", 1)
    return name, typed


def _parse(typed: str) -> Address:
    """As `addresses.parse`, but an international domain, which takes the library a tenth of a millisecond, is looked
    at once."""
    if typed.isascii():
        if _explain(typed):  # before the library, which takes fifty times as long to say no
            raise Invalid("")
        return addresses.parse(typed)
    local, _, domain = typed.rpartition("@")
    if len(typed) > _FAR_FROM_TOO_LONG or not _USUAL_LOCAL.match(local):
        if _explain(typed):
            raise Invalid("")
        return addresses.parse(typed)
    if (known := _domain(domain)) is None:
        raise Invalid("Email address is not valid")
    return Address(f"{local}{known.typed[1:]}", f"{local.casefold()}{known.key[1:]}")


@lru_cache(maxsize=4096)
def _domain(domain: str) -> Address | None:
    """With a local part of one letter; None if the domain is not valid."""
    try:
        return addresses.parse(f"a@{domain}")
    except Invalid:
        return None


def _explain(typed: str) -> str | None:
    """What is wrong in words; None if nothing is obviously wrong."""
    at_signs = typed.count("@")
    if not at_signs:
        return "The email address has no @"
    if typed[-1] in ",;":
        return "The email address ends with a comma or semicolon"
    if any(map(str.isspace, typed)):
        return "The email address contains a space"
    if not typed.isascii() and (strange := _strange(typed)):
        return strange
    if not typed.isprintable():
        return "The email address contains a control character"
    return "The email address has more than one @" if at_signs > 1 and '"' not in typed else None


def _strange(typed: str) -> str | None:
    if "\ufffd" in typed:
        return "The email address contains a character that cannot be read in this encoding"
    if any(unicodedata.category(character) == "Cf" for character in typed):
        return "The email address contains an invisible character"
    if not typed.rpartition("@")[0].isascii():
        return "The part before the @ may contain only ASCII characters"
    return None
