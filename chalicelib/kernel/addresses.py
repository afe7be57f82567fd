"""Email addresses: which ones are accepted, and when two are the same."""

import re
import unicodedata

from msgspec import Struct

from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.wording import for_readers

_LONGEST = 254
_LONGEST_LOCAL = 64
_LONGEST_DOMAIN = 180
# Without hyphens at the ends of labels or in the place where Punycode has them, and with a last label of letters.
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,62}"
_USUAL = re.compile(rf"[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@(?:{_LABEL}\.)+[A-Za-z]{{2,24}}\Z")
# Names that are nobody's domain; the library refuses some of them.
_SPECIAL_USE = frozenset({"arpa", "invalid", "local", "localhost", "onion", "test"})
_REASON = for_readers("Email address is not valid")
_REQUIRED = for_readers("Email address is required")


class Address(Struct, frozen=True):
    """Mail goes to `typed`; two addresses are the same if their `key` is."""

    typed: str
    key: str


def parse(text: str | None) -> Address:
    if not text or not text.strip():
        raise Invalid(_REQUIRED)
    # Checked first, because the validator takes longer for longer text.
    if len(text) > 2 * _LONGEST:
        raise Invalid(_REASON)
    typed = unicodedata.normalize("NFC", text.strip())
    _validate(typed)
    return from_valid(typed)


def from_valid(typed: str) -> Address:
    """From text that `parse` has accepted before."""
    return Address(typed, key(typed))


def key(typed: str) -> str:
    """The same for every spelling of the domain and in any case, since mail goes to one mailbox."""
    return wire(typed).casefold()


def wire(address: str) -> str:
    """In ASCII, as SES takes it: the domain as Punycode. `parse` accepts only local parts in ASCII."""
    if address.isascii():
        return address
    import idna

    local, _, domain = address.rpartition("@")
    return f"{local}@{idna.encode(domain, uts46=True).decode()}"


def _is_usual(typed: str) -> bool:
    """Letters, digits and a few signs at an ordinary domain: valid without asking the library, whose import would be
    a tenth of a cold start. A test holds this to the library's own verdict."""
    local, _, domain = typed.rpartition("@")
    return (
        len(local) <= _LONGEST_LOCAL
        and len(domain) <= _LONGEST_DOMAIN
        and _USUAL.match(typed) is not None
        and domain.rpartition(".")[2].lower() not in _SPECIAL_USE
    )


def _validate(typed: str) -> None:
    if _is_usual(typed):
        return
    from email_validator import EmailNotValidError, validate_email

    try:
        # SES cannot send to a local part beyond ASCII, so accepting such an address would be a broken promise.
        checked = validate_email(
            typed, check_deliverability=False, allow_smtputf8=False, strict=True, test_environment=True
        )
    except EmailNotValidError:
        raise Invalid(_REASON) from None
    if len((checked.ascii_email or typed).encode()) > _LONGEST:
        raise Invalid(_REASON)
