"""A sighting: which animal a member saw, where and when, with a photo if they like, and what of it they share."""

import hashlib
import unicodedata
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from chalicelib.feeds.reading import characters
from chalicelib.kernel.errors import Invalid
from chalicelib.kernel.wording import for_readers
from chalicelib.media.model import Picture, State
from chalicelib.members import model as members

LONGEST_NAME, LONGEST_LOCATION = 200, 500
LONGEST_SHOWN_LOCATION, LONGEST_CREDIT = 200, 100
# After this the text of a deleted sighting is taken out; ids and times stay.
TEXT_KEPT = timedelta(days=30)
CHANGED_MEANWHILE = for_readers("Sighting was changed meanwhile")
NOT_FOUND = for_readers("No such sighting")
_REQUIRED = for_readers("%(name)s is required")
_TOO_LONG = for_readers("%(name)s too long (max %(longest)s chars)")
_CONTROL_CHARACTERS = for_readers("%(name)s must not contain control characters")
# What a cursor of the publication's list is signed for.
SHARED_SCOPE = "shared sightings"

_BLANK = ("Cc", "Cf", "Zs", "Zl", "Zp")
# Letters, signs and marks that show nothing: the blank of Braille, the fillers of Hangul, what chooses between forms
# of the character before it, and joiners that Unicode counts as marks.
_UNSEEN = frozenset("\u2800\u3164\u115f\u1160\uffa0\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f").union(
    map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
_CONTROL = ("Cc", "Cs", "Zl", "Zp")
# They show what follows in another order than it is written in, also text of others after it. Marks that only say
# which way a character without a direction goes may stay: Arabic and Hebrew need them.
_REORDERING = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))


class PhotoState(StrEnum):
    NONE = "none"
    PROCESSING = "processing"
    READY = "ready"
    REFUSED = "refused"


class Shared(Struct, frozen=True):
    """What the publication may know. An empty place is not shown; an empty credit is anonymous."""

    shown_location: str
    credit: str
    shared_at: datetime


class Sighting(Struct, frozen=True):
    """`updated_at` is in whole seconds and grows with every edit, so it is the version too. Sharing does not move
    it, nor does the photo becoming ready."""

    id: str
    owner: str
    animal_name: str
    location: str
    sighted_at: datetime
    created_at: datetime
    updated_at: int
    picture_id: str | None = None
    shared: Shared | None = None


class PastSighting(Struct, frozen=True):
    """What is left of a deleted one: name and place go after a while."""

    id: str
    animal_name: str | None
    location: str | None
    sighted_at: datetime
    created_at: datetime
    updated_at: int
    deleted_at: datetime


class Seen(Struct, frozen=True):
    """A sighting with its photo, as its owner sees it."""

    sighting: Sighting
    picture: Picture | None

    @property
    def photo_state(self) -> PhotoState:
        return photo_state(self.picture)


class SharedSighting(Struct, frozen=True):
    """As the publication sees it: nothing about the member, nor where it really was."""

    id: str
    animal_name: str
    shown_location: str
    credit: str
    shared_at: datetime
    picture_id: str | None = None
    picture: Picture | None = None

    @property
    def photo_state(self) -> PhotoState:
        return photo_state(self.picture)

    @property
    def shown_id(self) -> str:
        return shown_id(self.id)


class Page(Struct, frozen=True):
    """`next_place` is where the next page begins; None after the last one."""

    items: tuple[Seen, ...]
    next_place: str | None


class SharedPage(Struct, frozen=True):
    items: tuple[SharedSighting, ...]
    next_place: str | None


class Changes(Struct, frozen=True):
    """`updated_at` as it was read. None leaves a field as it is; `upload_id` adds or replaces the photo."""

    updated_at: int
    animal_name: str | None = None
    location: str | None = None
    upload_id: str | None = None
    drops_photo: bool = False


def check_animal_name(text: str | None) -> str:
    return _check_required(for_readers("Animal name"), text, LONGEST_NAME)


def check_location(text: str | None) -> str:
    return _check_required(for_readers("Location"), text, LONGEST_LOCATION)


def check_shown_location(text: str | None) -> str:
    return _check(for_readers("Shown location"), text, LONGEST_SHOWN_LOCATION)


def check_credit(text: str | None) -> str:
    return _check(for_readers("Credit"), text, LONGEST_CREDIT)


def check_search(text: str | None) -> str:
    """Empty means everything. What no text can hold is refused: it would match across name and place."""
    return _check(for_readers("Search"), text, LONGEST_LOCATION)


def fold(text: str) -> str:
    """For comparing in any case: Unicode's full case folding, however the accents are written. The dot that folding
    leaves above the small form of İ goes too, so that istanbul is found by who types it."""
    folded = unicodedata.normalize("NFD", text).casefold()
    return unicodedata.normalize("NFC", folded).replace("i\u0307", "i")


def fold_both(animal_name: str, location: str) -> str:
    """What a search looks through. No text has the line break between the two."""
    return f"{fold(animal_name)}\n{fold(location)}"


def photo_state(picture: Picture | None) -> PhotoState:
    """A picture that is deleted at this moment is none."""
    is_shown = picture is not None and picture.state in (State.PROCESSING, State.READY, State.REFUSED)
    return PhotoState(picture.state.value) if picture and is_shown else PhotoState.NONE


def shown_id(id: str) -> str:
    """Names a sighting to the publication. From its own id one could read when it was seen, which is not shared."""
    return hashlib.sha256(f"shared {id}".encode()).hexdigest()[:32]


def next_version(before: int, now: int) -> int:
    """Two edits within one second must not have the same."""
    return max(now, before + 1)


def list_scope(member_id: str, search: str) -> str:
    """What a cursor of a member's list is signed for."""
    return f"sightings {member_id} {fold(search)}"


def wire_id(id: str) -> str:
    """32 hex digits, as members show their ids."""
    return members.wire_id(id)


def parse_id(text: str) -> str:
    """What is no id is the id of nothing."""
    return members.parse_id(text, NOT_FOUND)


def _check_required(name: str, text: str | None, longest: int) -> str:
    trimmed = (text or "").strip()
    if len(trimmed) <= longest and _looks_blank(trimmed):
        raise Invalid(_REQUIRED, name=name)
    return _check(name, trimmed, longest)


def _check(name: str, text: str | None, longest: int) -> str:
    trimmed = (text or "").strip()
    if len(trimmed) > longest:
        raise Invalid(_TOO_LONG, name=name, longest=longest)
    if any(unicodedata.category(character) in _CONTROL or character in _REORDERING for character in trimmed) or (
        characters.without_noncharacters(trimmed) != trimmed
    ):
        raise Invalid(_CONTROL_CHARACTERS, name=name)
    return trimmed


def _looks_blank(text: str) -> bool:
    return all(unicodedata.category(character) in _BLANK or character in _UNSEEN for character in text)
