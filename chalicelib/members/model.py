"""Members: the words and rules of an account. No input or output."""

import unicodedata
from datetime import datetime, timedelta

from msgspec import Struct

from chalicelib.kernel import addresses, ids, pseudonyms
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import Invalid, NotFound, Refused
from chalicelib.kernel.wording import for_readers

SESSION_LIFE = timedelta(days=7)
VERIFY_LIFE = timedelta(hours=24)
RESET_LIFE = timedelta(minutes=30)
INVITATION_LIFE = timedelta(days=7)
# A stranger who signs up with somebody else's address must not keep it from them for ever.
UNVERIFIED_LIFE = timedelta(days=30)

# Kinds of mailed links, and of the messages that have them mailed.
VERIFY, RESET, INVITE = "verify", "reset", "invite"
# The message that finishes the departure of a member.
DEPART = "depart"

INVALID_EMAIL = for_readers("Invalid email")
WEAK_PASSWORD = for_readers("Password must be 8+ chars with uppercase, number, special char")
LONG_PASSWORD = for_readers("Password too long (max 72 bytes)")
DIFFERENT_PASSWORDS = for_readers("Passwords do not match")
TAKEN = for_readers("Email already registered")
NOT_INVITED = for_readers("Invitation required")
BAD_SIGN_IN = for_readers("Invalid email or password")
WRONG_PASSWORD = for_readers("Wrong password")
NOT_SIGNED_IN = for_readers("Authentication required")
BAD_TOKEN = for_readers("Invalid or expired token")
NO_MEMBER = "No such member"
NOT_VERIFIED = for_readers("Verify your email address first")
NO_INVITATION = "No such invitation"

LEAST_CHARACTERS = 8
# bcrypt looks at no more, so a longer password would be as good as its beginning.
MOST_BYTES = 72
# No spelling of so many bytes has more characters. Longer text is not looked at: the time it takes to compose marks
# grows with the square of their number.
_MOST_CHARACTERS = 300


class Member(Struct, frozen=True):
    """`generation` grows when all sessions end. `sightings` and `shared` are how many there are."""

    id: str
    email: str
    created_at: datetime
    verified_at: datetime | None = None
    last_login_at: datetime | None = None
    generation: int = 1
    sightings: int = 0
    shared: int = 0

    @property
    def verified(self) -> bool:
        return self.verified_at is not None

    def require_verified(self) -> None:
        """For what a stranger with somebody else's address must not do."""
        if not self.verified:
            raise Refused(NOT_VERIFIED)

    @property
    def wire_id(self) -> str:
        return wire_id(self.id)

    @property
    def address_key(self) -> str:
        return addresses.key(self.email)

    @property
    def closes_at(self) -> datetime | None:
        """When the account is closed, unless its address is verified before."""
        return None if self.verified else self.created_at + UNVERIFIED_LIFE


class Session(Struct, frozen=True):
    """A device somebody is signed in on. `hash` is what is stored of the cookie's secret."""

    member_id: str
    hash: str
    generation: int
    created_at: datetime
    until: datetime


class SignedIn(Struct, frozen=True):
    """Who makes a request, and by which session: what handlers find in `request.member`."""

    member: Member
    session: Session

    @property
    def id(self) -> str:
        return self.member.id


class Invitation(Struct, frozen=True):
    id: str
    email: str
    expires_at: datetime

    @property
    def address_key(self) -> str:
        return addresses.key(self.email)


def parse_email(text: str | None) -> Address:
    """In lower case, in which accounts show it."""
    try:
        parsed = addresses.parse(text)
    except Invalid:
        raise Invalid(INVALID_EMAIL) from None
    return Address(parsed.typed.lower(), parsed.key)


def check_password(password: str | None, confirm: str | None) -> str:
    """The password as it is hashed."""
    # First: no matter what else is wrong, nothing this long is looked at further.
    if is_too_long(password or "") or _is_endless(confirm or ""):
        raise Invalid(LONG_PASSWORD)
    normal = normalize_password(password or "")
    if not _is_strong(normal):
        raise Invalid(WEAK_PASSWORD)
    if confirm is None or normalize_password(confirm) != normal:
        raise Invalid(DIFFERENT_PASSWORDS)
    return normal


def normalize_password(password: str) -> str:
    """The same for every keyboard: an accented letter may be typed as one character or as two. Only for text that is
    not too long."""
    return unicodedata.normalize("NFC", password)


def is_too_long(password: str) -> bool:
    return _is_endless(password) or len(normalize_password(password).encode()) > MOST_BYTES


def _is_endless(password: str) -> bool:
    return len(password) > _MOST_CHARACTERS


def _is_strong(normal: str) -> bool:
    """Letters and digits of any script; whatever is neither is special, a space too."""
    return (
        len(normal) >= LEAST_CHARACTERS
        and any(character.isupper() for character in normal)
        and any(character.isdigit() for character in normal)
        and any(not character.isalnum() for character in normal)
    )


def network_pseudonym(network: str | None) -> str | None:
    """Another one than the readers' room has for the same network: the two are never linked."""
    return pseudonyms.derive("member network", network) if network else None


def wire_id(id: str) -> str:
    """Members show ids as 32 hex digits."""
    return id.replace("-", "")


def parse_id(text: str, missing: str = NO_MEMBER) -> str:
    """The id that 32 hex digits stand for; there is nothing behind any other text."""
    id = "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
    if not ids.is_id(id):
        raise NotFound(missing)
    return id
