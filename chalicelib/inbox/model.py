"""Items, the entries that put them into somebody's inbox, and the states an entry goes through. No input or output.

An item is stored once, whoever has it. An entry belongs to an owner: the publication's desk, or a member.
"""

import hashlib
import re
import unicodedata
from collections.abc import Container, Sequence
from datetime import datetime
from enum import IntEnum, StrEnum

from msgspec import Struct
from msgspec.structs import replace

from chalicelib.kernel import clock
from chalicelib.kernel.errors import Invalid, NotFound

# The owner that all editors share. Every other owner is a member's id.
DESK = "desk"

LONGEST_TITLE = 300
LONGEST_CREATOR = 200
LONGEST_EXCERPT = 500
LONGEST_NOTE = 2_000
MOST_AT_ONCE = 100

NOT_FOUND = "No such entry"

_ID = re.compile(r"[0-9a-f]{32}\Z")
_CONTROL = frozenset({"Cc", "Cs", "Zl", "Zp"})


class Provider(StrEnum):
    YOUTUBE = "YOUTUBE"
    SPOTIFY = "SPOTIFY"
    RSS = "RSS"
    LINK = "LINK"
    SIGHTING = "SIGHTING"


class ContentType(StrEnum):
    VIDEO = "VIDEO"
    PODCAST = "PODCAST"
    ARTICLE = "ARTICLE"
    LINK = "LINK"
    SIGHTING = "SIGHTING"


# Whose terms want what they told to be refreshed or deleted within 30 days.
PERISHABLE = frozenset({Provider.YOUTUBE})


class Trust(IntEnum):
    """Whose words an item has. A page is one item for everybody, so what a member brings must not change what the
    desk has, nor what the maker of a thing tells about it."""

    # A feed tells it of another site's page; or nobody has told anything, because the page could not be read.
    CLAIMED = 1
    # The page itself was read, or the feed of that very site tells it.
    READ = 2
    # The same two, of what the desk follows or has saved.
    DESK_CLAIMED = 3
    DESK_READ = 4
    # YouTube and Spotify of what they have, and a member of the own sighting.
    PROVIDER = 5


_OF_THE_DESK = {Trust.CLAIMED: Trust.DESK_CLAIMED, Trust.READ: Trust.DESK_READ}


class State(StrEnum):
    """An entry that is dismissed has no state: its row remains and says that the item was seen."""

    INBOX = "INBOX"
    BOOKMARKED = "BOOKMARKED"
    ARCHIVED = "ARCHIVED"


class Act(StrEnum):
    """What an owner does with an entry."""

    BOOKMARK = "bookmark"
    ARCHIVE = "archive"
    RESTORE = "restore"
    DISMISS = "dismiss"


# Where each act puts an entry; dismissing takes it away.
STATES = {Act.BOOKMARK: State.BOOKMARKED, Act.ARCHIVE: State.ARCHIVED, Act.RESTORE: State.INBOX}


class Item(Struct, frozen=True):
    """Texts are plain and bounded, links are http(s). `image` is where the picture was found, which no page or mail
    may load; `picture` is the name of our own copy, if there is one. `refreshed_at` is when the provider last told us
    all this. `problem` says why a page that was saved by hand could not be read."""

    id: str
    provider: Provider
    provider_item_id: str
    content_type: ContentType
    title: str
    canonical_url: str
    refreshed_at: datetime
    creator: str = ""
    creator_id: str = ""
    image: str = ""
    excerpt: str = ""
    duration_seconds: int | None = None
    published_at: datetime | None = None
    available: bool = True
    picture: str = ""
    problem: str = ""
    trust: Trust = Trust.CLAIMED


class Recipient(Struct, frozen=True):
    """Who gets an item, by which follow, and in which state it arrives. With `returns` a person has sent it: it also
    comes back to those who have dismissed it. `suggestion` is what a member wrote who hands it to the desk."""

    owner: str
    follow_id: str = ""
    state: State = State.INBOX
    note: str = ""
    returns: bool = False
    suggestion: str = ""


class Entry(Struct, frozen=True):
    """`id` is the item's: an owner has an item once. `section` is the heading it is meant for in the next issue.
    `suggestion` is what members wrote who handed it to the desk: for editors to read, and never for readers."""

    owner: str
    id: str
    state: State
    received_at: datetime
    provider: Provider
    content_type: ContentType
    follow_id: str | None = None
    note: str = ""
    section: str = ""
    suggestion: str = ""

    @property
    def words(self) -> str:
        """The note, and what members suggested below it."""
        return "\n\n".join(filter(None, (self.note, self.suggestion)))


class Seen(Struct, frozen=True):
    """What is left of an entry that was dismissed. `words` are what a search finds it by."""

    id: str
    received_at: datetime
    provider: Provider
    content_type: ContentType
    words: str = ""


class EntryDetail(Struct, frozen=True):
    entry: Entry
    item: Item


class SeenDetail(Struct, frozen=True):
    seen: Seen
    item: Item


def place_of(received_at: datetime, id: str) -> str:
    """Of an entry in its list: unique there, and its order."""
    return f"{clock.text(received_at)} {id}"


class Page(Struct, frozen=True):
    """`next_place` is None on the last page. A page of a filtered list may be short and yet not be the last."""

    entries: tuple[EntryDetail, ...]
    next_place: str | None


class WholePage(Struct, frozen=True):
    """Of everything that was ever received. It, too, may be short and yet not be the last."""

    entries: tuple[EntryDetail | SeenDetail, ...]
    next_place: str | None


class Outcome(Struct, frozen=True):
    """What became of one entry among many; `error` is empty if it was done."""

    id: str
    error: str = ""


def item_id(provider: Provider, provider_item_id: str) -> str:
    """The same for the same item, whoever finds it: 32 hex digits."""
    return hashlib.sha256(f"item\n{provider}\n{provider_item_id}".encode("utf-8", "replace")).hexdigest()[:32]


def vouch(item: Item, owners: Container[str]) -> Item:
    """As it is told to these: what the desk is told, it has chosen to hear."""
    return replace(item, trust=_OF_THE_DESK.get(item.trust, item.trust)) if DESK in owners else item


def replaces(item: Item, stored: Item) -> bool:
    """Whether its words are written over those: if it is trusted more; if equally, only when it is the same source,
    and nothing older. A page that could not be read has no words to keep."""
    if item.trust != stored.trust:
        return item.trust > stored.trust
    same = item.creator_id == stored.creator_id or bool(stored.problem)
    return same and item.refreshed_at >= stored.refreshed_at


def parse_id(text: str) -> str:
    """What is no id is the id of nothing."""
    if not _ID.match(text):
        raise NotFound(NOT_FOUND)
    return text


def check_note(text: str) -> str:
    """Plain text of several lines."""
    note = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(note) > LONGEST_NOTE:
        raise Invalid(f"note must be at most {LONGEST_NOTE} characters")
    if any(unicodedata.category(character) in _CONTROL for character in note if character not in "\n\t"):
        raise Invalid("note must not contain control characters")
    return note


def join_notes(before: str, added: str) -> str:
    """What is added goes below, as far as there is room. No paragraph is said twice."""
    if not added or f"\n\n{added}\n\n" in f"\n\n{before}\n\n":
        return before
    joined = f"{before}\n\n{added}" if before else added
    return joined if len(joined) <= LONGEST_NOTE else f"{joined[: LONGEST_NOTE - 1].rstrip()}…"


def split_words(text: str, suggestion: str) -> tuple[str, str]:
    """What is the editor's note in a text that was written over the note and the suggestion, and what is left of the
    suggestion: all of it if it still stands at the end, so that nothing becomes the editor's by being sent back."""
    if not suggestion or not f"\n\n{text}".endswith(f"\n\n{suggestion}"):
        return text, ""
    return text.removesuffix(suggestion).rstrip(), suggestion


def list_scope(
    owner: str,
    state: State | None,
    provider: Provider | None,
    content_type: ContentType | None,
    words: Sequence[str] = (),
) -> str:
    """What a cursor of this list is signed for. Without a state it is that of everything."""
    return f"inbox {owner} {state or 'ALL'} {provider or ''} {content_type or ''} {' '.join(words)}"


def missing_item(entry: Entry | Seen) -> Item:
    """Stands in for an item that is no longer stored, so that its entry can still be seen and dismissed."""
    return Item(
        id=entry.id,
        provider=entry.provider,
        provider_item_id="",
        content_type=entry.content_type,
        title="",
        canonical_url="",
        refreshed_at=entry.received_at,
        available=False,
    )
