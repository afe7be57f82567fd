"""Whom a campaign or a segment is for. No I/O.

Days are those of the publication's time zone. They become moments when somebody counts, or when sending begins, and
only what has moments (`Resolved`) can be asked of the audience.
"""

from datetime import date, datetime
from typing import Annotated, Any

from msgspec import Meta, Struct, convert, field, to_builtins

from chalicelib.kernel import zones

MOST_WORDS = 50
# In all lists together: DynamoDB takes filters of 4 KB with 300 operators, and a word needs up to two of them.
MOST_WORDS_IN_ALL = 120
LONGEST_WORD = 64

Word = Annotated[str, Meta(min_length=1, max_length=LONGEST_WORD)]
Words = Annotated[tuple[Word, ...], Meta(max_length=MOST_WORDS)]
After = Annotated[date | None, Meta(description="Joined on this day or later, in the publication's time zone")]
Before = Annotated[date | None, Meta(description="Joined before this day, in the publication's time zone")]


class Terms(Struct, frozen=True):
    """At least one word of `any`, all words of `all`, no word of `none`. An empty list matches everybody."""

    any: Words = ()
    all: Words = ()
    none: Words = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Of all three lists."""
        return self.any + self.all + self.none


class Resolved(Struct, frozen=True):
    """A targeting whose days are moments: who joined at the first one or later, and before the second."""

    sources: Terms
    tags: Terms
    joined_from: datetime | None
    joined_until: datetime | None


class Targeting(Struct, frozen=True):
    """Everybody, or those whose sources and tags both match and who joined on these days."""

    sources: Terms = field(default_factory=Terms)
    tags: Terms = field(default_factory=Terms)
    joined_after: After = None
    joined_before: Before = None

    @property
    def everybody(self) -> bool:
        return self == Targeting()

    @property
    def word_count(self) -> int:
        """How many words its lists have."""
        return len(self.sources.words) + len(self.tags.words)

    def resolve(self, zone: str) -> Resolved:
        def begins(day: date | None) -> datetime | None:
            return zones.first_moment(day, zone) if day else None

        return Resolved(self.sources, self.tags, begins(self.joined_after), begins(self.joined_before))


class Segment(Struct, frozen=True):
    """A targeting with a name, to be used again. A campaign takes a copy of it."""

    id: str
    name: str
    targeting: Targeting
    created_at: datetime
    updated_at: datetime
    version: int = 1


def to_stored(targeting: Targeting) -> dict[str, Any]:
    """For a row: what asks nothing of days has none."""
    return {name: value for name, value in to_builtins(targeting).items() if value is not None}


def from_stored(stored: dict[str, Any]) -> Targeting:
    return convert(stored, Targeting)
