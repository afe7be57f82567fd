"""The audience's values and rules: subscribers, what was captured when they signed up, what counts as valid."""

import hashlib
import hmac
import json
import re
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from msgspec import Meta, Struct

from chalicelib.kernel import pseudonyms, tokens
from chalicelib.kernel.addresses import Address
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.wording import for_readers

PENDING, ACTIVATED = "pending", "activated"
CAPTURE_PENDING, CAPTURE_CONFIRMED, CAPTURE_EXPIRED = "PENDING", "CONFIRMED", "EXPIRED"
CONFIRM, CHANGE_EMAIL, MAGIC_LINK, LIFT = "confirm", "change-email", "magic-link", "lift"
SIGN_UP = "sign-up"
HELD, RELEASE = "held", "release"
ADD = "add"
# A mail that is owed: no link of its own belongs to it.
WELCOME = "welcome"
TOKEN_KINDS = (CONFIRM, CHANGE_EMAIL, MAGIC_LINK, WELCOME)

CONFIRMATION_LIFE = timedelta(hours=24)
# The expiry of a sign-up whose confirmation is held: its lifetime begins when the mail is sent.
NEVER = datetime(9999, 12, 30, tzinfo=UTC)
MAGIC_LINK_LIFE = timedelta(minutes=15)
EXPIRED_CAPTURE_LIFE = timedelta(days=30)

# Why somebody is paused.
HARD_BOUNCE, SOFT_BOUNCES, SUPPRESSED, EDITOR = "hard_bounce", "soft_bounces", "suppressed", "editor"
REASONS_TO_PAUSE = (HARD_BOUNCE, SOFT_BOUNCES, SUPPRESSED, EDITOR)

DEFAULT_SOURCE = "default"
MOST_SOURCES = 40
MOST_TAGS_IN_ALL = 200
MOST_TAGS = 20
LONGEST_NICKNAME = 50
LONGEST_RAW_SOURCE = 255
_LONGEST_WORD = 64
_MOST_METADATA_BYTES = 10_240
MOST_METADATA_LEVELS = 8
# Of all captures of one person together: what others send about them must not make their download large.
MOST_METADATA_BYTES_IN_ALL = 102_400
_NICKNAME_LENGTH = for_readers("Nickname must be 1–50 characters")
_NICKNAME_CONTROL = for_readers("Nickname must not contain control characters")
_NICKNAME_SPACE = for_readers("Nickname must not begin or end with a space")

# In the links of previews and test emails: it has the right form and belongs to nobody.
TEST_TOKEN = tokens.Token("00000000-0000-7000-8000-000000000000", "0" * 32)

# The normal form of a source or a tag.
Word = Annotated[str, Meta(min_length=1, max_length=_LONGEST_WORD)]


class Capture(Struct, frozen=True):
    """What came with a sign-up: its source, tags and metadata."""

    source: str
    source_raw: str
    tags: frozenset[str]
    metadata: dict[str, Any] | None
    ip_hash: str | None


class Request(Struct, frozen=True):
    """A sign-up that waits for the link mailed for it: that link confirms this request and no other."""

    id: str
    capture: Capture
    nickname: str | None
    requested_at: datetime
    expires_at: datetime
    lang: str | None = None  # of the form, for the mail that asks to confirm

    @property
    def is_held(self) -> bool:
        """Its confirmation waits for the limits, so its lifetime has yet to begin."""
        return self.expires_at == NEVER

    @property
    def ends_at(self) -> datetime | None:
        """None while its confirmation is held."""
        return None if self.is_held else self.expires_at


class StoredCapture(Struct, frozen=True):
    """What is stored for one source of a person: what they confirmed and what waits to be confirmed."""

    source: str
    source_raw: str | None
    status: str
    tags: frozenset[str]
    metadata: dict[str, Any] | None
    ip_hash: str | None
    created_at: datetime
    updated_at: datetime
    request: Request | None


class SignUp(Struct, frozen=True):
    address: Address
    nickname: str | None
    capture: Capture
    names_source: bool
    lang: str | None = None  # of the form, if it asks for one


class Subscriber(Struct, frozen=True):
    id: str
    email: str
    nickname: str | None
    status: str
    unsubscribe_secret: str
    created_at: datetime
    activated_at: datetime | None
    confirmation_expires_at: datetime | None
    sources: frozenset[str]
    tags: frozenset[str]
    requested_sources: frozenset[str]
    previous_unsubscribe_secret: str | None = None
    paused_at: datetime | None = None
    paused_because: str | None = None
    resumed_at: datetime | None = None
    import_id: str | None = None
    imported_as: str | None = None
    unmailed: str | None = None
    shard: str | None = None  # of the index that is searched; none in rows of an earlier version

    @property
    def activated(self) -> bool:
        return self.status == ACTIVATED

    @property
    def gets_campaigns(self) -> bool:
        return self.activated and not self.paused_at

    @property
    def unsubscribe_token(self) -> str:
        return f"{self.id}.{self.unsubscribe_secret}"

    def may_pause(self, since: datetime) -> bool:
        """For something that happened then: nobody is paused for what happened before they confirmed or resumed."""
        return self.activated and not self.paused_at and not self.is_newer_than(since)

    def is_newer_than(self, moment: datetime) -> bool:
        """They have confirmed or resumed since: what happened before does not count."""
        return any(at and at > moment for at in (self.activated_at, self.resumed_at))

    def lacks(self, capture: Capture) -> bool:
        """Its source or one of its tags is new, or it would end a pause. Metadata alone is no reason to write to
        somebody."""
        return bool(self.paused_at) or capture.source not in self.sources or not capture.tags <= self.tags

    def may_unsubscribe_with(self, secret: str) -> bool:
        """With the secret of today's mails, or that of the mails sent before the address last changed."""
        accepted = (self.unsubscribe_secret, self.previous_unsubscribe_secret or self.unsubscribe_secret)
        return any(hmac.compare_digest(known, secret) for known in accepted)

    @property
    def fingerprint(self) -> str:
        """Differs when address, name, sources, tags or requests have changed."""
        said = [self.email, self.nickname, *map(sorted, (self.sources, self.tags, self.requested_sources))]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]

    @property
    def is_as_imported(self) -> bool:
        """An import added them, and neither they nor an editor changed anything since. Being paused because mail came
        back is nothing they did."""
        return self.import_id is not None and self.fingerprint == self.imported_as and not self.resumed_at

    @property
    def is_from_files_alone(self) -> bool:
        """They are as imported, and no campaign was sent to them: nothing but what files said is known of them."""
        return self.is_as_imported and (not self.activated or self.unmailed is not None)

    def expired(self, now: datetime) -> bool:
        return self.confirmation_expires_at is not None and self.confirmation_expires_at <= now


class Profile(Struct, frozen=True):
    """What a person sees about themselves."""

    subscriber: Subscriber
    pending_email: str | None


def check_nickname(text: str | None) -> str | None:
    """In Unicode normal form; None stays None. Surrounding space is refused: a caller may strip it first."""
    if text is None:
        return None
    text = unicodedata.normalize("NFC", text)
    if not 1 <= len(text) <= LONGEST_NICKNAME:
        raise Invalid(_NICKNAME_LENGTH)
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text):
        raise Invalid(_NICKNAME_CONTROL)
    if text != text.strip():
        raise Invalid(_NICKNAME_SPACE)
    return text


def parse_capture(source: Any, tags: Any, metadata: Any, ip_hash: str | None) -> Capture:
    raw = _check_source(source)
    return Capture(
        source=_source(raw), source_raw=raw, tags=check_tags(tags), metadata=_metadata(metadata), ip_hash=ip_hash
    )


def encode_metadata(metadata: dict[str, Any]) -> str:
    """As short as JSON can be: how it is counted, stored and downloaded."""
    return json.dumps(metadata, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def address_pseudonym(address_key: str) -> str:
    """Stands for an address where the address itself must not be stored: recognisable, but not readable."""
    return pseudonyms.derive("do-not-contact", address_key)


def leaver_pseudonym(address_key: str) -> str:
    """Under another purpose than do-not-contact: who left cannot be compared with who must not be contacted."""
    return pseudonyms.derive("leaver", address_key)


def ip_pseudonym(ip: str) -> str:
    return pseudonyms.derive("ip", ip)


def network_pseudonym(network: str) -> str:
    return pseudonyms.derive("network", network)


def _check_source(value: Any) -> str:
    if value is None:
        return DEFAULT_SOURCE
    if not isinstance(value, str) or not _is_plain(value.strip()):
        raise Invalid("source must be text")
    if len(value) > LONGEST_RAW_SOURCE:
        raise Invalid(f"source must be at most {LONGEST_RAW_SOURCE} characters")
    return value


def _source(raw: str) -> str:
    source = unicodedata.normalize("NFC", raw.strip()).lower()
    if not 1 <= len(source) <= _LONGEST_WORD:
        raise Invalid(f"source must be 1–{_LONGEST_WORD} characters")
    return source


def check_tags(value: Any, most: int = MOST_TAGS) -> frozenset[str]:
    """In their normal form. A form sends them as one text, with commas or line breaks between them."""
    if value is None:
        return frozenset()
    if isinstance(value, str):
        value = [part for part in re.split(r"[,\n]", value) if part.strip()]
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise Invalid("tags must be a list of texts")
    if len(value) > most:
        raise Invalid(f"At most {most} tags")
    tags = frozenset(unicodedata.normalize("NFC", tag.strip()).lower() for tag in value)
    if not all(1 <= len(tag) <= _LONGEST_WORD and _is_plain(tag) for tag in tags):
        raise Invalid(f"Each tag must be 1–{_LONGEST_WORD} characters")
    return tags


def _metadata(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Invalid("metadata must be an object")
    if _nests_deeper(value, MOST_METADATA_LEVELS):  # first: encoding recurses
        raise Invalid(f"metadata must be at most {MOST_METADATA_LEVELS} levels deep")
    try:
        text = encode_metadata(value)
    except ValueError:
        raise Invalid("metadata must be plain JSON") from None
    if len(text.encode(errors="replace")) > _MOST_METADATA_BYTES:
        raise Invalid(f"metadata must be at most {_MOST_METADATA_BYTES} bytes as JSON")
    return value


def _nests_deeper(value: Any, most: int) -> bool:
    """Whether objects and lists are nested in more than so many levels, `value` being the first."""
    containers = [value]
    for _ in range(most):
        inner = [each for outer in containers for each in (outer.values() if isinstance(outer, dict) else outer)]
        containers = [each for each in inner if isinstance(each, dict | list)]
    return bool(containers)


def _is_plain(text: str) -> bool:
    return text.isprintable() and not any(0xD800 <= ord(character) <= 0xDFFF for character in text)
